#include "autograd/recompute.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "small_ops.h"

namespace dragoman::autograd {
namespace {

// y = x * x; counts how often it was computed.
Variable square(const Variable& x, int* computed = nullptr) {
  if (computed != nullptr) {
    ++*computed;
  }
  Tensor value = x.value().clone();
  for (float& element : value.span<float>()) {
    element *= element;
  }
  return record("square", value, {&x}, [x](const Tensor& grad_output) {
    Tensor grad = grad_output.clone();
    for (int64_t index = 0; index < grad.size(); ++index) {
      grad.data<float>()[index] *= 2 * x.value().data<float>()[index];
    }
    x.add_grad(grad);
  });
}

using Runner = std::function<Variable(std::function<Variable()>)>;

Variable directly(const std::function<Variable()>& part) {
  return part();
}

Variable twice(const std::function<Variable()>& part) {
  return recompute("part", part);
}

// A chain of parts that all use `shared` beside the value handed on, as decoder layers use the encoder's output.
std::vector<float> gradient_of_shared(const Runner& run) {
  const Variable x = leaf({0.3F}), shared = leaf({0.7F});
  Tape tape;
  const TapeScope scope(&tape);
  Variable y = x;
  for (int part = 0; part < 5; ++part) {
    y = run([y, shared] { return add(add(square(y), square(shared)), shared); });
  }
  tape.backward(y);
  return {x.grad().data<float>()[0], shared.grad().data<float>()[0], y.value().data<float>()[0]};
}

TEST(Recompute, GivesTheBitsOfTheSameOpsRecordedDirectly) {
  EXPECT_EQ(gradient_of_shared(twice), gradient_of_shared(directly));
}

TEST(Recompute, PartsMayBeNested) {
  const auto gradient = [](const Runner& run) {
    const Variable x = leaf({0.9F});
    Tape tape;
    const TapeScope scope(&tape);
    tape.backward(run([=] { return square(run([=] { return add(square(x), x); })); }));
    return x.grad().item();
  };
  EXPECT_EQ(gradient(twice), gradient(directly));
}

TEST(Recompute, ComputesOnceForwardAndOnceBackwardAndKeepsOneNode) {
  const Variable x = leaf({2});
  int computed = 0;
  Tape tape;
  const TapeScope scope(&tape);
  const Variable y = recompute("part", [&] { return square(square(x, &computed), &computed); });
  EXPECT_EQ(computed, 2);
  EXPECT_EQ(tape.size(), 1U) << "nodes of the part are not kept";
  tape.backward(y);
  EXPECT_EQ(computed, 4);
  EXPECT_EQ(x.grad().item(), 32.0) << "d x^4 / dx at 2";
}

TEST(Recompute, WithoutATapeThePartRunsOnce) {
  const Variable x = leaf({2});
  int computed = 0;
  EXPECT_FALSE(recompute("part", [&] { return square(x, &computed); }).requires_grad());
  EXPECT_EQ(computed, 1);
}

TEST(Recompute, APartThatNeedsNoGradientIsNotRecorded) {
  const Variable x(Tensor::full({1}, 2));
  Tape tape;
  const TapeScope scope(&tape);
  EXPECT_FALSE(recompute("part", [&] { return square(x); }).requires_grad());
  EXPECT_EQ(tape.size(), 0U);
}

TEST(Recompute, APartThatHandsItsInputOnPassesTheGradient) {
  const Variable x = leaf({3});
  Tape tape;
  const TapeScope scope(&tape);
  tape.backward(recompute("part", [x] { return x; }));
  EXPECT_EQ(x.grad().item(), 1.0);
}

// Gradients travel to other replicas once they are final: not before the last part that uses them has run.
TEST(Recompute, AParameterIsFinalAfterTheEarliestPartThatUsesIt) {
  Variable shared = leaf({0.7F}), last = leaf({0.2F});
  shared.bind_grad(Tensor::zeros({1}));
  last.bind_grad(Tensor::zeros({1}));
  std::vector<std::pair<std::string, double>> seen;
  Tape tape;
  tape.on_final([&](const Variable& variable) {
    const bool is_shared = variable.value().item() == shared.value().item();
    seen.emplace_back(is_shared ? "shared" : "last", variable.grad().item());
  });
  const TapeScope scope(&tape);
  const Variable first = recompute("part", [=] { return square(shared); });  // s^2
  const Variable second = recompute("part", [=] { return add(add(first, shared), last); });
  tape.backward(second);
  const float gradient = 2 * 0.7F + 1;
  const std::vector<std::pair<std::string, double>> expected = {{"last", 1.0}, {"shared", gradient}};
  EXPECT_EQ(seen, expected);
}

TEST(Recompute, MemoryFallsToOnePart) {
  const auto peak = [](const Runner& run) {
    const auto arena = std::make_shared<tensor::Arena>();
    const tensor::ArenaScope memory(arena);
    Tape tape;
    const TapeScope scope(&tape);
    Variable y(Tensor::full({1 << 16}, 0.5), true);
    for (int part = 0; part < 8; ++part) {
      y = run([y] { return square(square(square(square(square(square(y)))))); });
    }
    tape.backward_from(y, Tensor::full({1 << 16}, 1));
    return arena->counters().peak_bytes;
  };
  const uint64_t kept = peak(directly), computed_again = peak(twice);
  EXPECT_LT(2 * computed_again, kept) << "48 tensors against 8 inputs and 6 tensors of one part";
}

// Products take the companion, whether what made it is computed once or twice.
TEST(Recompute, TheRoundedCompanionComesAlong) {
  const Variable x = leaf({0.3F, 0.7F});
  const Tensor companion = x.value().to(tensor::DType::kBFloat16);  // [2]
  const auto part = [&] {
    Variable y = square(x);
    y.set_rounded(companion);
    return y;
  };
  Tape tape;
  const TapeScope scope(&tape);
  const Variable y = recompute("part", part);
  ASSERT_TRUE(y.rounded().defined());
  EXPECT_EQ(y.rounded().raw_data(), companion.raw_data());
}

// y = x handed on in bfloat16, as between recorded products.
TEST(Recompute, GradientsInBFloat16ReachWhatIsOutside) {
  const Variable x(leaf({1.0F, 2.0F}).value().to(tensor::DType::kBFloat16), true);
  Tape tape;
  const TapeScope scope(&tape);
  const auto part = [&] {
    return record("handed_on", x.value().clone(), {&x}, [x](const Tensor& grad_output) { x.add_grad(grad_output); });
  };
  const Variable y = recompute("part", part);
  ASSERT_EQ(y.dtype(), tensor::DType::kBFloat16);
  tape.backward_from(y, leaf({3.0F, -4.0F}).value().to(tensor::DType::kBFloat16));
  EXPECT_EQ(x.grad().to(tensor::DType::kFloat32).to_vector<float>(), (std::vector<float>{3.0F, -4.0F}));
}

}  // namespace
}  // namespace dragoman::autograd
