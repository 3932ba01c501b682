#include "ops/neighbours.h"

#include "ops/linear.h"
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

const std::vector<int32_t> kOffsets = {0, 4, 4, 5, 11};

Tensor offsets() {
  return tensor::host_tensor(kOffsets);
}

test_support::Function around(int64_t before, int64_t after) {
  return [=](const std::vector<Variable>& v) { return neighbours(v[0], offsets(), before, after); };
}

TEST(Neighbours, KnownRows) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3, 1});
  const Tensor y = neighbours(Variable(x), tensor::host_tensor(std::vector<int32_t>{0, 2, 3}), 1, 1).value();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 1, 2, 1, 2, 0, 0, 3, 0}));
}

TEST(Neighbours, GradientsAgreeWithFiniteDifferences) {
  for (const auto& [before, after] : {std::pair<int64_t, int64_t>{0, 0}, {2, 0}, {1, 1}, {0, 3}, {9, 2}}) {
    test_support::check_gradients(around(before, after), {random_tensor({11, 3})});
  }
}

// The rows are those of the reference; sums of gradients agree to rounding.
TEST(Neighbours, Float32AgreesWithFloat64) {
  for (const int64_t columns : {1, 7, 8, 31, 33, 64, 65}) {
    const Tensor x = random_tensor({11, columns}), weights = random_tensor({11, 4 * columns}, DType::kFloat64, 3);
    const Tensor view = strided_copy(x.to(DType::kFloat32));
    EXPECT_TRUE(close(around(2, 1)({Variable(view)}).value(), around(2, 1)({Variable(x)}).value(), 1e-7));
    EXPECT_TRUE(close(gradients(around(2, 1), {view}, weights.to(DType::kFloat32))[0],
                      gradients(around(2, 1), {x}, weights)[0], 1e-6));
  }
}

// A convolution: the bits of a row depend on the rows around it alone.
TEST(Neighbours, AConvolutionOfASentenceAloneEqualsItInABatch) {
  const Tensor x = random_tensor({11, 40}, DType::kFloat32), weight = random_tensor({120, 24}, DType::kFloat32, 2);
  const auto convolution = [&](const Tensor& rows, const Tensor& ends) {
    return linear(neighbours(Variable(rows), ends, 2, 0), Variable(weight), {}).value();
  };
  const Tensor together = convolution(x, offsets());
  const Tensor alone = convolution(x.rows(5, 11), tensor::host_tensor(std::vector<int32_t>{0, 6}));
  EXPECT_TRUE(same_bits(alone, together.rows(5, 11).clone()));
}

TEST(Neighbours, NoRowsAreNoRows) {
  const Tensor none = Tensor::zeros({0, 4});
  EXPECT_EQ(neighbours(Variable(none), tensor::host_tensor(std::vector<int32_t>{0}), 1, 1).shape(),
            (tensor::Shape{0, 12}));
}

TEST(Neighbours, RefusesOtherOffsets) {
  const Variable x(Tensor::zeros({12, 4}));
  EXPECT_EQ(test_support::error_of([&] { neighbours(x, offsets(), 1, 1); }),
            "neighbours: offsets run from 0 to 11, must run from 0 to the number of rows, 12");
  EXPECT_EQ(test_support::error_of([&] { neighbours(x, offsets(), -1, 0); }),
            "neighbours: before is -1, after is 0; must be >= 0");
}

}  // namespace
}  // namespace dragoman::ops
