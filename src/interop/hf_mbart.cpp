#include "interop/hf_mbart.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_languages.h"
#include "models/languages.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using models::TransformerConfig;
using nlohmann::json;

constexpr const char* kMbartFamily = "an mBART-50";
constexpr const char* kStartKey = "decoder_start_token_id";

models::ModelLanguages languages_of_folder(const fs::path& folder, const std::vector<std::string>& own,
                                           const PieceOrder& order) {
  models::ModelLanguages languages = models::languages_between(own);
  if (const std::optional<int64_t> id = forced_token(folder)) {
    const auto place = std::ranges::find(order.theirs, *id);
    const std::string piece =
        place == order.theirs.end() ? "" : order.pieces[static_cast<size_t>(place - order.theirs.begin())];
    std::erase_if(languages.targets, [&](const auto& target) { return data::language_piece(target.own) != piece; });
    base::check_data(!languages.targets.empty(), "{}: forced_bos_token_id is {}, which is no language of the model",
                     folder.string(), *id);
  }
  return languages;
}

}  // namespace

BartConfig mbart_config_from_json(std::string_view text, const std::string& file_name) {
  const json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  base::check_data(type == "mbart", "{}: model_type is \"{}\", must be mbart", file_name, type);
  BartConfig read;
  TransformerConfig& model = read.model;
  read_bart_sizes(fields, model);
  model.norm_order = nn::NormOrder::kPre;
  model.embedding_norm = true;
  base::check_data(fields.has(kStartKey),
                   "{}: {} is missing, as in an mBART of 25 languages, whose codes stand behind the text; dragoman "
                   "imports mBART-50",
                   file_name, kStartKey);
  read.special = read_fairseq_ids(fields, model.source_vocab_size, kMbartFamily);
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    fields.must_be(key, true);
  }
  check_bart_config(fields, model);
  return read;
}

ImportedModel import_mbart(const fs::path& folder) {
  HfEncoderDecoder read{.folder = folder, .config_text = read_json(folder, kHfConfigName)};
  const BartConfig config = mbart_config_from_json(read.config_text, (folder / kHfConfigName).string());
  read.model = config.model;
  const fs::path spm_name = folder / kLanguagesSpmName;
  const std::string spm = read_spm(spm_name);
  const std::vector<std::string> languages = read_languages(folder);
  read.order = read_pieces_with_languages(folder, spm, languages, read.model.source_vocab_size, config.special);
  read.vocabularies[models::kJointVocabularyName] = with_order(spm, read.order, spm_name.string());
  TensorSource source(folder);
  read.tensors = read_bart_tensors(source, read.model, read.order, kMbartFamily);
  read.weights_file = source.file();
  read.languages = models::languages_json(languages_of_folder(folder, languages, read.order));
  return completed(std::move(read));
}

}  // namespace dragoman::interop
