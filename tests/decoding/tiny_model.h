#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/search/sentence_request.h"
#include "models/transformer/transformer.h"
#include "support/tiny_config.h"

namespace dragoman::decoding {

/// Returns: a random Transformer whose translations end and differ.
inline std::shared_ptr<models::Transformer> tiny_model(models::TransformerConfig config, uint64_t seed) {
  config.tying = models::Tying::kNone;  // tied and untrained, a model would repeat what it reads
  auto model = std::make_shared<models::Transformer>(config);
  model->parameters().allocate();
  model->parameters().initialize(seed);
  // Sharper than fresh weights, and with a large vector for the end of sentence, so that the likeliest token differs
  // from step to step and sentences do end.
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 1.5F;
  }
  tensor::Tensor end = model->output().weight.variable.value().rows(data::kEosId, data::kEosId + 1);  // [1, D]
  for (float& value : end.span<float>()) {
    value *= 3.0F;
  }
  model->parameters().pack_weights();
  return model;
}

/// Returns: a random Transformer of the tiny configuration.
inline std::shared_ptr<models::Transformer> tiny_model(nn::NormOrder order, uint64_t seed = 1, int64_t vocab_size = 50,
                                                       int64_t max_positions = 80, nn::DecoderSublayer sublayer = {}) {
  models::TransformerConfig config = test_support::tiny_config(vocab_size);
  config.norm_order = order;
  config.decoder_sublayer = sublayer;
  config.max_positions = max_positions;
  return tiny_model(config, seed);
}

/// Source sentences of 1 to `longest` tokens, the end included.
inline std::vector<std::vector<int32_t>> random_sources(size_t count, uint64_t seed, uint64_t longest = 14,
                                                        uint64_t vocab_size = 50) {
  base::Random random(seed);
  std::vector<std::vector<int32_t>> sources(count);
  for (std::vector<int32_t>& source : sources) {
    const uint64_t pieces = random.below(longest);
    for (uint64_t i = 0; i < pieces; ++i) {
      source.push_back(static_cast<int32_t>(4 + random.below(vocab_size - 4)));
    }
    source.push_back(data::kEosId);
  }
  return sources;
}

/// `requests`, one for each source, of these sources.
inline std::vector<SentenceRequest> with_sources(std::span<const std::vector<int32_t>> sources,
                                                 std::span<const SentenceRequest> requests) {
  std::vector<SentenceRequest> all(requests.begin(), requests.end());
  for (size_t i = 0; i < sources.size(); ++i) {
    all.at(i).source = sources[i];
  }
  return all;
}

}  // namespace dragoman::decoding
