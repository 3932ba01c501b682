#include "interop/hf_bart.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/vocabulary.h"
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
constexpr const char* kBartStartPiece = "<start>";  // our <s>, a second id of </s>; <s> itself is another piece

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

// Numbers, and gives each of theirs the place that it has here.
class Renumbering {
 public:
  explicit Renumbering(const PieceOrder& order) : ours_(order.theirs.size(), 0) {
    for (size_t id = 0; id < order.theirs.size(); ++id) {
      if (id != data::kBosId) {
        ours_.at(static_cast<size_t>(order.theirs[id])) = static_cast<int64_t>(id);
      }
    }
  }
  void change(json& id) const { id = ours_.at(id.get<size_t>()); }

 private:
  std::vector<int64_t> ours_;
};

void renumber_frame(const Renumbering& ids, json& processor) {
  if (processor.contains("processors")) {
    for (json& part : processor["processors"]) {
      renumber_frame(ids, part);
    }
  }
  for (const char* key : {"sep", "cls"}) {
    if (processor.contains(key)) {
      ids.change(processor[key][1]);
    }
  }
  if (processor.contains("special_tokens")) {
    for (auto& [piece, token] : processor["special_tokens"].items()) {
      for (json& id : token["ids"]) {
        ids.change(id);
      }
    }
  }
}

// Requires: `text` has been read as a vocabulary, so that all that is touched here is well-formed.
std::string renumbered(const std::string& text, const PieceOrder& order, const std::string& file) {
  json tree = base::parse_json(text, file, {.max_bytes = data::kMaxModelBytes});
  const Renumbering ids(order);
  for (auto& [piece, id] : tree["model"]["vocab"].items()) {
    ids.change(id);
  }
  tree["model"]["vocab"][kBartStartPiece] = data::kBosId;
  for (json& token : tree["added_tokens"]) {
    ids.change(token["id"]);
  }
  tree["added_tokens"].push_back({{"id", data::kBosId},
                                  {"content", kBartStartPiece},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
  if (tree.contains("post_processor") && tree["post_processor"].is_object()) {
    renumber_frame(ids, tree["post_processor"]);
  }
  return base::dump_json(tree);
}

PieceOrder read_bart_pieces(const data::Vocabulary& theirs, const std::string& file, int64_t vocab_size) {
  check_data(theirs.size() == vocab_size,
             "{}: has {} pieces, config.json has a vocab_size of {}; the files are of different models", file,
             theirs.size(), vocab_size);
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < theirs.size(); ++id) {
    pieces.push_back(theirs.piece(id));
    check_data(pieces.back() != kBartStartPiece, "{}: has a piece {}, which dragoman adds itself", file,
               kBartStartPiece);
  }
  check_fairseq_pieces(pieces, file);
  check_data(theirs.frame().first == 0 && theirs.frame().last == kFairseqSpecial.eos,
             "{}: does not put <s> before a text and </s> behind it, as a BART does", file);
  return order_pieces(pieces, kFairseqSpecial);
}

}  // namespace

TransformerConfig bart_config_from_json(std::string_view text, const std::string& file_name) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  check_data(type == "bart", "{}: model_type is \"{}\", must be bart", file_name, type);
  TransformerConfig model;
  read_bart_sizes(fields, model);
  model.norm_order = nn::NormOrder::kPost;
  model.embedding_norm = true;
  check_fairseq_ids(fields, kBartFamily);
  fields.must_be("normalize_before", false);
  fields.must_be("normalize_embedding", true);
  fields.must_be("add_final_layer_norm", false);
  check_bart_config(fields, model);
  return model;
}

ImportedModel import_bart(const fs::path& folder) {
  HfEncoderDecoder read{.folder = folder, .config_text = read_json(folder, kHfConfigName)};
  read.model = bart_config_from_json(read.config_text, (folder / kHfConfigName).string());
  check_data(forced_token(folder) == 0,
             "{}: forced_bos_token_id of generation_config.json or config.json must be 0, with which a BART begins to "
             "write",
             folder.string());
  const std::string text = bart_tokenizer_text(folder), name = (folder / kHfTokenizerName).string();
  const auto theirs = data::Vocabulary::from_bytes(text, name);
  check_data(theirs.format() == data::Vocabulary::Format::kTokenizerJson, "{}: must be a JSON object", name);
  read.order = read_bart_pieces(theirs, name, read.model.source_vocab_size);
  const auto ours = data::Vocabulary::from_bytes(renumbered(text, read.order, name), name);
  read.vocabularies[models::kTokenizerName] =
      ours.with_special({.pad = data::kPadId, .unk = data::kUnkId, .bos = data::kBosId, .eos = {data::kEosId}}).bytes();
  TensorSource source(folder);
  read.tensors = read_bart_tensors(source, read.model, read.order, kBartFamily);
  read.weights_file = source.file();
  return completed(std::move(read));
}

}  // namespace dragoman::interop
