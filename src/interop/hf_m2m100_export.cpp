#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/spm_pieces.h"
#include "interop/bart_export.h"
#include "interop/hf_languages.h"
#include "interop/hf_m2m100.h"
#include "interop/hf_tokenizer.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using nlohmann::json;

constexpr BartLayout kM2m100 = {.program = "M2M-100",
                                .article = "an M2M-100",
                                .type = "m2m_100",
                                .class_name = "M2M100ForConditionalGeneration",
                                .norm_order = nn::NormOrder::kPre,
                                .embedding_norm = false,
                                .vocabulary = models::kJointVocabularyName,
                                .start = "<s>"};

// What the layout computes itself, and therefore cannot take from a model that was trained further.
void check_untrained_parts(const models::ModelFiles& model, const BartExport& checked) {
  const tensor::Tensor table = fairseq_positions(checked.config.max_positions, checked.config.d_model);
  for (const char* name : {"encoder.embedding.positions", "decoder.embedding.positions"}) {
    const tensor::HostView<float> seen(model.tensors.at(name)), theirs(table);
    check_data(
        std::ranges::equal(seen.span(), theirs.span()),
        "{}: {} are not those of fairseq, M2M-100 has these only; the model cannot be exported. Were the positions "
        "trained?",
        checked.weights_name, name);
  }
  check_data(checked.starts_with_end(),
             "{}: embedding.weight has other rows for <s> and </s>, with which the decoder of an M2M-100 begins; the "
             "model cannot be exported. Was it trained further?",
             checked.weights_name);
  const auto bias = model.tensors.find("output.bias");
  if (bias == model.tensors.end()) {
    return;
  }
  const tensor::HostView<float> values(bias->second);
  for (size_t id = 0; id < values.size(); ++id) {
    check_data(values[id] == 0.0F || id == data::kBosId,
               "{}: output.bias[{}] is {}, M2M-100 has no output bias; the model cannot be exported",
               checked.weights_name, id, values[id]);
  }
}

// The pieces before the languages, by id.
std::vector<std::string> pieces_before(const BartExport& checked, int64_t end) {
  std::vector<std::string> pieces;
  for (int64_t id = 0; id < end; ++id) {
    pieces.push_back(checked.vocabulary.piece(static_cast<int32_t>(checked.ours[static_cast<size_t>(id)])));
  }
  return pieces;
}

// fr is __fr__ in an M2M-100, fra_Latn stays in an NLLB-200.
bool has_scripts(const std::vector<std::string>& own) {
  return std::ranges::all_of(own, [](const std::string& code) { return code.find('_') != std::string::npos; });
}

std::string pieces_json(const std::vector<std::string>& pieces) {
  json tree = json::object();
  for (size_t id = 0; id < pieces.size(); ++id) {
    tree[pieces[id]] = id;
  }
  return base::dump_json(tree) + "\n";
}

}  // namespace

ExportedModel export_m2m100(const models::ModelFiles& model, const std::filesystem::path& folder,
                            const ExportedSearch& search) {
  const BartExport checked = checked_bart(model, folder, kM2m100);
  check_untrained_parts(model, checked);
  ExportedLanguages languages = languages_of_pieces(checked, kM2m100);
  const std::vector<std::string> pieces = pieces_before(checked, languages.first_id);
  const std::string spm = data::without_piece_list(checked.vocabulary.bytes(), checked.vocabulary_name);
  const bool is_nllb = has_scripts(languages.own);
  if (!is_nllb) {
    std::ranges::for_each(languages.own, [](std::string& code) { code = "__" + code + "__"; });
  }
  ExportedModel exported;
  exported.tensors = family_tensors_of(model, checked);
  exported.texts = {{kHfConfigName, base::dump_json(bart_config_tree(checked, kM2m100), 2) + "\n"},
                    {kHfGenerationName, base::dump_json(bart_generation_tree(checked, search), 2) + "\n"},
                    {kHfTokenizerConfigName, languages_tokenizer_config(is_nllb ? "NllbTokenizer" : "M2M100Tokenizer",
                                                                        languages.own, checked.config.max_positions)},
                    {kLanguagesSpmName, spm}};
  if (!is_nllb || pieces != fairseq_pieces(data::spm_pieces(spm, checked.vocabulary_name))) {
    exported.texts[kLanguagesPiecesName] = pieces_json(pieces);
  }
  add_search_note(search, exported);
  return exported;
}

}  // namespace dragoman::interop
