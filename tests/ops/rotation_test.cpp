#include "ops/rotation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

constexpr double kTheta = 10000;

Tensor positions_of(const std::vector<int32_t>& positions) {
  return Tensor::from(positions, {std::ssize(positions)});
}

// [P, Dh] in float64, as the reference takes it.
Tensor exact_table(int64_t n_positions, int64_t d_head) {
  return rotation_table(n_positions, d_head, kTheta).to(DType::kFloat64);
}

test_support::Function rotation_by(const Tensor& positions, const Tensor& table) {
  return [=](const std::vector<Variable>& v) { return rotate(v[0], positions, table); };
}

TEST(Rotation, GradientsAgreeWithFiniteDifferences) {
  test_support::check_gradients(rotation_by(positions_of({0, 5, 2}), exact_table(6, 6)), {random_tensor({3, 12})});
}

// A pair of columns is a complex number that is multiplied by e^(i angle).
TEST(Rotation, TurnsPairsOfColumnsAsComplexNumbers) {
  const std::vector<int32_t> positions{3, 0, 700, 41};
  const Tensor x = random_tensor({4, 24});
  const std::vector<double> from = x.to_vector<double>();
  const std::vector<double> seen =
      rotate(Variable(x), positions_of(positions), exact_table(701, 8)).value().to_vector<double>();
  for (size_t row = 0; row < 4; ++row) {
    for (size_t head = 0; head < 3; ++head) {
      for (size_t i = 0; i < 4; ++i) {
        const size_t at = row * 24 + head * 8 + i;
        const double angle = positions[row] * std::pow(kTheta, -2.0 * static_cast<double>(i) / 8);
        const std::complex<double> turned = std::complex(from[at], from[at + 4]) * std::polar(1.0, angle);
        EXPECT_NEAR(seen[at], turned.real(), 1e-4) << "row " << row << ", head " << head << ", pair " << i;
        EXPECT_NEAR(seen[at + 4], turned.imag(), 1e-4);
      }
    }
  }
}

TEST(Rotation, ProductsDependOnTheDistanceAlone) {
  const Tensor query = random_tensor({1, 16}, DType::kFloat64, 1), key = random_tensor({1, 16}, DType::kFloat64, 2);
  const Tensor table = exact_table(64, 16);
  const auto product = [&](int32_t query_position, int32_t key_position) {
    const auto q = rotate(Variable(query), positions_of({query_position}), table).value().to_vector<double>();
    const auto k = rotate(Variable(key), positions_of({key_position}), table).value().to_vector<double>();
    double sum = 0;
    for (size_t i = 0; i < q.size(); ++i) {
      sum += q[i] * k[i];
    }
    return sum;
  };
  EXPECT_NEAR(product(7, 3), product(60, 56), 1e-5);
  EXPECT_GT(std::abs(product(7, 3) - product(7, 5)), 1e-3);
}

TEST(Rotation, KernelMatchesReference) {
  const std::vector<int32_t> positions{9, 0, 3, 3, 1};
  for (const int64_t d_head : {2, 6, 14, 16, 32, 34, 62, 128}) {
    const Tensor table = rotation_table(10, d_head, kTheta);
    const Tensor x = random_tensor({5, 3 * d_head}), weights = random_tensor({5, 3 * d_head}, DType::kFloat64, 3);
    const auto exact = rotation_by(positions_of(positions), table.to(DType::kFloat64));
    const auto fast = rotation_by(positions_of(positions), table);
    const Tensor view = strided_copy(x.to(DType::kFloat32));
    EXPECT_TRUE(close(fast({Variable(view)}).value(), exact({Variable(x)}).value(), 1e-6)) << d_head;
    EXPECT_TRUE(close(gradients(fast, {view}, weights.to(DType::kFloat32))[0], gradients(exact, {x}, weights)[0], 1e-6))
        << d_head;
  }
}

TEST(Rotation, BFloat16IsTheFloat32ResultRounded) {
  for (const int64_t d_head : {2, 14, 32, 66}) {
    const auto function = rotation_by(positions_of({2, 7, 5}), rotation_table(10, d_head, kTheta));
    const Tensor x = random_tensor({3, 2 * d_head}, DType::kBFloat16), wide = x.to(DType::kFloat32);
    const Tensor grad = random_tensor({3, 2 * d_head}, DType::kBFloat16, 3);
    EXPECT_TRUE(same_bits(function({Variable(strided_copy(x))}).value(),
                          function({Variable(wide)}).value().to(DType::kBFloat16)));
    EXPECT_TRUE(same_bits(gradients(function, {x}, grad)[0],
                          gradients(function, {wide}, grad.to(DType::kFloat32))[0].to(DType::kBFloat16)));
  }
}

// The angles of position 1 are the frequencies.
std::vector<double> frequencies(const FrequencyScaling& scaling, int64_t d_head = 128, double theta = 500000) {
  const std::vector<float> table = rotation_table(2, d_head, theta, scaling).to_vector<float>();
  std::vector<double> angles;
  for (int64_t i = 0; i < d_head / 2; ++i) {
    const auto at = static_cast<size_t>(d_head + i), half = static_cast<size_t>(d_head / 2);
    angles.push_back(std::atan2(static_cast<double>(table[at + half]), static_cast<double>(table[at])));
  }
  return angles;
}

TEST(Rotation, LinearScalingDividesFrequencies) {
  const auto plain = frequencies({}), linear = frequencies({.kind = RotationScaling::kLinear, .factor = 4});
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(linear[i], plain[i] / 4, 1e-6) << i;
  }
}

// Of the wave length: long waves are divided, short ones kept, those between mixed.
TEST(Rotation, Llama3ScalingDividesLowFrequencies) {
  const FrequencyScaling scaling{RotationScaling::kLlama3, 8, 1, 4, 8192};
  const auto plain = frequencies({}), seen = frequencies(scaling);
  int kept = 0, mixed = 0, divided = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double frequency = std::pow(500000.0, -2.0 * static_cast<double>(i) / 128);
    const double length = 2 * std::numbers::pi / frequency;
    double expected = frequency;
    if (length > 8192.0) {
      expected = frequency / 8;
      ++divided;
    } else if (length >= 2048.0) {
      const double share = (8192.0 / length - 1) / 3;
      expected = frequency * ((1 - share) / 8 + share);
      ++mixed;
    } else {
      ++kept;
    }
    EXPECT_NEAR(seen[i], expected, 1e-6 * expected) << i;
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(mixed, 2);
  EXPECT_GT(divided, 10);
}

TEST(Rotation, ErrorsNameTheArgument) {
  const Tensor table = rotation_table(8, 4, kTheta);
  const Variable x(Tensor::zeros({1, 10})), eight(Tensor::zeros({1, 8}));
  EXPECT_THAT(
      [&] { rotate(x, positions_of({0}), table); },
      testing::ThrowsMessage<base::Error>("rotate: x has width 10, must be a multiple of the width of table, 4"));
  EXPECT_THAT([&] { rotate(eight, positions_of({8}), table); },
              testing::ThrowsMessage<base::Error>("rotate: positions[0] is 8, must be in [0, 8)"));
  EXPECT_THAT([] { std::ignore = rotation_table(8, 5, kTheta); },
              testing::ThrowsMessage<base::Error>("rotation_table: d_head is 5, must be even and positive"));
  EXPECT_THAT([] { std::ignore = rotation_table(8, 4, 0); },
              testing::ThrowsMessage<base::Error>("rotation_table: theta is 0, must be > 0"));
}

}  // namespace
}  // namespace dragoman::ops
