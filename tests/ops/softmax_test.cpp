#include "ops/softmax.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Variable softmax_of(const std::vector<Variable>& in) {
  return softmax(in[0]);
}
Variable log_softmax_of(const std::vector<Variable>& in) {
  return log_softmax(in[0]);
}

// Spread over [-factor, factor], so that exponents matter.
Tensor logits_of(int64_t rows, int64_t columns, double factor) {
  Tensor logits = random_tensor({rows, columns});
  for (double& value : logits.span<double>()) {
    value *= factor;
  }
  return logits;
}

TEST(Softmax, BackwardMatchesCentralDifferences) {
  test_support::check_gradients(softmax_of, {logits_of(3, 5, 2)});
  test_support::check_gradients(log_softmax_of, {logits_of(3, 5, 2)});
}

TEST(Softmax, KernelMatchesReference) {
  for (const int64_t columns : {1, 7, 8, 31, 33, 64, 65, 300, 10000}) {
    const Tensor logits = logits_of(3, columns, 12), weights = random_tensor({3, columns}, DType::kFloat64, 2);
    const Tensor small = test_support::strided_copy(logits.to(DType::kFloat32));
    for (const test_support::Function& function :
         {test_support::Function(softmax_of), test_support::Function(log_softmax_of)}) {
      const bool logarithm = function({Variable(logits)}).value().data<double>()[0] <= 0;
      const std::string label = (logarithm ? "log_softmax, C=" : "softmax, C=") + std::to_string(columns);
      EXPECT_TRUE(close(function({Variable(small)}).value(), function({Variable(logits)}).value(), 2e-6)) << label;
      EXPECT_TRUE(close(test_support::gradients(function, {small}, weights.to(DType::kFloat32))[0],
                        test_support::gradients(function, {logits}, weights)[0], 3e-6))
          << label;
    }
  }
}

// Rows [0, x] leave nothing to round but the exponential itself: its relative error over the whole range.
TEST(Softmax, SmallProbabilitiesAreRelativelyExact) {
  for (double x = 0; x > -87; x -= 0.0371) {
    const float rounded = static_cast<float>(x);
    const Tensor row = Tensor::from(std::vector<float>{0, rounded}, {1, 2});
    const double exact = 1.0 / (1.0 + std::exp(-static_cast<double>(rounded)));
    EXPECT_NEAR(softmax(Variable(row)).value().data<float>()[1] / exact, 1.0, 4e-7) << "x = " << rounded;
  }
}

TEST(Softmax, ExtremesStayFinite) {
  const Tensor logits = Tensor::from(std::vector<float>{-1e30F, 0, 1e30F, 88, 89, 90, -kInfinity, 3, 3}, {3, 3});
  EXPECT_TRUE(close(
      softmax(Variable(logits)).value(),
      Tensor::from(std::vector<float>{0, 0, 1, 0.09003057F, 0.24472847F, 0.66524096F, 0, 0.5F, 0.5F}, {3, 3}), 1e-6));
  EXPECT_EQ(log_softmax(Variable(logits)).value().data<float>()[6], -kInfinity);
}

TEST(Softmax, NotANumberIsNotHidden) {
  for (int64_t place = 0; place < 40; ++place) {
    Tensor logits = Tensor::zeros({1, 40});
    logits.data<float>()[place] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(softmax(Variable(logits)).value().data<float>()[0])) << "NaN at " << place;
    EXPECT_TRUE(std::isnan(log_softmax(Variable(logits)).value().data<float>()[0])) << "NaN at " << place;
  }
}

TEST(Softmax, RefusesWhatIsNoFloatMatrix) {
  EXPECT_EQ(test_support::error_of([] { softmax(Variable(Tensor::zeros({3}))); }),
            "softmax: x is [3], must be a matrix");
  EXPECT_THAT(test_support::error_of([] {
                log_softmax(Variable(Tensor::zeros({3, 1}, DType::kInt32)));
              }),
              testing::HasSubstr("log_softmax: x is int32"));
}

}  // namespace
}  // namespace dragoman::ops
