// Laws of Muon: its orthogonalisation in float64, updates of PyTorch's formulas, and that it leaves all else to Adam.
#include "training/muon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "models/decoder_only/decoder_only.h"
#include "training/optimizer.h"

namespace dragoman::training {
namespace {

using tensor::Tensor;
using Matrix = std::vector<double>;

Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (float& value : values) {
    value = static_cast<float>(random.normal());
  }
  return Tensor::from<float>(values, {rows, columns});
}

// a [m, k] times b [k, n].
Matrix product(const Matrix& a, const Matrix& b, size_t m, size_t k, size_t n) {
  Matrix c(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t l = 0; l < k; ++l) {
      for (size_t j = 0; j < n; ++j) {
        c[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
  }
  return c;
}

Matrix transposed(const Matrix& a, size_t m, size_t n) {
  Matrix t(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      t[j * m + i] = a[i * n + j];
    }
  }
  return t;
}

// The formula as it stands, with X X^T whatever the shape.
Matrix newton_schulz(const Tensor& matrix) {
  const auto m = static_cast<size_t>(matrix.dim(0)), n = static_cast<size_t>(matrix.dim(1));
  const std::vector<float> values = matrix.to_vector<float>();
  Matrix x(values.begin(), values.end());
  double square = 0;
  for (const double value : x) {
    square += value * value;
  }
  for (double& value : x) {
    value /= std::sqrt(square) + 1e-7;
  }
  for (int step = 0; step < 5; ++step) {
    const Matrix gram = product(x, transposed(x, m, n), m, n, m), second = product(gram, gram, m, m, m);
    Matrix polynomial(m * m);
    for (size_t i = 0; i < m * m; ++i) {
      polynomial[i] = -4.7750 * gram[i] + 2.0315 * second[i] + (i % (m + 1) == 0 ? 3.4445 : 0.0);
    }
    x = product(polynomial, x, m, m, n);
  }
  return x;
}

struct Shape {
  int64_t rows, columns;
};
constexpr Shape kShapes[] = {{1, 1}, {1, 7}, {7, 1}, {3, 4}, {16, 16}, {24, 40}, {40, 24}, {65, 33}};

TEST(Muon, OrthogonalisesAsTheFormulaInFloat64) {
  for (const auto [rows, columns] : kShapes) {
    const Tensor matrix = random_matrix(rows, columns, static_cast<uint64_t>(rows + columns));
    const std::vector<float> result = orthogonalised(matrix).to_vector<float>();
    const Matrix expected = newton_schulz(matrix);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(result[i], expected[i], 1e-4) << rows << " x " << columns << ", element " << i;
    }
  }
}

// Strips of the symmetric products are computed once, of wide and tall matrices whose sides strips do not divide.
TEST(Muon, LargeMatricesFollowTheFormulaToo) {
  for (const auto [rows, columns] : {Shape{257, 300}, Shape{300, 257}, Shape{259, 259}}) {
    const Tensor matrix = random_matrix(rows, columns, 11);
    const std::vector<float> result = orthogonalised(matrix).to_vector<float>();
    const Matrix expected = newton_schulz(matrix);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(result[i], expected[i], 1e-4) << rows << " x " << columns << ", element " << i;
    }
  }
}

// Root mean square of the difference, beside elements of about 1 / sqrt(24) and 1 / sqrt(300).
TEST(Muon, Bfloat16IsNear) {
  for (const auto [rows, columns] : {Shape{24, 40}, Shape{300, 257}}) {
    const Tensor matrix = random_matrix(rows, columns, 12);
    const std::vector<float> exact = orthogonalised(matrix).to_vector<float>(),
                             near = orthogonalised(matrix, kernels::Precision::kBFloat16).to_vector<float>();
    double squares = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      squares += std::pow(static_cast<double>(exact[i]) - static_cast<double>(near[i]), 2);
    }
    EXPECT_LT(std::sqrt(squares / static_cast<double>(exact.size())), 0.03 / std::sqrt(rows)) << rows;
  }
}

// The sum of the squared singular values, which are near 1 each; the length of the matrix does not matter.
TEST(Muon, SingularValuesBecomeNearlyOne) {
  for (const auto [rows, columns] : kShapes) {
    Tensor matrix = random_matrix(rows, columns, 5);
    for (const float factor : {1.0F, 1e-3F}) {
      std::vector<float> values = matrix.to_vector<float>();
      for (float& value : values) {
        value *= factor;
      }
      double square = 0;
      for (const float value : orthogonalised(Tensor::from<float>(values, {rows, columns})).to_vector<float>()) {
        square += static_cast<double>(value) * static_cast<double>(value);
      }
      const auto n = static_cast<double>(std::min(rows, columns));
      EXPECT_GT(square, 0.4 * n) << rows << " x " << columns;
      EXPECT_LT(square, 1.5 * n) << rows << " x " << columns;
    }
  }
}

TEST(Muon, AMatrixOfZerosStaysOne) {
  EXPECT_THAT(orthogonalised(Tensor::zeros({3, 5})).to_vector<float>(), testing::Each(0.0F));
}

struct Golden {
  Shape shape;
  std::vector<float> weights;
  std::vector<float> gradients[2];
  std::vector<float> expected;  // weights
  std::vector<float> momentum;
};

// Two updates in float64 by PyTorch, rate 0.05, weight decay 0.1; torch.optim.Muon, which rounds its products to
// bfloat16, gives the same to three digits.
const Golden kGolden[] = {
    {{3, 4},
     {0.8F, 0.17F, 0.09F, -0.61F, 0.05F, -1.37F, 0.34F, 1.01F, -1.44F, 0.98F, 0.52F, 1.24F},
     {{-0.86F, 0.3F, 0.42F, -0.08F, 0.93F, 0.82F, 0.5F, -0.16F, -0.68F, -1.06F, 0.75F, 0.24F},
      {-0.39F, 0.15F, -1.18F, 0.53F, -1.45F, -0.63F, 0.15F, -0.25F, 0.45F, 0.01F, 1.34F, 1.46F}},
     {0.8211024F, 0.1533625F, 0.09401661F, -0.6132429F, 0.05463464F, -1.362316F, 0.3151049F, 1.008714F, -1.420849F,
      0.9894338F, 0.485461F, 1.20718F},
     {-0.06035F, 0.02175F, -0.03905F, 0.0227F, -0.028325F, 0.00745F, 0.03125F, -0.0201F, -0.0098F, -0.04985F, 0.102625F,
      0.0844F}},
    {{4, 2},
     {0.44F, 1.02F, -2.19F, 0.21F, -0.94F, -0.32F, -1.05F, 0.82F},
     {{-0.53F, 0.81F, -0.8F, -1.05F, -0.11F, 0.35F, -0.44F, -0.95F},
      {-0.06F, -1.44F, -1.21F, 1.09F, -0.5F, 0.76F, -0.68F, 0.84F}},
     {0.4574018F, 1.011892F, -2.143073F, 0.2113008F, -0.923485F, -0.3302313F, -1.02784F, 0.8167104F},
     {-0.028175F, -0.033525F, -0.0985F, 0.004625F, -0.030225F, 0.054625F, -0.0549F, -0.003125F}}};

TEST(Muon, TwoUpdatesAreThoseOfPyTorch) {
  for (const Golden& golden : kGolden) {
    const auto [rows, columns] = golden.shape;
    Tensor weight = Tensor::from<float>(golden.weights, {rows, columns});
    Tensor momentum = Tensor::zeros({rows * columns}), direction = Tensor::zeros({rows * columns});
    for (const std::vector<float>& gradients : golden.gradients) {
      muon_direction(Tensor::from<float>(gradients, {rows * columns}), momentum, direction, {});
      muon_step(weight, direction.reshape({rows, columns}), 0.05, 0.1);
    }
    EXPECT_THAT(weight.to_vector<float>(), testing::Pointwise(testing::FloatNear(2e-6F), golden.expected));
    EXPECT_THAT(momentum.to_vector<float>(), testing::Pointwise(testing::FloatNear(1e-7F), golden.momentum));
  }
}

TEST(Muon, AScaledGradientIsOneThatWasScaledBefore) {
  const Tensor gradients = Tensor::from<float>({2, -4, 8}, {3}), halved = Tensor::from<float>({1, -2, 4}, {3});
  Tensor momentum = Tensor::zeros({3}), direction = Tensor::zeros({3});
  Tensor momentum_of_half = Tensor::zeros({3}), direction_of_half = Tensor::zeros({3});
  muon_direction(gradients, momentum, direction, {.gradient_scale = 0.5});
  muon_direction(halved, momentum_of_half, direction_of_half, {});
  EXPECT_EQ(direction.to_vector<float>(), direction_of_half.to_vector<float>());
  EXPECT_EQ(momentum.to_vector<float>(), momentum_of_half.to_vector<float>());
}

models::DecoderOnlyConfig small_model() {
  models::DecoderOnlyConfig config;
  config.vocab_size = 37;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  config.max_positions = 24;
  config.tied_output = false;
  return config;
}

// Weights after three updates with random gradients, the elements cut into as many parts as there are workers.
std::vector<float> updated(OptimizerKind kind, int workers) {
  models::DecoderOnly model(small_model());
  model.parameters().allocate();
  model.parameters().initialize(3);
  Optimizer optimizer({.weight_decay = 0.1, .optimizer = kind}, model.parameters(), workers);
  EXPECT_EQ(optimizer.has_matrices(), kind == OptimizerKind::kMuon);
  const int64_t size = model.parameters().flat_size();
  for (int64_t step = 1; step <= 3; ++step) {
    const Tensor gradients = random_matrix(size, 1, static_cast<uint64_t>(step)).reshape({size});
    const kernels::AdamScalars scalars = optimizer.scalars(1e-2, 0.7, step);
    for (int worker = 0; worker < workers; ++worker) {
      optimizer.update(model.parameters().mutable_values(), gradients, distributed::part_of(size, worker, workers),
                       scalars);
    }
    for (int worker = 0; worker < workers && optimizer.has_matrices(); ++worker) {
      optimizer.update_matrices(model.parameters().mutable_values(), worker, scalars, kernels::Precision::kFloat32);
    }
  }
  return model.parameters().values().to_vector<float>();
}

TEST(Muon, IsTheSameWithAnyNumberOfWorkersBitForBit) {
  const std::vector<float> one = updated(OptimizerKind::kMuon, 1);
  EXPECT_EQ(updated(OptimizerKind::kMuon, 2), one);
  EXPECT_EQ(updated(OptimizerKind::kMuon, 5), one);
}

// Statistics of batch norms move on their own.
TEST(Adam, DecayLeavesWhatIsNotTrained) {
  for (const Decayed decayed : {Decayed::kAll, Decayed::kMatrices}) {
    nn::ParameterSet parameters;
    const nn::ParameterHandle matrix = parameters.declare("matrix", {2, 2}, nn::Initializer::kOnes);
    const nn::ParameterHandle kept = parameters.declare("kept", {4}, nn::Initializer::kOnes);
    kept->is_trained = false;
    parameters.allocate();
    parameters.initialize(1);
    Optimizer optimizer({.weight_decay = 0.5, .decayed = decayed}, parameters);
    const int64_t size = parameters.flat_size();
    optimizer.update(parameters.mutable_values(), Tensor::zeros({size}), distributed::part_of(size, 0, 1),
                     optimizer.scalars(0.1, 1.0, 1));
    EXPECT_EQ(kept->variable.value().to_vector<float>(), std::vector<float>(4, 1.0F));
    EXPECT_LT(matrix->variable.value().to_vector<float>().front(), 1.0F);
  }
}

TEST(Muon, UpdatesTheMatricesOfLayersAndAdamAllElse) {
  const std::vector<float> adam = updated(OptimizerKind::kAdam, 2), muon = updated(OptimizerKind::kMuon, 2);
  const models::DecoderOnly model(small_model());
  int matrices = 0;
  for (const auto& parameter : model.parameters().parameters()) {
    const auto begin = static_cast<std::ptrdiff_t>(parameter->offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(parameter->shape.size());
    const bool same = std::equal(adam.begin() + begin, adam.begin() + end, muon.begin() + begin);
    const bool is_matrix = parameter->shape.rank() == 2 && parameter->path.starts_with("layers.");
    EXPECT_EQ(same, !is_matrix) << parameter->path;
    matrices += is_matrix ? 1 : 0;
  }
  EXPECT_EQ(matrices, 2 * 6) << "query, key, value, output and two of the feed-forward";
}

TEST(Muon, SaysWhatMemoryItNeeds) {
  const models::DecoderOnly model(small_model());
  EXPECT_EQ(Optimizer::scratch_elements({}, model.parameters()), 0);
  EXPECT_EQ(Optimizer::scratch_elements({.optimizer = OptimizerKind::kMuon}, model.parameters()),
            2 * (16 * 24 + 16 * 16));
}

}  // namespace
}  // namespace dragoman::training
