#include "decoding/text_encoder.h"

#include <algorithm>

#include "base/error.h"
#include "data/encoder_input.h"
#include "decoding/in_groups.h"
#include "decoding/load_model.h"
#include "decoding/text_batches.h"
#include "models/model_device.h"
#include "ops/text_vectors.h"
#include "tensor/device_scope.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using models::EncoderOnly;

// The windows of some texts, and their vectors.
struct WindowVectors {
  std::vector<data::EncoderInput> inputs;  // [W]
  std::vector<int32_t> texts = {0};        // [B + 1] which windows belong to which text
  std::vector<float> values;               // [W, D]
  int64_t width = 0;
};

// The vectors of inputs in float32, on the host, not divided by their lengths.
autograd::Variable vectors_of(const EncoderOnly& model, EncoderBatch batch) {
  models::FlatIds flat;
  for (const data::EncoderInput* input : batch) {
    flat.append(input->ids);
    flat.end_sentence();
  }
  const models::TokenRows rows = models::make_token_rows(flat);
  const models::Pooling pooling = model.encoder_config().pooling;
  autograd::Variable hidden = model.encode(rows, {});  // [N, D]
  if (pooling == models::Pooling::kPooler) {
    hidden = model.pooled(hidden, rows);  // [B, D]
  }
  const tensor::HostScope on_host;  // not all devices have the kernels
  hidden = autograd::Variable(tensor::to_host(hidden.value()));
  return pooling == models::Pooling::kPooler ? hidden : model.text_vectors(hidden, rows, pooling);  // [B, D]
}

void put_vectors(const EncoderOnly& model, const TextBatch& batch, WindowVectors& windows) {
  const autograd::NoGrad inference;
  const autograd::Variable of_batch = vectors_of(model, batch_of(windows.inputs, batch));
  const tensor::HostRows<float> vectors(of_batch.value());  // [B, D]
  for (size_t i = 0; i < batch.size(); ++i) {
    std::ranges::copy(vectors[i], windows.values.begin() + static_cast<std::ptrdiff_t>(batch[i]) * windows.width);
  }
}

// The mean of the windows of each text, divided by its length if asked for.
std::vector<float> vectors_of_texts(const WindowVectors& windows, bool unit_length) {
  const autograd::NoGrad inference;
  const tensor::HostScope on_host;
  const auto count = static_cast<int64_t>(windows.inputs.size());
  autograd::Variable vectors(tensor::Tensor::from(windows.values, {count, windows.width}));  // [W, D]
  vectors = ops::mean_of_texts(vectors, tensor::host_tensor(windows.texts));                 // [B, D]
  return (unit_length ? ops::unit_rows(vectors) : vectors).value().to_vector<float>();
}

}  // namespace

void embed_batch(const EncoderOnly& model, EncoderBatch batch, const UseEncoded& use) {
  const autograd::NoGrad inference;
  autograd::Variable vectors = vectors_of(model, batch);  // [B, D]
  const tensor::HostScope on_host;
  vectors = model.encoder_config().unit_length ? ops::unit_rows(vectors) : vectors;
  const tensor::HostRows<float> values(vectors.value());
  for (size_t i = 0; i < batch.size(); ++i) {
    use(i, values[i]);
  }
}

TextEncoder::TextEncoder(std::shared_ptr<const EncoderOnly> model, data::Vocabulary vocabulary)
    : model_(std::move(model)), vocabulary_(std::move(vocabulary)) {}

Embeddings TextEncoder::embed(std::span<const std::string> texts, const EncodeOptions& options) const {
  base::check_fields(options);
  Embeddings embeddings;
  embeddings.width = model_->encoder_config().d_model;
  WindowVectors windows{.inputs = {}, .values = {}, .width = embeddings.width};
  std::vector<size_t> lengths;
  for (const std::string& text : texts) {
    for (data::EncoderInput& input : data::encoder_windows(vocabulary_, {text, std::nullopt},
                                                           model_->encoder_config().max_positions, options.stride)) {
      base::check_data(!input.ids.empty(), "embed: text {} is empty, and the tokenizer puts nothing around it",
                       windows.texts.size());
      embeddings.cut += input.is_cut ? 1 : 0;
      lengths.push_back(input.ids.size());
      windows.inputs.push_back(std::move(input));
    }
    windows.texts.push_back(static_cast<int32_t>(windows.inputs.size()));
  }
  windows.values.resize(windows.inputs.size() * static_cast<size_t>(windows.width));
  const tensor::DeviceScope device(models::device_of(*model_));
  const std::vector<TextBatch> batches =
      batches_of_texts(lengths, options.batch_tokens, options.workers, models::device_of(*model_));
  for_each_group(batches.size(), options.workers,
                 [&](size_t number) { put_vectors(*model_, batches[number], windows); });
  embeddings.values = vectors_of_texts(windows, model_->encoder_config().unit_length);
  return embeddings;
}

TextEncoder load_encoder(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  LoadedModel loaded = load_model(folder, precision);
  auto model = std::dynamic_pointer_cast<const EncoderOnly>(loaded.model);
  base::check_usage(model != nullptr, "{}: holds a {} model, which is no encoder", folder.string(),
                    loaded.model->config().architecture());
  return {std::move(model), std::move(loaded.vocabularies.source)};
}

}  // namespace dragoman::decoding
