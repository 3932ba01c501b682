#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_t5.h"
#include "interop/model_source.h"
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
std::vector<std::string> t5_pieces_by_id(const std::vector<SpmPiece>& spm, int64_t sentinels, int64_t vocab_size,
                                         const std::string& file) {
  std::vector<std::string> pieces;
  for (const SpmPiece& piece : spm) {
    pieces.push_back(piece.text);
  }
  const auto own = static_cast<int64_t>(pieces.size());
  check_data(own <= vocab_size,
             "{}: has {} pieces, config.json has a vocab_size of {}; the files are of different models", file, own,
             vocab_size);
  const int64_t added = std::min(sentinels, vocab_size - own);  // mT5 has its sentinels in spiece.model
  for (int64_t sentinel = added - 1; sentinel >= 0; --sentinel) {
    pieces.push_back(fmt::format("<extra_id_{}>", sentinel));
  }
  while (static_cast<int64_t>(pieces.size()) < vocab_size) {
    pieces.push_back(fmt::format("<no_piece_{}>", pieces.size()));
  }
  return pieces;
}

void check_t5_special(const std::vector<SpmPiece>& pieces, int64_t id, const char* name, const std::string& file) {
  check_data(id < static_cast<int64_t>(pieces.size()) && pieces[static_cast<size_t>(id)].text == name,
             "{}: piece {} is not {}, as config.json says; the files are of different models", file, id, name);
}

PieceOrder read_t5_pieces(const fs::path& folder, const std::string& spm, const HfT5Config& config) {
  const std::string file = (folder / kT5VocabularyName).string();
  const std::vector<SpmPiece> pieces = spm_pieces(spm, file);
  check_t5_special(pieces, config.pad_id, "<pad>", file);
  check_t5_special(pieces, config.eos_id, "</s>", file);
  const auto unk = std::ranges::find(pieces, uint64_t{2}, &SpmPiece::type);
  check_data(unk != pieces.end(), "{}: has no piece for unknown text", file);
  return order_pieces(t5_pieces_by_id(pieces, count_sentinels(folder), config.model.source_vocab_size, file),
                      {config.pad_id, unk - pieces.begin(), config.start_id, config.eos_id});
}

std::string read_spiece(const fs::path& folder) {
  const fs::path file = folder / kT5VocabularyName;
  check_data(
      is_there(file),
      "{}: is missing; dragoman reads the SentencePiece model of a T5. It is a file of the folder that the model "
      "was trained with, such as google-t5/t5-small",
      file.string());
  return read_spm(file);
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
  const std::string spm = read_spiece(folder), spm_name = (folder / kT5VocabularyName).string();
  const PieceOrder order = read_t5_pieces(folder, spm, config);
  TensorSource source(folder);
  tensor::NamedTensors tensors = import_t5_tensors(source, config, order);  // says how words are tied
  return completed({.folder = folder,
                    .config_text = config_text,
                    .model = config.model,
                    .order = order,
                    .vocabularies = {{models::kJointVocabularyName, with_order(spm, order, spm_name)}},
                    .tensors = std::move(tensors),
                    .weights_file = source.file()});
}

}  // namespace dragoman::interop
