#include "interop/hf_bart.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/bart_tokenizer.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_languages.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using models::TransformerConfig;
using nlohmann::json;

constexpr const char* kBartFamily = "a BART";
constexpr const char* kBartVocabName = "vocab.json";
constexpr const char* kBartMergesName = "merges.txt";

// The text of tokenizer.json, if need be of the two files that older folders have.
std::string bart_tokenizer_text(const fs::path& folder) {
  if (is_there(folder / kHfTokenizerName)) {
    return base::read_file(folder / kHfTokenizerName, data::kMaxModelBytes);
  }
  check_data(is_there(folder / kBartVocabName) && is_there(folder / kBartMergesName),
             "{}: is missing, and so are {} and {}; dragoman reads one or the others",
             (folder / kHfTokenizerName).string(), kBartVocabName, kBartMergesName);
  try {
    return data::from_roberta_files(base::read_file(folder / kBartVocabName, data::kMaxModelBytes),
                                    base::read_file(folder / kBartMergesName, data::kMaxModelBytes))
        .bytes();
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", folder.string(), error.what());
  }
}

PieceOrder read_bart_pieces(const data::Vocabulary& theirs, const std::string& file, const BartConfig& config) {
  const int64_t vocab_size = config.model.source_vocab_size;
  check_data(theirs.size() == vocab_size,
             "{}: has {} pieces, config.json has a vocab_size of {}; the files are of different models", file,
             theirs.size(), vocab_size);
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < theirs.size(); ++id) {
    pieces.push_back(theirs.piece(id));
    check_data(pieces.back() != kBartStartPiece || id == config.special.start,
               "{}: has a piece {}, which dragoman adds itself", file, kBartStartPiece);
  }
  check_fairseq_pieces(pieces, file);
  check_data(theirs.frame().first == 0 && theirs.frame().last == kFairseqSpecial.eos,
             "{}: does not put <s> before a text and </s> behind it, as a BART does", file);
  return order_pieces(pieces, config.special);
}

}  // namespace

BartConfig bart_config_from_json(std::string_view text, const std::string& file_name) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  check_data(type == "bart", "{}: model_type is \"{}\", must be bart", file_name, type);
  BartConfig read;
  TransformerConfig& model = read.model;
  read_bart_sizes(fields, model);
  model.norm_order = nn::NormOrder::kPost;
  model.embedding_norm = true;
  read.special = read_fairseq_ids(fields, model.source_vocab_size, kBartFamily);
  fields.must_be("normalize_before", false);
  fields.must_be("normalize_embedding", true);
  fields.must_be("add_final_layer_norm", false);
  check_bart_config(fields, model);
  return read;
}

ImportedModel import_bart(const fs::path& folder) {
  HfEncoderDecoder read{.folder = folder, .config_text = read_json(folder, kHfConfigName)};
  const BartConfig config = bart_config_from_json(read.config_text, (folder / kHfConfigName).string());
  read.model = config.model;
  check_data(forced_token(folder) == 0,
             "{}: forced_bos_token_id of generation_config.json or config.json must be 0, with which a BART begins to "
             "write",
             folder.string());
  const std::string text = bart_tokenizer_text(folder), name = (folder / kHfTokenizerName).string();
  const auto theirs = data::Vocabulary::from_bytes(text, name);
  check_data(theirs.format() == data::Vocabulary::Format::kTokenizerJson, "{}: must be a JSON object", name);
  read.order = read_bart_pieces(theirs, name, config);
  const auto ours = data::Vocabulary::from_bytes(bart_tokenizer_for_import(text, read.order, name), name);
  read.vocabularies[models::kTokenizerName] =
      ours.with_special({.pad = data::kPadId, .unk = data::kUnkId, .bos = data::kBosId, .eos = {data::kEosId}}).bytes();
  TensorSource source(folder);
  read.tensors = read_bart_tensors(source, read.model, read.order, kBartFamily);
  read.weights_file = source.file();
  return completed(std::move(read));
}

}  // namespace dragoman::interop
