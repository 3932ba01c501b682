#include "serving/inspect/inspect_reply.h"

#include "base/field_json.h"
#include "base/json.h"
#include "data/vocabulary/shown_pieces.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "models/transformer/transformer_config.h"
#include "serving/inspect/inspect_parts.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

json shape_json(const models::TransformerConfig& config) {
  const nn::LayerConfig decoder = config.decoder_layer();
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["decoder_d_ff"] = decoder.d_ff;
  tree["decoder_n_heads"] = decoder.n_heads;
  tree["d_head"] = decoder.head_width();
  tree["d_key"] = decoder.key_width();
  return tree;
}

// The same names for a decoder alone: a decoder without an encoder.
json shape_json(const models::DecoderOnlyConfig& config) {
  const nn::LayerConfig layer = config.layer_config();
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["encoder_layers"] = 0;
  tree["decoder_layers"] = config.layers;
  tree["decoder_d_ff"] = config.d_ff;
  tree["decoder_n_heads"] = config.n_heads;
  tree["d_head"] = layer.head_width();
  tree["d_key"] = layer.key_width();
  tree["n_kv_heads"] = layer.kv_heads();
  tree["source_vocab_size"] = config.vocab_size;
  tree["target_vocab_size"] = config.vocab_size;
  tree["tying"] = config.tied_output ? "all" : "none";
  tree["output_bias"] = false;
  return tree;
}

// The same names for an encoder alone.
json shape_json(const models::EncoderOnlyConfig& config) {
  const nn::LayerConfig layer = config.layer_config();
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["encoder_layers"] = config.layers;
  tree["decoder_layers"] = 0;
  tree["d_head"] = layer.head_width();
  tree["d_key"] = layer.key_width();
  tree["n_kv_heads"] = layer.kv_heads();
  tree["source_vocab_size"] = config.vocab_size;
  tree["target_vocab_size"] = 0;
  return tree;
}

// The same names for a recurrent model: it attends to the source with one head, or not at all.
json shape_json(const models::RecurrentConfig& config) {
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["encoder_layers"] = config.layers;
  tree["decoder_layers"] = config.layers;
  tree["d_context"] = config.d_context();
  tree["d_key"] = config.d_key();
  tree["n_heads"] = 1;
  tree["decoder_n_heads"] = 1;
  return tree;
}

// The same names for a convolutional model: each decoder layer attends to the source with one head.
json shape_json(const models::ConvolutionalConfig& config) {
  json tree = base::json_of_fields(config, [](const auto& field) { return !models::is_dropout(field.name); });
  tree["n_heads"] = 1;
  tree["decoder_n_heads"] = 1;
  return tree;
}

// What every model has beside its shape.
json with_common(json tree, const models::Model& model) {
  tree["architecture"] = model.config().architecture();
  const nn::WeightPacking* packing = model.parameters().packing();
  tree["precision"] = kernels::name_of(packing == nullptr ? kernels::Precision::kFloat32 : packing->precision());
  return tree;
}

template <typename Config>
json with_norms(const Config& config) {
  json tree = shape_json(config);
  tree["layer_norm_epsilon"] = rounded(config.layer_norm_epsilon);
  return tree;
}

// Sizes in the letters of docs/notation.md; the page draws by them. Of another architecture: what config.json says.
json model_json(const models::Model& model) {
  const models::ModelConfig& config = model.config();
  if (const auto* both = config.get_if<models::TransformerConfig>()) {
    return with_common(with_norms(*both), model);
  }
  if (const auto* alone = config.get_if<models::DecoderOnlyConfig>()) {
    return with_common(with_norms(*alone), model);
  }
  if (const auto* encoder = config.get_if<models::EncoderOnlyConfig>()) {
    return with_common(with_norms(*encoder), model);
  }
  if (const auto* recurrent = config.get_if<models::RecurrentConfig>()) {
    return with_common(shape_json(*recurrent), model);
  }
  if (const auto* convolutional = config.get_if<models::ConvolutionalConfig>()) {
    return with_common(shape_json(*convolutional), model);
  }
  return json::parse(config.to_json());
}

json text_json(const std::string& text, const std::vector<int32_t>& ids, const data::Vocabulary& vocabulary) {
  return {{"text", text}, {"ids", ids}, {"pieces", data::shown_pieces(vocabulary, ids)}};
}

std::string reply(const decoding::Inspection& inspection, const decoding::Translator* translator,
                  const data::Vocabulary& source, const InspectBody& body, const InspectReplyLimits& limits) {
  NumberWriter numbers(limits.max_numbers);
  const InspectContext context{inspection, translator, body.inspection, limits.sentence, numbers};
  json parts = json::array();
  for (const InspectPart& part : body.parts) {
    body.inspection.check_goes_on();
    parts.push_back(inspect_part(part, context));
  }
  json target = text_json(inspection.written(), inspection.predicted(), inspection.vocabulary());
  target["input_ids"] = inspection.input();
  target["input_pieces"] = data::shown_pieces(inspection.vocabulary(), inspection.input());
  return base::dump_json({{"model", model_json(inspection.model())},
                          {"source", text_json(body.inspection.text, inspection.source(), source)},
                          {"target", std::move(target)},
                          {"parts", std::move(parts)}});
}

}  // namespace

std::string inspect_reply(const decoding::Translator& translator, const InspectBody& body,
                          const InspectReplyLimits& limits) {
  const decoding::Inspection inspection(translator, body.inspection, limits.sentence);
  return reply(inspection, &translator, translator.source_vocabulary(), body, limits);
}

std::string inspect_reply(const decoding::Generator& generator, const InspectBody& body,
                          const InspectReplyLimits& limits) {
  const decoding::Inspection inspection(generator, body.inspection, limits.sentence);
  return reply(inspection, nullptr, generator.vocabulary(), body, limits);
}

std::string inspect_reply(const decoding::TextLabeler& encoder, const InspectBody& body,
                          const InspectReplyLimits& limits) {
  const decoding::Inspection inspection(encoder, body.inspection, limits.sentence);
  return reply(inspection, nullptr, encoder.vocabulary(), body, limits);
}

}  // namespace dragoman::serving
