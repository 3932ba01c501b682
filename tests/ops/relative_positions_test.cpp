// Relative position buckets, and attention with numbers by bucket and with another scale.
#include "ops/relative_positions.h"

#include <gmock/gmock.h>

#include "kernels/cpu/attention/attention_step.h"
#include "kernels/cpu/attention/attention_tiles.h"
#include "ops/attention.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::random_tensor;
using testing::HasSubstr;

constexpr RelativeBuckets kBothSides{8, 12, true}, kCausal{8, 12, false};

Tensor offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> ends{0};
  for (const int64_t length : lengths) {
    ends.push_back(ends.back() + static_cast<int32_t>(length));
  }
  return Tensor::from(ends, {static_cast<int64_t>(ends.size())});
}

// Queries, keys and values of sentences, and the weight of a bias.
struct Batch {
  Batch(const std::vector<int64_t>& lengths, int n_heads, int64_t d_head, const RelativeBuckets& of)
      : bounds{offsets_of(lengths), offsets_of(lengths), {}}, buckets(of) {
    const int64_t rows = bounds.query_offsets.to_vector<int32_t>().back();
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      inputs.push_back(random_tensor({rows, n_heads * d_head}, DType::kFloat64, seed));
    }
    inputs.push_back(random_tensor({of.count, n_heads}, DType::kFloat64, 9));
    options.n_heads = n_heads;
    options.causal = !of.both_sides;
  }
  test_support::Function function() const {
    return [bounds = bounds, buckets = buckets, options = options](const std::vector<Variable>& in) {
      return attention(in[0], in[1], in[2], bounds, options, {in[3], buckets});
    };
  }
  std::vector<Tensor> as(DType dtype) const {
    std::vector<Tensor> result;
    for (const Tensor& input : inputs) {
      result.push_back(input.to(dtype));
    }
    return result;
  }
  Tensor value(DType dtype) const {
    const std::vector<Tensor> in = as(dtype);
    return function()({Variable(in[0]), Variable(in[1]), Variable(in[2]),
                       Variable(inputs[3].to(dtype == DType::kFloat64 ? dtype : DType::kFloat32))})
        .value();
  }

  AttentionBounds bounds;
  RelativeBuckets buckets;
  AttentionOptions options;
  std::vector<Tensor> inputs;
};

// The first distance of each bucket, as transformers has them.
TEST(RelativePositions, BucketsBeginWhereThoseOfT5Begin) {
  const std::vector<int64_t> decoder = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  const std::vector<int64_t> encoder = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  int64_t of_decoder = 0, of_encoder = 0;
  for (int64_t distance = 0; distance < 300; ++distance) {
    of_decoder = std::ranges::upper_bound(decoder, distance) - decoder.begin() - 1;
    of_encoder = std::ranges::upper_bound(encoder, distance) - encoder.begin() - 1;
    EXPECT_EQ(relative_bucket(-distance, {32, 128, false}), of_decoder) << distance;
    EXPECT_EQ(relative_bucket(distance, {32, 128, false}), 0) << "a key behind the query";
    EXPECT_EQ(relative_bucket(-distance, {32, 128, true}), of_encoder) << distance;
    EXPECT_EQ(relative_bucket(distance, {32, 128, true}), distance == 0 ? 0 : 16 + of_encoder) << distance;
  }
}

TEST(RelativePositions, BackwardMatchesCentralDifferences) {
  for (const RelativeBuckets& buckets : {kBothSides, kCausal}) {
    Batch batch({3, 1, 14}, 2, 2, buckets);
    test_support::check_gradients(batch.function(), batch.inputs);
    batch.options.scale = 1.0F;
    batch.options.dropout = {.probability = 0.4F, .seed = 5, .step = 1, .site = 9, .first_row = 3};
    test_support::check_gradients(batch.function(), batch.inputs);
  }
}

TEST(RelativePositions, KernelMatchesReference) {
  for (const RelativeBuckets& buckets : {RelativeBuckets{32, 128, true}, RelativeBuckets{32, 128, false}}) {
    for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{1, 0, 7, 16, 33, 64}, {200, 65}, {333}}) {
      for (const float scale : {0.0F, 1.0F}) {
        Batch batch(lengths, 3, 20, buckets);
        batch.options.scale = scale;
        const std::string label = testing::PrintToString(lengths) + (buckets.both_sides ? ", both sides" : ", causal");
        EXPECT_TRUE(close(batch.value(DType::kFloat32), batch.value(DType::kFloat64), 5e-6)) << label;
        const Tensor weights = random_tensor(batch.inputs[0].shape(), DType::kFloat64, 4);
        const auto exact = test_support::gradients(batch.function(), batch.inputs, weights);
        const auto fast =
            test_support::gradients(batch.function(), batch.as(DType::kFloat32), weights.to(DType::kFloat32));
        for (size_t input = 0; input < exact.size(); ++input) {
          EXPECT_TRUE(close(fast[input], exact[input], 2e-5)) << label << ", gradient of input " << input;
        }
      }
    }
  }
}

// Rounded rows, in the tiles of AMX where the processor has them.
TEST(RelativePositions, RoundedRowsStayNearTheReference) {
  for (const RelativeBuckets& buckets : {RelativeBuckets{32, 128, true}, RelativeBuckets{32, 128, false}}) {
    const Batch batch({70, 5}, 2, 32, buckets);
    EXPECT_TRUE(close(batch.value(DType::kBFloat16).to(DType::kFloat32), batch.value(DType::kFloat64), 0.05));
  }
}

TEST(RelativePositions, ABiasOfZeroChangesNoBit) {
  Batch batch({9, 40}, 2, 16, kBothSides);
  batch.inputs[3].zero();
  const std::vector<Tensor> in = batch.as(DType::kFloat32);
  const Tensor plain =
      attention(Variable(in[0]), Variable(in[1]), Variable(in[2]), batch.bounds, batch.options).value();
  EXPECT_EQ(batch.value(DType::kFloat32).to_vector<float>(), plain.to_vector<float>());
}

TEST(RelativePositions, ASentenceAloneHasTheBitsOfTheSentenceInABatch) {
  const Batch batch({40, 9, 100}, 2, 16, kBothSides);
  const std::vector<Tensor> in = batch.as(DType::kFloat32);
  const auto part = [&](size_t input) { return Variable(in[input].rows(40, 49)); };
  const Tensor alone = attention(part(0), part(1), part(2), {offsets_of({9}), offsets_of({9}), {}}, batch.options,
                                 {Variable(in[3]), kBothSides})
                           .value();
  EXPECT_EQ(alone.to_vector<float>(), batch.value(DType::kFloat32).rows(40, 49).to_vector<float>());
}

TEST(RelativePositions, CachedStepsGiveTheRowsOfCausalAttention) {
  constexpr int64_t kLength = 70;
  const Batch batch({kLength}, 3, 16, {32, 40, false});
  const std::vector<Tensor> in = batch.as(DType::kFloat32);
  const Tensor bias = bias_of_last_query(in[3], batch.buckets, 100);
  std::vector<kernels::StepKeys> steps;
  for (int64_t t = 0; t < kLength; ++t) {
    steps.push_back({in[1].data<float>(), in[2].data<float>(), nullptr, in[1].dim(1), t + 1});
    add_step_bias(bias, steps.back());
  }
  Tensor context = Tensor::empty(in[0].shape());
  kernels::attention_step(in[0], steps, 3, context, nullptr);
  EXPECT_TRUE(close(context, batch.value(DType::kFloat32), 1e-5));
}

TEST(RelativePositions, WeightsOfAPictureAreThoseOfTheForward) {
  const Batch batch({12}, 2, 8, kCausal);
  const std::vector<Tensor> in = batch.as(DType::kFloat32);
  const Tensor weights =
      attention_weights(in[0], in[1], batch.bounds, batch.options, {Variable(in[3]), batch.buckets});  // [H, T, S]
  const Tensor context = batch.value(DType::kFloat32);
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t t = 0; t < 12; ++t) {
      float sum = 0;
      for (int64_t s = 0; s < 12; ++s) {
        sum += weights.data<float>()[(head * 12 + t) * 12 + s] * in[2].data<float>()[s * 16 + head * 8];
      }
      EXPECT_NEAR(sum, context.data<float>()[t * 16 + head * 8], 1e-5);
    }
  }
}

TEST(RelativePositions, RefusesWhatDoesNotFit) {
  const Batch batch({4}, 2, 8, kCausal);
  const std::vector<Tensor> in = batch.as(DType::kFloat32);
  const auto error = [&](const Tensor& weight, const RelativeBuckets& buckets) {
    return test_support::error_of([&] {
      static_cast<void>(attention(Variable(in[0]), Variable(in[1]), Variable(in[2]), batch.bounds, batch.options,
                                  {Variable(weight), buckets}));
    });
  };
  EXPECT_THAT(error(Tensor::zeros({7, 2}), kCausal), HasSubstr("relative bias is [7, 2], must be [8, 2]"));
  EXPECT_THAT(error(in[3], kBothSides), HasSubstr("causal attention has one side"));
  EXPECT_THAT(error(in[3], {8, 4, false}), HasSubstr("8 buckets up to distance 4"));
}

}  // namespace
}  // namespace dragoman::ops
