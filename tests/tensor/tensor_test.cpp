#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "support/error_of.h"

namespace dragoman::tensor {
namespace {

using test_support::error_of;

TEST(Shape, RefusesNegativeAxesAndOverflow) {
  EXPECT_EQ(error_of([] { Shape({2, -3}); }), "shape: axis 1 is -3, must be >= 0");
  const int64_t big = int64_t{1} << 40;
  EXPECT_NE(error_of([&] { Shape({big, big}); }), "no error");
  EXPECT_EQ(Shape({}).size(), 1);
}

TEST(Shape, HoldsMoreThanTwoToThe31Elements) {
  EXPECT_EQ(Shape({70000, 70000}).size(), 4'900'000'000);
}

TEST(Tensor, ViewsShareMemoryAndClonesDoNot) {
  Tensor tensor = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor row = tensor.rows(1, 2);
  row.fill(9);
  EXPECT_EQ(tensor.to_vector<float>(), (std::vector<float>{1, 2, 3, 9, 9, 9}));
  Tensor copy = tensor.clone();
  copy.zero();
  EXPECT_EQ(tensor.data<float>()[5], 9.0F);
}

TEST(Tensor, ColumnsKeepTheRowStride) {
  const Tensor tensor = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor view = tensor.columns(1, 3);
  EXPECT_EQ(view.stride(0), 3);
  EXPECT_FALSE(view.is_contiguous());
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{2, 3, 5, 6}));
  EXPECT_NE(error_of([&] { view.reshape({4}); }).find("strided view"), std::string::npos);
}

TEST(Tensor, WritesThroughAStridedView) {
  Tensor tensor = Tensor::zeros({2, 3});
  Tensor view = tensor.columns(1, 3);
  view.copy_from(Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(tensor.to_vector<float>(), (std::vector<float>{0, 1, 2, 0, 3, 4}));
}

TEST(Tensor, SaysWhichTypeItHolds) {
  const Tensor tensor = Tensor::zeros({2}, DType::kInt32);
  EXPECT_EQ(error_of([&] { tensor.data<float>(); }), "tensor: asked for float32, holds int32");
}

TEST(Tensor, BFloat16RoundsToNearestEvenAndKeepsNaN) {
  EXPECT_EQ(to_float(to_bfloat16(1.0F)), 1.0F);
  EXPECT_EQ(to_bfloat16(1.00390625F).bits, 0x3F80) << "halfway between 1 and 1.0078125 goes to the even one";
  EXPECT_EQ(to_bfloat16(1.01171875F).bits, 0x3F82);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
}

// What is made of a constant tensor is made once for each type and each view, and lives as long as its memory.
TEST(Tensor, KeepsWhatIsDerivedFromAConstant) {
  Tensor tensor = Tensor::from<int32_t>({1, 2, 3, 4}, {4});
  int made = 0;
  const auto sum_of = [&](const Tensor& of) {
    return of.derived<int>([&] {
      ++made;
      const auto elements = of.to_vector<int32_t>();
      return std::make_shared<int>(std::accumulate(elements.begin(), elements.end(), 0));
    });
  };
  EXPECT_EQ(*sum_of(tensor) + *sum_of(tensor), 20);
  EXPECT_EQ(made, 2) << "nothing is kept of a tensor that may change";
  tensor.set_constant();
  const std::weak_ptr<const int> kept = sum_of(tensor);
  EXPECT_EQ(*sum_of(tensor), 10);
  EXPECT_EQ(*sum_of(tensor.rows(1, 3)), 5);
  EXPECT_EQ(*sum_of(tensor.rows(1, 3)), 5);
  EXPECT_EQ(made, 4);
  EXPECT_EQ(*tensor.derived<double>([] { return std::make_shared<double>(0.5); }), 0.5);
  EXPECT_FALSE(kept.expired());
  tensor = Tensor();
  EXPECT_TRUE(kept.expired());
}

TEST(Tensor, ARefillReachesWhatIsDerived) {
  Tensor tensor = Tensor::from<int32_t>({1, 2, 3}, {3});
  const std::vector<int32_t> later = {4, 5, 6};
  EXPECT_THROW(tensor.refill<int32_t>(later), base::Error) << "it is not constant";
  tensor.set_constant();
  struct First {
    mutable int32_t value;
  };
  const auto first_of = [](const Tensor& of) {
    return of.derived<First>([&] { return std::make_shared<First>(of.span<int32_t>()[0]); },
                             [](const Tensor& now, const First& kept) { kept.value = now.span<int32_t>()[0]; });
  };
  const std::shared_ptr<const First> first = first_of(tensor);
  tensor.refill<int32_t>(later);
  EXPECT_EQ(tensor.to_vector<int32_t>(), later);
  EXPECT_EQ(first->value, 4);
  EXPECT_EQ(first_of(tensor), first);
  EXPECT_THROW(tensor.refill<int32_t>(std::vector<int32_t>{1, 2}), base::Error);
  const auto kept = tensor.derived<double>([] { return std::make_shared<double>(0.5); });
  EXPECT_THROW(tensor.refill<int32_t>(std::vector<int32_t>{7, 8, 9}), base::Error) << "something cannot follow";
  EXPECT_EQ(tensor.to_vector<int32_t>(), later);
}

TEST(Tensor, MemoryComesFromTheInnermostArena) {
  auto arena = std::make_shared<Arena>();
  Tensor tensor;
  {
    const ArenaScope scope(arena);
    tensor = Tensor::zeros({1000});
  }
  EXPECT_GE(arena->counters().live_bytes, 4000U);
  tensor = Tensor();
  EXPECT_EQ(arena->counters().live_bytes, 0U);
}

}  // namespace
}  // namespace dragoman::tensor
