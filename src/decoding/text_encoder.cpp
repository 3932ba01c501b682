#include "decoding/text_encoder.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/encoder_input.h"
#include "decoding/in_groups.h"
#include "decoding/load_model.h"
#include "decoding/text_batches.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using models::EncoderOnly;
using models::Pooling;

// @param rows  [n, D] of one text
void put_mean(std::span<const float> rows, std::span<float> mean) {
  const size_t width = mean.size();
  std::vector<double> sums(width);
  for (size_t at = 0; at < rows.size(); ++at) {
    sums[at % width] += static_cast<double>(rows[at]);
  }
  const double count = static_cast<double>(rows.size() / width);
  std::ranges::transform(sums, mean.begin(), [count](double sum) { return static_cast<float>(sum / count); });
}

void divide_by_length(std::span<float> vector) {
  constexpr double kLeast = 1e-12;  // as sentence-transformers
  double squares = 0.0;
  for (const float value : vector) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double length = std::max(std::sqrt(squares), kLeast);
  for (float& value : vector) {
    value = static_cast<float>(static_cast<double>(value) / length);
  }
}

}  // namespace

void embed_batch(const EncoderOnly& model, EncoderBatch batch, const UseEncoded& use) {
  const autograd::NoGrad inference;
  models::FlatIds flat;
  for (const data::EncoderInput* input : batch) {
    flat.append(input->ids);
    flat.end_sentence();
  }
  const models::TokenRows rows = models::make_token_rows(flat);
  const models::EncoderOnlyConfig& config = model.encoder_config();
  const bool by_pooler = config.pooling == Pooling::kPooler;
  const autograd::Variable hidden = model.encode(rows, {});  // [N, D]
  const tensor::HostView<float> values(by_pooler ? model.pooled(hidden, rows).value() : hidden.value());
  const auto width = static_cast<size_t>(config.d_model);
  std::vector<float> vector(width);
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t first = by_pooler ? i : static_cast<size_t>(flat.offsets[i]);
    const size_t count = config.pooling == Pooling::kMean ? batch[i]->ids.size() : 1;
    put_mean(values.span().subspan(first * width, count * width), vector);
    if (config.unit_length) {
      divide_by_length(vector);
    }
    use(i, vector);
  }
}

TextEncoder::TextEncoder(std::shared_ptr<const EncoderOnly> model, data::Vocabulary vocabulary)
    : model_(std::move(model)), vocabulary_(std::move(vocabulary)) {}

Embeddings TextEncoder::embed(std::span<const std::string> texts, const EncodeOptions& options) const {
  base::check_fields(options);
  Embeddings embeddings;
  embeddings.width = model_->encoder_config().d_model;
  embeddings.values.resize(texts.size() * static_cast<size_t>(embeddings.width));
  std::vector<data::EncoderInput> inputs;
  std::vector<size_t> lengths;
  for (const std::string& text : texts) {
    inputs.push_back(data::encoder_input(vocabulary_, {text, std::nullopt}, model_->encoder_config().max_positions));
    base::check_data(!inputs.back().ids.empty(), "embed: text {} is empty, and the tokenizer puts nothing around it",
                     inputs.size());
    embeddings.cut += inputs.back().is_cut ? 1 : 0;
    lengths.push_back(inputs.back().ids.size());
  }
  const std::vector<TextBatch> batches = batches_of_texts(lengths, options.batch_tokens);
  for_each_group(batches.size(), options.workers, [&](size_t number) {
    const TextBatch& texts_of_batch = batches[number];
    embed_batch(*model_, batch_of(inputs, texts_of_batch), [&](size_t index, std::span<const float> vector) {
      const size_t begin = texts_of_batch[index] * vector.size();
      std::ranges::copy(vector, embeddings.values.begin() + static_cast<std::ptrdiff_t>(begin));
    });
  });
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
