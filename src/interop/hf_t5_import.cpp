

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/spm_pieces.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_t5.h"
#include "interop/model_source.h"
#include "interop/unigram_tokenizer.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using tensor::Tensor;

constexpr int64_t kSentinels = 100;

// Sentinels that the tokenizer adds to the pieces of spiece.model; a folder may say another number.
int64_t count_sentinels(const fs::path& folder) {
  if (!is_there(folder / kHfTokenizerConfigName)) {
    return kSentinels;
  }
  const std::string name = (folder / kHfTokenizerConfigName).string();
  const nlohmann::json tree = base::parse_json(read_json(folder, kHfTokenizerConfigName), name);
  const base::JsonFields fields(tree, name);
  return fields.has("extra_ids") ? fields.integer("extra_ids", 0, 100'000) : kSentinels;
}

// The pieces of spiece.model, the sentinels from the last to the first, and rows that no piece has.
std::vector<std::string> t5_pieces_by_id(const std::vector<data::SpmPiece>& spm, int64_t sentinels, int64_t vocab_size,
                                         const std::string& file) {
  std::vector<std::string> pieces;
  for (const data::SpmPiece& piece : spm) {
    pieces.push_back(piece.text);
  }
  const auto own = static_cast<int64_t>(pieces.size());
  check_data(own <= vocab_size,
             "{}: has {} pieces, config.json has a vocab_size of {}; the files are of different models", file, own,
             vocab_size);
  const int64_t added = std::min(sentinels, vocab_size - own);  // mT5 has its sentinels in spiece.model
  for (int64_t sentinel = added - 1; sentinel >= 0; --sentinel) {
    pieces.push_back(data::sentinel_piece(sentinel));
  }
  while (static_cast<int64_t>(pieces.size()) < vocab_size) {
    pieces.push_back(no_piece(pieces.size()));
  }
  return pieces;
}

void check_t5_special(const std::vector<data::SpmPiece>& pieces, int64_t id, const char* name,
                      const std::string& file) {
  check_data(id < static_cast<int64_t>(pieces.size()) && pieces[static_cast<size_t>(id)].text == name,
             "{}: piece {} is not {}, as config.json says; the files are of different models", file, id, name);
}

// The pieces of a T5: those of spiece.model, or those of tokenizer.json in a folder that has this file alone.
struct T5Pieces {
  std::string spm;
  std::string file;  // for errors
  int64_t sentinels = 0;
  std::vector<std::string> notes;
};

T5Pieces read_t5_pieces(const fs::path& folder) {
  if (is_there(folder / kT5VocabularyName)) {
    return {read_spm(folder / kT5VocabularyName), (folder / kT5VocabularyName).string(), count_sentinels(folder), {}};
  }
  const std::string file = (folder / kHfTokenizerName).string();
  check_data(is_there(folder / kHfTokenizerName),
             "{}: is missing, and so is {}; dragoman reads the pieces of a T5 from one of them. {} is a file of the "
             "folder that the model was trained with, such as google-t5/t5-small",
             (folder / kT5VocabularyName).string(), kHfTokenizerName, kT5VocabularyName);
  UnigramModel model = unigram_of_tokenizer_json(base::read_file(file, data::kMaxModelBytes), file);
  return {std::move(model.spm), file, model.sentinels, std::move(model.notes)};
}

PieceOrder order_t5_pieces(const T5Pieces& read, const HfT5Config& config) {
  const std::vector<data::SpmPiece> pieces = data::spm_pieces(read.spm, read.file);
  check_t5_special(pieces, config.pad_id, "<pad>", read.file);
  check_t5_special(pieces, config.eos_id, "</s>", read.file);
  const auto unk = std::ranges::find(pieces, uint64_t{data::SpmPiece::kUnknown}, &data::SpmPiece::type);
  check_data(unk != pieces.end(), "{}: has no piece for unknown text", read.file);
  return order_pieces(t5_pieces_by_id(pieces, read.sentinels, config.model.source_vocab_size, read.file),
                      {config.pad_id, unk - pieces.begin(), config.start_id, config.eos_id});
}

// The output weight; undefined if the words have one table.
Tensor read_t5_head(TensorSource& source, const Tensor& table, const tensor::Shape& shape) {
  constexpr const char* kHead = "lm_head.weight";
  if (!source.has(kHead)) {
    return {};
  }
  const Tensor head = source.get(kHead, shape);
  const tensor::HostView<float> seen(head), shared(table);
  return std::ranges::equal(seen.span(), shared.span()) ? Tensor() : head;
}

tensor::NamedTensors import_t5_tensors(TensorSource& source, HfT5Config& config, const PieceOrder& order) {
  const tensor::Shape shape{config.model.source_vocab_size, config.model.d_model};
  const Tensor table =
      source.get_shared({"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}, shape);
  const Tensor head = read_t5_head(source, table, shape);
  tensor::NamedTensors tensors = import_pairs(source, hf_t5_tensors(config.model));
  tensors["embedding.weight"] = rows_in_order(table, order);
  if (head.defined()) {
    tensors["output.weight"] = rows_in_order(head, order);
  }
  config.model.tying = head.defined() ? models::Tying::kEmbeddings : models::Tying::kAll;
  tensors["output.bias"] = bias_in_order({}, order);
  source.skip("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");  // of older files, unused
  source.check_all_used("a T5");
  return tensors;
}

}  // namespace

ImportedModel import_t5(const fs::path& folder) {
  const std::string config_text = read_json(folder, kHfConfigName), config_name = (folder / kHfConfigName).string();
  HfT5Config config = t5_config_from_json(config_text, config_name);
  T5Pieces pieces = read_t5_pieces(folder);
  const PieceOrder order = order_t5_pieces(pieces, config);
  TensorSource source(folder);
  tensor::NamedTensors tensors = import_t5_tensors(source, config, order);  // says how words are tied
  ImportedModel imported =
      completed({.folder = folder,
                 .config_text = config_text,
                 .model = config.model,
                 .order = order,
                 .vocabularies = {{models::kJointVocabularyName, with_order(pieces.spm, order, pieces.file)}},
                 .tensors = std::move(tensors),
                 .weights_file = source.file()});
  imported.notes = std::move(pieces.notes);
  return imported;
}

}  // namespace dragoman::interop
