#include <nlohmann/json.hpp>

#include "base/json.h"
#include "data/masked_examples.h"
#include "interop/bart_export.h"
#include "interop/bart_tokenizer.h"
#include "interop/hf_bart.h"
#include "interop/hf_tokenizer.h"

namespace dragoman::interop {
namespace {

using nlohmann::json;

constexpr BartLayout kBart = {.program = "BART",
                              .article = "a BART",
                              .type = "bart",
                              .class_name = "BartForConditionalGeneration",
                              .norm_order = nn::NormOrder::kPost,
                              .embedding_norm = true,
                              .vocabulary = models::kTokenizerName,
                              .start = kBartStartPiece};

// AutoTokenizer then loads tokenizer.json as it is.
std::string bart_tokenizer_config(const BartExport& checked) {
  json tree = json::parse(hf_tokenizer_config_json(checked.vocabulary, checked.config.max_positions, ""));
  tree["bos_token"] = tree["cls_token"] = "<s>";
  tree["sep_token"] = "</s>";
  if (const int32_t mask = data::mask_id(checked.vocabulary); mask >= 0) {
    tree["mask_token"] = checked.vocabulary.piece(mask);
  }
  tree["model_input_names"] = {"input_ids", "attention_mask"};
  return base::dump_json(tree, 2) + "\n";
}

}  // namespace

ExportedModel export_bart(const models::ModelFiles& model, const std::filesystem::path& folder,
                          const ExportedSearch& search) {
  const BartExport checked = checked_bart(model, folder, kBart);
  json config = bart_config_tree(checked, kBart), generation = bart_generation_tree(checked, search);
  config["normalize_before"] = config["add_final_layer_norm"] = false;
  config["normalize_embedding"] = true;
  config["forced_bos_token_id"] = generation["forced_bos_token_id"] = 0;
  ExportedModel exported;
  exported.tensors = bart_tensors_of(model, checked);
  exported.texts = {
      {kHfConfigName, base::dump_json(config, 2) + "\n"},
      {kHfGenerationName, base::dump_json(generation, 2) + "\n"},
      {kHfTokenizerName, bart_tokenizer_for_export(checked.vocabulary.bytes(), checked.ours, checked.vocabulary_name)},
      {kHfTokenizerConfigName, bart_tokenizer_config(checked)}};
  add_search_note(search, exported);
  return exported;
}

}  // namespace dragoman::interop
