#include "nn/weight_packing.h"

#include <gmock/gmock.h>

#include <thread>

#include "nn/linear.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::nn {
namespace {

using tensor::DType;
using test_support::random_tensor;
using test_support::same_bits;

// Two layers and an output weight, with their values.
struct Model {
  explicit Model(uint64_t seed = 1)
      : first(parameters, "first", 40, 70),
        second(parameters, "second", 70, 130),
        output(
            parameters.declare_weight("output", {90, 130}, Initializer::kNormalEmbedding, kernels::Transpose::kYes)) {
    parameters.allocate();
    parameters.initialize(seed);
  }

  Tensor forward(const Tensor& x) const {
    const Variable hidden = second.forward(first.forward(Variable(x)));
    Tensor logits = Tensor::empty({x.dim(0), 90});
    ops::multiply_weight(hidden.value(), output->weight(), kernels::Transpose::kYes, {}, logits);
    return logits;
  }

  ParameterSet parameters;
  Linear first, second;
  ParameterHandle output;
};

Tensor input() {
  return random_tensor({9, 40}, DType::kFloat32, 5);
}

constexpr const char* kOld =
    "parameters: the packed copy of first.weight is older than its values; pack the weights after changing them";

TEST(WeightPacking, AnyNumberOfWorkersPacksTheSameCopies) {
  Model model;
  const Tensor expected = model.forward(input());
  for (const int workers : {1, 2, 3, 7, 40}) {
    model.parameters.allocate_packing(kernels::Precision::kFloat32);
    WeightPacking& packing = *model.parameters.packing();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < workers; ++rank) {
      threads.emplace_back([&, rank] { packing.pack(rank, workers); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_TRUE(packing.current());
    EXPECT_TRUE(same_bits(model.forward(input()), expected)) << workers << " workers";
  }
}

TEST(WeightPacking, ChangedValuesAreNeverUsedWithOldCopies) {
  Model model, other(2);
  const auto use = [&] { return test_support::error_of([&] { model.forward(input()); }); };
  model.parameters.allocate_packing(kernels::Precision::kFloat32);
  EXPECT_EQ(use(), kOld) << "not packed yet";
  model.parameters.packing()->pack(0, 1);
  EXPECT_EQ(use(), "no error");
  model.parameters.mutable_values().copy_from(other.parameters.values());
  EXPECT_EQ(use(), kOld) << "values copied in";
  model.parameters.packing()->pack(0, 2);
  EXPECT_EQ(use(), kOld) << "half packed";
  model.parameters.packing()->pack(1, 2);
  EXPECT_TRUE(same_bits(model.forward(input()), other.forward(input())));
  model.parameters.initialize(3);
  EXPECT_EQ(use(), kOld) << "initialised again";
}

TEST(WeightPacking, ReplicasUseTheSharedCopies) {
  Model model, replica;
  replica.parameters.share_values(model.parameters);
  model.parameters.allocate_packing(kernels::Precision::kFloat32);
  replica.parameters.share_packing(model.parameters);
  model.parameters.packing()->pack(0, 1);
  EXPECT_TRUE(same_bits(replica.forward(input()), model.forward(input())));
  replica.parameters.mutable_values();
  EXPECT_EQ(test_support::error_of([&] { model.forward(input()); }), kOld);
  Model stranger;
  EXPECT_EQ(test_support::error_of([&] { stranger.parameters.share_packing(model.parameters); }),
            "parameters: packed copies of other values cannot be shared");
}

TEST(WeightPacking, PackingAgainAsksForNoMemory) {
  Model model;
  model.parameters.allocate_packing(kernels::Precision::kFloat32);
  const auto live = [] { return tensor::Arena::current()->counters().live_bytes; };
  const auto peak = [] { return tensor::Arena::current()->counters().peak_bytes; };
  const uint64_t live_before = live(), peak_before = peak();
  model.parameters.packing()->pack(0, 1);
  EXPECT_EQ(live(), live_before);
  EXPECT_EQ(peak(), peak_before);
}

TEST(WeightPacking, Float64WeightsCannotBePacked) {
  Model model;
  model.parameters.allocate(DType::kFloat64);
  EXPECT_EQ(test_support::error_of([&] { model.parameters.allocate_packing(kernels::Precision::kFloat32); }),
            "parameters: float64 weights cannot be packed");
}

}  // namespace
}  // namespace dragoman::nn
