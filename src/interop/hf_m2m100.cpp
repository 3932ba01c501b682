#include "interop/hf_m2m100.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "interop/hf_encoder_decoder.h"
#include "interop/hf_languages.h"
#include "models/languages.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

using models::TransformerConfig;

tensor::NamedTensors read_m2m100_tensors(TensorSource& source, const TransformerConfig& model,
                                         const PieceOrder& order) {
  tensor::NamedTensors tensors = read_family_tensors(source, model, order, {});
  for (const std::string stack : {"encoder", "decoder"}) {
    source.skip("model." + stack + ".embed_positions.weights");  // of older files, computed here
    tensors[stack + ".embedding.positions"] = fairseq_positions(model.max_positions, model.d_model);
  }
  source.check_all_used("an M2M-100");
  return tensors;
}

}  // namespace

tensor::Tensor fairseq_positions(int64_t positions, int64_t d_model) {
  constexpr int64_t kFirst = 2;
  const int64_t half = d_model / 2;
  tensor::Tensor table = tensor::Tensor::zeros({positions, d_model});
  tensor::HostEdit<float> edit(table);
  const double step = std::log(10'000.0) / static_cast<double>(half - 1);
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const auto frequency = static_cast<float>(std::exp(-step * static_cast<double>(i)));
      const float angle = static_cast<float>(position + kFirst) * frequency;
      edit.span()[static_cast<size_t>(position * d_model + i)] = std::sin(angle);
      edit.span()[static_cast<size_t>(position * d_model + half + i)] = std::cos(angle);
    }
  }
  return table;
}

BartConfig m2m100_config_from_json(std::string_view text, const std::string& file_name) {
  const nlohmann::json tree = base::parse_json(text, file_name);
  HfFields fields(tree, file_name);
  const std::string type = fields.text("model_type", "");
  base::check_data(type == "m2m_100", "{}: model_type is \"{}\", must be m2m_100", file_name, type);
  BartConfig read;
  TransformerConfig& model = read.model;
  read_bart_sizes(fields, model, {.activation = "relu", .scale_embedding = true});
  model.norm_order = nn::NormOrder::kPre;
  read.special = read_fairseq_ids(fields, model.source_vocab_size, "an M2M-100");
  check_bart_config(fields, model);
  return read;
}

ImportedModel import_m2m100(const std::filesystem::path& folder) {
  HfEncoderDecoder read{.folder = folder, .config_text = read_json(folder, kHfConfigName)};
  const BartConfig config = m2m100_config_from_json(read.config_text, (folder / kHfConfigName).string());
  read.model = config.model;
  const std::string spm = read_spm(folder / kLanguagesSpmName);
  const std::vector<std::string> languages = read_languages(folder);
  read.order = read_pieces_with_languages(folder, spm, languages, read.model.source_vocab_size, config.special);
  read.vocabularies[models::kJointVocabularyName] = with_order(spm, read.order, (folder / kLanguagesSpmName).string());
  TensorSource source(folder);
  read.tensors = read_m2m100_tensors(source, read.model, read.order);
  read.weights_file = source.file();
  read.languages = models::languages_json(models::languages_between(languages));
  return completed(std::move(read));
}

}  // namespace dragoman::interop
