#include "serving/inspect/inspect_reply.h"

#include "base/field_json.h"
#include "base/json.h"
#include "models/transformer/transformer_config.h"
#include "serving/inspect/inspect_parts.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

// Sizes in the letters of docs/notation.md; the page draws by them. Of another architecture: what config.json says.
json model_json(const models::Model& model) {
  const auto* shape = model.config().get_if<models::TransformerConfig>();
  if (shape == nullptr) {
    return json::parse(model.config().to_json());
  }
  const models::TransformerConfig& config = *shape;
  const nn::LayerConfig decoder = config.decoder_layer();
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["decoder_d_ff"] = decoder.d_ff;
  tree["decoder_n_heads"] = decoder.n_heads;
  tree["layer_norm_epsilon"] = rounded(config.layer_norm_epsilon);
  const nn::WeightPacking* packing = model.parameters().packing();
  tree["precision"] = kernels::name_of(packing == nullptr ? kernels::Precision::kFloat32 : packing->precision());
  return tree;
}

}  // namespace

std::string inspect_reply(const decoding::Translator& translator, const InspectBody& body,
                          const InspectReplyLimits& limits) {
  const decoding::Inspection inspection(translator, body.inspection, limits.sentence);
  NumberWriter numbers(limits.max_numbers);
  const InspectContext context{inspection, body.inspection, limits.sentence, numbers};
  json parts = json::array();
  for (const InspectPart& part : body.parts) {
    body.inspection.check_goes_on();
    parts.push_back(inspect_part(part, context));
  }
  const data::Vocabulary& target = translator.target_vocabulary();
  return base::dump_json({{"model", model_json(translator.model())},
                          {"source",
                           {{"text", body.inspection.text},
                            {"ids", inspection.source()},
                            {"pieces", translator.source_vocabulary().pieces(inspection.source())}}},
                          {"target",
                           {{"text", inspection.translation()},
                            {"ids", inspection.predicted()},
                            {"pieces", target.pieces(inspection.predicted())},
                            {"input_ids", inspection.input()},
                            {"input_pieces", target.pieces(inspection.input())}}},
                          {"parts", std::move(parts)}});
}

}  // namespace dragoman::serving
