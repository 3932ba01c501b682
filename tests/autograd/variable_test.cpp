#include "autograd/variable.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "small_ops.h"
#include "support/error_of.h"

namespace dragoman::autograd {
namespace {

using test_support::error_of;

Variable twice(const Variable& x) {
  Tensor value = x.value().clone();
  for (float& element : value.span<float>()) {
    element *= 2;
  }
  return record("twice", value, {&x}, [x](const Tensor& grad_output) {
    Tensor grad = grad_output.clone();
    for (float& element : grad.span<float>()) {
      element *= 2;
    }
    x.add_grad(grad);
  });
}

TEST(Tape, SumsGradientsOverAllPaths) {
  const Variable x = leaf({3});
  Tape tape;
  const TapeScope scope(&tape);
  const Variable y = add(add(twice(x), x), twice(twice(x)));  // 7 x
  tape.backward(y);
  EXPECT_EQ(x.grad().item(), 7.0);
  EXPECT_EQ(tape.size(), 0U) << "nodes go away as they are used";
}

TEST(Tape, AGradientHandedToTwoInputsIsNotWrittenTwice) {
  const Variable a = leaf({1}), b = leaf({1});
  Tape tape;
  const TapeScope scope(&tape);
  tape.backward(add(add(a, b), a));  // 2 a + b
  EXPECT_EQ(a.grad().item(), 2.0);
  EXPECT_EQ(b.grad().item(), 1.0);
}

TEST(Tape, DeclaresAGradientFinalWhenTheLastPartIsIn) {
  Variable early = leaf({1}), late = leaf({1}), unused = leaf({1});
  for (Variable* parameter : {&early, &late, &unused}) {
    parameter->bind_grad(Tensor::zeros({1}));
  }
  Tape tape;
  std::vector<double> seen;
  tape.on_final([&](const Variable& parameter) { seen.push_back(parameter.grad().item()); });
  const TapeScope scope(&tape);
  const Variable first = add(twice(early), early);  // used twice: 3 early
  tape.backward(add(twice(add(first, late)), early));
  EXPECT_EQ(seen, (std::vector<double>{2.0, 7.0})) << "late is final before early, and both only once";
  EXPECT_THROW(late.add_grad(Tensor::zeros({1})), base::Error) << "a final gradient was added to";
  EXPECT_THROW(late.grad_target(), base::Error);
  late.clear_grad();
  EXPECT_NO_THROW(late.add_grad(Tensor::zeros({1})));
}

TEST(Tape, NothingIsRecordedWithoutATape) {
  const Variable x = leaf({1});
  Tape tape;
  {
    const TapeScope scope(&tape);
    const NoGrad inference;
    EXPECT_FALSE(twice(x).requires_grad());
  }
  EXPECT_EQ(tape.size(), 0U);
}

TEST(Variable, ABoundBufferIsOverwrittenAfterClear) {
  Variable x = leaf({1, 1});
  Tensor buffer = Tensor::full({2}, 5);
  x.bind_grad(buffer);
  x.add_grad(Tensor::full({2}, 1));
  x.add_grad(Tensor::full({2}, 2));
  EXPECT_EQ(buffer.data<float>()[0], 3.0F);
  x.clear_grad();
  EXPECT_FALSE(x.grad_target().accumulate);
}

TEST(Variable, EveryElementOfAGradientIsAdded) {
  for (const int64_t size : {1, 15, 16, 17, 40}) {
    const Variable x(Tensor::zeros({size}), true);
    Tensor part = Tensor::empty({size});
    for (int64_t index = 0; index < size; ++index) {
      part.data<float>()[index] = static_cast<float>(index + 1);
    }
    x.add_grad(part.clone());
    x.add_grad(part);
    for (int64_t index = 0; index < size; ++index) {
      EXPECT_EQ(x.grad().data<float>()[index], static_cast<float>(2 * (index + 1)))
          << "element " << index << " of " << size;
    }
  }
}

Tensor bfloat16(const std::vector<float>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())}).to(tensor::DType::kBFloat16);
}

std::vector<float> floats(const Tensor& tensor) {
  return tensor.to(tensor::DType::kFloat32).to_vector<float>();
}

// 1 + 3/256 lies between 1 + 2/256 and 1 + 4/256, both bfloat16: a tie, which goes to the even one.
TEST(Variable, GradientsInBFloat16AreAddedInFloat32AndRounded) {
  const Variable x(Tensor::zeros({3}, tensor::DType::kBFloat16), true);
  x.add_grad(bfloat16({1.0F, 0.5F, 1.0F}));
  x.add_grad(bfloat16({2.0F, -0.25F, 3.0F / 256}));
  EXPECT_EQ(x.grad().dtype(), tensor::DType::kBFloat16);
  EXPECT_EQ(floats(x.grad()), (std::vector<float>{3.0F, 0.25F, 1.0F + 4.0F / 256}));
  x.add_grad(bfloat16({1.0F, 0.25F, 1.0F / 512}));
  EXPECT_EQ(floats(x.grad()), (std::vector<float>{4.0F, 0.5F, 1.0F + 4.0F / 256})) << "less than half a step is lost";
}

TEST(Variable, AGradientInBFloat16HandedToTwoIsNotWrittenTwice) {
  const Variable x(Tensor::zeros({2}, tensor::DType::kBFloat16), true);
  const Tensor handed_on = bfloat16({1.0F, 2.0F});
  x.add_grad(handed_on);
  x.add_grad(bfloat16({4.0F, 8.0F}));
  EXPECT_EQ(floats(handed_on), (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(floats(x.grad()), (std::vector<float>{5.0F, 10.0F}));
}

TEST(Variable, ABoundBufferInBFloat16TakesTheSum) {
  Variable x(Tensor::zeros({2}, tensor::DType::kBFloat16), true);
  const Tensor buffer = bfloat16({9.0F, 9.0F});
  x.bind_grad(buffer);
  x.add_grad(bfloat16({1.0F, 2.0F}));
  x.add_grad(bfloat16({1.0F, 2.0F}));
  EXPECT_EQ(floats(buffer), (std::vector<float>{2.0F, 4.0F}));
  EXPECT_EQ(error_of([&] { x.bind_grad(Tensor::zeros({2})); }),
            "variable: gradient buffer of shape [2] (float32) for a variable of shape [2] (bfloat16)");
}

TEST(Variable, RefusesAGradientOfTheWrongType) {
  const Variable narrow(Tensor::zeros({2}, tensor::DType::kBFloat16), true), wide(Tensor::zeros({2}), true);
  EXPECT_EQ(error_of([&] { narrow.add_grad(Tensor::zeros({2})); }),
            "variable: gradient of shape [2] (float32) for a variable of shape [2] (bfloat16)");
  EXPECT_EQ(error_of([&] { wide.add_grad(Tensor::zeros({2}, tensor::DType::kBFloat16)); }),
            "variable: gradient of shape [2] (bfloat16) for a variable of shape [2] (float32)");
  EXPECT_FALSE(narrow.has_grad());
  EXPECT_FALSE(wide.has_grad());
}

TEST(Variable, CopiesShareTheRoundedCompanion) {
  Variable x = leaf({1.0F, 2.0F});
  EXPECT_FALSE(x.rounded().defined());
  const Variable copy = x;
  const Tensor companion = bfloat16({1.0F, 2.0F});
  x.set_rounded(companion);
  EXPECT_EQ(copy.rounded().raw_data(), companion.raw_data());
}

TEST(Variable, RefusesAGradientOfTheWrongShape) {
  const Variable x = leaf({1, 1});
  EXPECT_THROW(x.add_grad(Tensor::zeros({3})), base::Error);
  EXPECT_THROW(x.grad(), base::Error);
}

}  // namespace
}  // namespace dragoman::autograd
