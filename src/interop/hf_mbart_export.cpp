#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "interop/bart_export.h"
#include "interop/hf_languages.h"
#include "interop/hf_mbart.h"
#include "interop/hf_tokenizer.h"
#include "models/languages.h"

namespace dragoman::interop {
namespace {

using nlohmann::json;

constexpr BartLayout kMbart = {.program = "mBART-50",
                               .article = "an mBART-50",
                               .type = "mbart",
                               .class_name = "MBartForConditionalGeneration",
                               .norm_order = nn::NormOrder::kPre,
                               .embedding_norm = true,
                               .vocabulary = models::kJointVocabularyName,
                               .start = "<s>"};

// The token that all translations begin with, if the model writes one language alone; null otherwise.
json only_target(const models::ModelFiles& model, const ExportedLanguages& languages, const std::string& file) {
  if (model.languages.empty()) {
    return nullptr;
  }
  const models::ModelLanguages known = models::languages_from_json(model.languages, file);
  if (known.targets.size() != 1) {
    return nullptr;
  }
  const auto found = std::ranges::find(languages.own, known.targets.front().own);
  base::check_data(found != languages.own.end(),
                   "{}: target {} is no language of the vocabulary; correct the file, or remove it", file,
                   base::dump_json(json(known.targets.front().own)));
  return languages.first_id + (found - languages.own.begin());
}

}  // namespace

ExportedModel export_mbart(const models::ModelFiles& model, const std::filesystem::path& folder,
                           const ExportedSearch& search) {
  const BartExport checked = checked_bart(model, folder, kMbart);
  const ExportedLanguages languages = languages_of_pieces(checked, kMbart);
  json config = bart_config_tree(checked, kMbart), generation = bart_generation_tree(checked, search);
  config["normalize_before"] = config["normalize_embedding"] = config["add_final_layer_norm"] = true;
  const json target = only_target(model, languages, (folder / models::kLanguagesName).string());
  if (!target.is_null()) {
    generation["forced_bos_token_id"] = target;
  }
  ExportedModel exported;
  exported.tensors = bart_tensors_of(model, checked);
  exported.texts = {{kHfConfigName, base::dump_json(config, 2) + "\n"},
                    {kHfGenerationName, base::dump_json(generation, 2) + "\n"},
                    {kHfTokenizerConfigName,
                     languages_tokenizer_config("MBart50Tokenizer", languages.own, checked.config.max_positions)},
                    {kLanguagesSpmName, data::without_piece_list(checked.vocabulary.bytes(), checked.vocabulary_name)}};
  add_search_note(search, exported);
  return exported;
}

}  // namespace dragoman::interop
