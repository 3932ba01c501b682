#include "ops/scan.h"

#include "support/error_of.h"
#include "support/gradient_check.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

Tensor offsets() {
  return tensor::host_tensor(std::vector<int32_t>{0, 4, 4, 5, 11});
}

// From 0 to 1.
Tensor shares(const tensor::Shape& shape) {
  Tensor values = random_tensor(shape, DType::kFloat64, 7);
  for (double& value : values.span<double>()) {
    value = 0.5 + 0.5 * value;
  }
  return values;
}

test_support::Function scanned(const Tensor& initial = {}) {
  return [=](const std::vector<Variable>& v) { return scan(v[0], v[1], offsets(), initial); };
}

TEST(Scan, KnownMeans) {
  const Tensor x = Tensor::from(std::vector<float>{2, 4, 6, 5}, {4, 1});
  const Tensor keep = Tensor::from(std::vector<float>{0, 0.5F, 0.5F, 0.25F}, {4, 1});
  const Tensor y = scan(Variable(x), Variable(keep), tensor::host_tensor(std::vector<int32_t>{0, 3, 4})).value();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 3, 4.5F, 3.75F}));
}

TEST(Scan, GradientsAgreeWithFiniteDifferences) {
  test_support::check_gradients(scanned(), {random_tensor({11, 3}), shares({11, 3})});
  test_support::check_gradients(scanned(random_tensor({4, 3}, DType::kFloat64, 5)),
                                {random_tensor({11, 3}), shares({11, 3})});
}

TEST(Scan, Float32AgreesWithFloat64) {
  for (const int64_t columns : {1, 7, 8, 31, 33, 64, 65, 300}) {
    const Tensor x = random_tensor({11, columns}), keep = shares({11, columns});
    const Tensor initial = random_tensor({4, columns}, DType::kFloat64, 5);
    const Tensor weights = random_tensor({11, columns}, DType::kFloat64, 3);
    const auto small = [](const Tensor& wide) { return strided_copy(wide.to(DType::kFloat32)); };
    EXPECT_TRUE(close(scanned(small(initial))({Variable(small(x)), Variable(small(keep))}).value(),
                      scanned(initial)({Variable(x), Variable(keep)}).value(), 1e-6));
    const auto seen = gradients(scanned(small(initial)), {small(x), small(keep)}, weights.to(DType::kFloat32));
    const auto exact = gradients(scanned(initial), {x, keep}, weights);
    EXPECT_TRUE(close(seen[0], exact[0], 2e-6)) << columns;
    EXPECT_TRUE(close(seen[1], exact[1], 2e-6)) << columns;
  }
}

TEST(Scan, StepsGiveTheBitsOfOneCall) {
  const Variable x(random_tensor({6, 37}, DType::kFloat32)), keep(shares({6, 37}).to(DType::kFloat32));
  const Tensor whole = scan(x, keep, tensor::host_tensor(std::vector<int32_t>{0, 6})).value();
  Tensor before = Tensor::zeros({1, 37});
  for (int64_t t = 0; t < 6; ++t) {
    before = scan(Variable(x.value().rows(t, t + 1)), Variable(keep.value().rows(t, t + 1)),
                  tensor::host_tensor(std::vector<int32_t>{0, 1}), before)
                 .value();
    EXPECT_TRUE(same_bits(before, whole.rows(t, t + 1).clone())) << "row " << t;
  }
}

TEST(Scan, RefusesOtherShapes) {
  const Variable x(Tensor::zeros({11, 4}));
  EXPECT_EQ(test_support::error_of([&] {
              scan(x, Variable(Tensor::zeros({11, 3})), offsets());
            }),
            "scan: keep is [11, 3], must be [11, 4]");
  EXPECT_EQ(test_support::error_of([&] {
              scan(x, x, tensor::host_tensor(std::vector<int32_t>{0, 10}));
            }),
            "scan: offsets run from 0 to 10, must run from 0 to the number of rows, 11");
}

}  // namespace
}  // namespace dragoman::ops
