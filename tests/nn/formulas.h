#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace dragoman::nn {

/// A matrix as rows of float64 numbers.
using Matrix = std::vector<std::vector<double>>;

inline Matrix matrix_of(const Tensor& tensor) {
  const std::vector<double> values = tensor.to(tensor::DType::kFloat64).to_vector<double>();
  Matrix matrix(static_cast<size_t>(tensor.dim(0)), std::vector<double>(static_cast<size_t>(tensor.dim(1))));
  for (size_t n = 0, next = 0; n < matrix.size(); ++n) {
    for (double& element : matrix[n]) {
      element = values[next++];
    }
  }
  return matrix;
}

inline Tensor tensor_of(const Matrix& matrix) {
  std::vector<double> values;
  for (const std::vector<double>& row : matrix) {
    values.insert(values.end(), row.begin(), row.end());
  }
  return Tensor::from(values, {static_cast<int64_t>(matrix.size()), static_cast<int64_t>(matrix.at(0).size())});
}

inline Matrix add(const Matrix& left, const Matrix& right) {
  Matrix sum = left;
  for (size_t n = 0; n < sum.size(); ++n) {
    std::ranges::transform(left[n], right[n], sum[n].begin(), std::plus<>());
  }
  return sum;
}

/// The formulas of the layers in plain loops, with the parameters that stand under the paths of a set.
/// The tests of the layers compare with them.
class Formulas {
 public:
  explicit Formulas(const ParameterSet& parameters) : parameters_(parameters) {}

  /// y = x W + b.
  Matrix linear(const std::string& path, const Matrix& x) const {
    const Matrix weight = matrix_of(parameters_.find(path + ".weight").variable.value());
    const std::vector<double> bias = vector(path + ".bias");
    Matrix y(x.size(), bias);
    for (size_t n = 0; n < x.size(); ++n) {
      for (size_t k = 0; k < weight.size(); ++k) {
        for (size_t c = 0; c < bias.size(); ++c) {
          y[n][c] += x[n][k] * weight[k][c];
        }
      }
    }
    return y;
  }

  /// y = (x - mean) / sqrt(variance + epsilon) * gain + bias.
  Matrix layer_norm(const std::string& path, const Matrix& x, double epsilon) const {
    const std::vector<double> gain = vector(path + ".gain"), bias = vector(path + ".bias");
    Matrix y = x;
    for (std::vector<double>& row : y) {
      const auto width = static_cast<double>(row.size());
      double mean = 0, variance = 0;
      for (const double value : row) {
        mean += value / width;
      }
      for (const double value : row) {
        variance += (value - mean) * (value - mean) / width;
      }
      for (size_t c = 0; c < row.size(); ++c) {
        row[c] = (row[c] - mean) / std::sqrt(variance + epsilon) * gain[c] + bias[c];
      }
    }
    return y;
  }

  /// y = max(0, x W1 + b1) W2 + b2.
  Matrix feed_forward(const std::string& path, const Matrix& x) const {
    Matrix hidden = linear(path + ".inner", x);
    for (std::vector<double>& row : hidden) {
      std::ranges::transform(row, row.begin(), [](double value) { return std::max(0.0, value); });
    }
    return linear(path + ".outer", hidden);
  }

  /// The rows of one sentence: Concat(head_1 .. head_H) W^O, head_i = softmax(Q_i K_i^T / sqrt(Dh)) V_i.
  /// @param causal  query t sees the keys 0 .. t alone
  Matrix attention(const std::string& path, const Matrix& x, const Matrix& memory, size_t heads, bool causal) const {
    const Matrix query = linear(path + ".query", x);
    const Matrix key = linear(path + ".key", memory), value = linear(path + ".value", memory);
    const size_t width = query[0].size(), d_head = width / heads;
    Matrix context(x.size(), std::vector<double>(width));
    for (size_t t = 0; t < x.size(); ++t) {
      const size_t visible = causal ? t + 1 : memory.size();
      for (size_t begin = 0; begin < width; begin += d_head) {
        std::vector<double> weights(visible);
        double sum = 0;
        for (size_t s = 0; s < visible; ++s) {
          double score = 0;
          for (size_t c = begin; c < begin + d_head; ++c) {
            score += query[t][c] * key[s][c];
          }
          weights[s] = std::exp(score / std::sqrt(static_cast<double>(d_head)));
          sum += weights[s];
        }
        for (size_t s = 0; s < visible; ++s) {
          for (size_t c = begin; c < begin + d_head; ++c) {
            context[t][c] += weights[s] / sum * value[s][c];
          }
        }
      }
    }
    return linear(path + ".output", context);
  }

 private:
  std::vector<double> vector(const std::string& path) const {
    return parameters_.find(path).variable.value().to(tensor::DType::kFloat64).to_vector<double>();
  }

  const ParameterSet& parameters_;
};

}  // namespace dragoman::nn
