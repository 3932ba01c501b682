// Searches on a GPU, or on its emulation: those of the CPU, alone as in a batch.
#include <gmock/gmock.h>

#include "cuda/search_on_device.h"
#include "decoding/scorer.h"
#include "decoding/steps/model_steps.h"
#include "decoding/tiny_language_model.h"
#include "decoding/tiny_model.h"
#include "models/decoder/decoder_state.h"
#include "models/model_device.h"
#include "models/transformer/transformer.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using kernels::Precision;
using test_support::OnCuda;

class CudaSearch : public test_support::CudaTest {};

TEST_F(CudaSearch, GreedyBeamsAndSamplesAreThoseOfTheCpu) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto sources = random_sources(19, 3);
  for (const int beam_size : {1, 3}) {
    SearchOptions options = options_of(beam_size);
    options.n_best = beam_size;
    const Results expected = ParallelSearch(model).run(sources, options);
    const OnCuda device;
    expect_equal_ids(ParallelSearch(on_device(*model)).run(sources, options), expected);
  }
  SearchOptions options = options_of(1);
  options.sampling.temperature = 0.8;
  const Results expected = ParallelSearch(model).run(sources, options);
  const OnCuda device;
  expect_equal_ids(ParallelSearch(on_device(*model)).run(sources, options), expected);
}

TEST_F(CudaSearch, RulesAndPrefixesAreThoseOfTheCpu) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  std::vector<SentenceRequest> requests(7);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].prefix = {static_cast<int32_t>(10 + i), 7};
  }
  requests = with_sources(random_sources(7, 5), requests);
  SearchOptions options = options_of(2);
  options.rules.no_repeat_ngram = 2;
  const Results expected = ParallelSearch(model).run(requests, options);
  const OnCuda device;
  expect_equal_ids(ParallelSearch(on_device(*model)).run(requests, options), expected);
}

TEST_F(CudaSearch, ASentenceAloneHasTheBitsThatItHasInABatch) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const OnCuda device;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    const ParallelSearch search(on_device(*model, precision));
    const auto sources = random_sources(9, 3);
    for (const int beam_size : {1, 3}) {
      const Results together = search.run(sources, options_of(beam_size));
      Results alone;
      for (const auto& source : sources) {
        alone.push_back(std::move(search.run(std::span(&source, 1), options_of(beam_size)).front()));
      }
      expect_equal_bits(alone, together);
    }
  }
}

// As T5: relative positions in encoder and decoder, no scale of the products, RMS norms.
std::shared_ptr<models::Transformer> small_t5() {
  models::TransformerConfig config = test_support::tiny_config(50);
  config.norm_order = nn::NormOrder::kPre;
  config.positions = nn::PositionKind::kRelative;
  config.max_positions = 80;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.biases = nn::Biases::kNone;
  config.layer.scale_attention = false;
  config.layer.relative_buckets = 8;
  config.layer.relative_distance = 10;
  auto model = std::make_shared<models::Transformer>(config);
  model->parameters().allocate();
  model->parameters().initialize(2);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 1.5F;
  }
  model->parameters().pack_weights();
  return model;
}

TEST_F(CudaSearch, RelativePositionsAreThoseOfTheCpu) {
  const auto model = small_t5();
  const auto sources = random_sources(4, 3);
  for (const int beam_size : {1, 3}) {
    SearchOptions options = options_of(beam_size);
    options.length.max_length_extra = 70;  // beyond the first table of biases
    const Results expected = ParallelSearch(model).run(sources, options);
    const OnCuda device;
    const ParallelSearch search(on_device(*model));
    const Results seen = search.run(sources, options);
    expect_equal_ids(seen, expected);
    Results alone;
    for (const auto& source : sources) {
      alone.push_back(std::move(search.run(std::span(&source, 1), options).front()));
    }
    expect_equal_bits(alone, seen);
  }
}

TEST_F(CudaSearch, ShortlistsAreThoseOfTheCpu) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto list = std::make_shared<const Shortlist>(50, std::vector<int32_t>{data::kEosId, 5, 9, 17, 23, 31},
                                                      std::vector<std::vector<int32_t>>(50, {6, 11, 40}));
  SearchOptions options = options_of(2);
  options.shortlist = true;
  const auto sources = random_sources(7, 4);
  const Results expected = ParallelSearch({model}, list).run(sources, options);
  const OnCuda device;
  expect_equal_ids(ParallelSearch({on_device(*model)}, list).run(sources, options), expected);
}

// Where a model computes is the model's matter: threads without a scope of the device use it too.
TEST_F(CudaSearch, AModelComputesOnItsDeviceInEveryThread) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto sources = random_sources(5, 3);
  const SearchOptions options = options_of(2);
  std::vector<IdPair> pairs;
  for (const auto& source : sources) {
    pairs.push_back({source, {7, 8, 9}});
  }
  const auto moved = [&] {
    const OnCuda device;
    return on_device(*model);
  }();
  EXPECT_EQ(models::device_of(*moved).name(), "cuda:0");
  EXPECT_TRUE(models::device_of(*model).is_host());
  const auto expected = score_ids(*model, pairs, {});
  const auto seen = score_ids(*moved, pairs, {});
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_NEAR(seen[i].log_prob, expected[i].log_prob, 1e-4);
  }
  const OnCuda device;
  EXPECT_EQ(score_ids(*model, pairs, {}).front().log_prob, expected.front().log_prob);
}

// Requests to a language model: each continues its source.
std::vector<SentenceRequest> prompts(size_t count, int64_t new_tokens) {
  std::vector<SentenceRequest> requests(count);
  base::Random random(11);
  for (SentenceRequest& request : requests) {
    request.source.resize(1 + random.below(20));
    for (int32_t& id : request.source) {
      id = static_cast<int32_t>(random.below(20));
    }
    request.continues_source = true;
    request.max_length = new_tokens;
  }
  return requests;
}

// As Llama: rotary positions, RMS norms, gated layers, fewer heads of keys, a window.
std::shared_ptr<models::DecoderOnly> small_llama() {
  models::DecoderOnlyConfig config = tiny_language_model()->decoder_config();
  config.positions = nn::PositionKind::kRotary;
  config.d_model = 32;
  config.n_heads = 4;
  config.layer.n_kv_heads = 2;
  config.layer.window = 9;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  config.activation = kernels::Activation::kSilu;
  auto model = std::make_shared<models::DecoderOnly>(config);
  model->parameters().allocate();
  model->parameters().initialize(4);
  for (float& value : model->parameters().mutable_values().span<float>()) {
    value *= 2.0F;
  }
  model->parameters().pack_weights();
  return model;
}

TEST_F(CudaSearch, LanguageModelsGoOnAsOnTheCpu) {
  for (const auto& model : {tiny_language_model(), small_llama()}) {
    SearchOptions options = options_of(1);
    const auto requests = prompts(9, 20);
    const Results expected = ParallelSearch(model).run(requests, options);
    const OnCuda device;
    const ParallelSearch search(on_device(*model));
    const Results seen = search.run(requests, options);
    expect_equal_ids(seen, expected);
    Results alone;
    for (const SentenceRequest& request : requests) {
      alone.push_back(std::move(search.run(std::span(&request, 1), options).front()));
    }
    expect_equal_bits(alone, seen);
  }
}

// Makes twelve steps of five sentences, of which the last eight take no memory. Returns: how many ran what was
// recorded.
int64_t replayed_of_twelve(const models::Transformer& model) {
  const OnCuda device;
  const std::shared_ptr<models::Model> copy = on_device(model);
  ModelSteps steps(*copy);
  const auto sources = random_sources(5, 3);
  const std::vector<int32_t> slots = steps.add(std::vector<std::span<const int32_t>>(sources.begin(), sources.end()));
  std::vector<StepRow> rows;
  for (const int32_t slot : slots) {
    rows.push_back({slot, 0, 5});
  }
  kernels::BestLogits best;
  uint64_t requests = 0;
  for (int step = 0; step < 12; ++step) {
    if (step == 4) {
      requests = tensor::Arena::current()->counters().system_requests;
    }
    steps.step_best(rows, 3, best);
  }
  EXPECT_EQ(tensor::Arena::current()->counters().system_requests, requests);
  const auto& generation = dynamic_cast<const models::TransformerGeneration&>(steps.generation());
  return dynamic_cast<const models::DecoderState&>(generation.memory()).replayed_steps();
}

// The first step computes, the second records. Relative positions come with the first, so that the second computes too.
TEST_F(CudaSearch, AWarmStepRunsWhatWasRecordedAndTakesNoMemory) {
  EXPECT_EQ(replayed_of_twelve(*tiny_model(nn::NormOrder::kPost)), 10);
  EXPECT_EQ(replayed_of_twelve(*small_t5()), 9);
}

TEST_F(CudaSearch, TheAttentionOfAStepIsThatOfTheCpu) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const auto attention_of = [](const models::Model& searched) {
    ModelSteps steps(searched);
    const auto sources = random_sources(3, 8);
    const std::vector<int32_t> slots = steps.add(std::vector<std::span<const int32_t>>(sources.begin(), sources.end()));
    const int layer = kLastLayer;
    steps.want_attention({&layer, 1});
    std::vector<StepRow> rows;
    for (const int32_t slot : slots) {
      rows.push_back({slot, 0, 5});
    }
    kernels::BestLogits best;
    steps.step_best(rows, 1, best);
    steps.step_best(rows, 1, best);
    const tensor::Tensor weights = steps.attention(layer);
    EXPECT_EQ(weights.dim(0), 3);
    return tensor::to_host(weights).clone().to_vector<float>();
  };
  const std::vector<float> expected = attention_of(*model);
  const OnCuda device;
  EXPECT_THAT(attention_of(*on_device(*model)), testing::Pointwise(testing::FloatNear(1e-5F), expected));
}

}  // namespace
}  // namespace dragoman::decoding
