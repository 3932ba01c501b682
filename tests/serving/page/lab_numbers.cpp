// Prints what the ops compute for the experiments of the page's laboratory, as JSON: a list of {"of", "given",
// "result"}. lab_check.mjs compares the page's functions with it.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/layer_norm.h"
#include "ops/matmul.h"
#include "ops/softmax.h"

namespace dragoman {
namespace {

using autograd::Tape;
using autograd::TapeScope;
using kernels::Transpose;
using nlohmann::json;
using ops::Variable;
using tensor::DType;
using tensor::Tensor;
using Numbers = std::vector<double>;

constexpr double kWidth = 0.6;

Numbers normal_numbers(size_t count, uint64_t seed) {
  base::Random random(seed);
  Numbers numbers(count);
  for (double& number : numbers) {
    number = random.normal();
  }
  return numbers;
}

Variable row_of(const Numbers& numbers) {
  return Variable(Tensor::from(numbers, {1, static_cast<int64_t>(numbers.size())}));
}

Variable column_of(const Numbers& numbers) {
  return Variable(Tensor::from(numbers, {static_cast<int64_t>(numbers.size()), 1}));
}

Numbers numbers_of(const Tensor& tensor) {
  return tensor.to(DType::kFloat64).to_vector<double>();
}

Variable product(const Variable& left, const Variable& right) {
  return ops::matmul(left, Transpose::kNo, right, Transpose::kNo);
}

json softmax_case() {
  const Numbers scores = normal_numbers(7, 1);
  return {{"of", "softmax"}, {"given", scores}, {"result", numbers_of(ops::softmax(row_of(scores)).value())}};
}

// Row i is the gradient of weight i.
json jacobian_case() {
  const Numbers scores = normal_numbers(5, 2);
  json jacobian = json::array();
  for (size_t i = 0; i < scores.size(); ++i) {
    Numbers chosen(scores.size(), 0.0);
    chosen[i] = 1.0;
    Tape tape;
    const TapeScope recording(&tape);
    const Variable x(row_of(scores).value(), /*requires_grad=*/true);
    tape.backward(ops::sum(ops::multiply(ops::softmax(x), row_of(chosen))));
    for (const double derivative : numbers_of(x.grad())) {
      jacobian.push_back(derivative);
    }
  }
  return {{"of", "jacobian"}, {"given", scores}, {"result", std::move(jacobian)}};
}

json kernel_cases() {
  const Numbers keys = normal_numbers(9, 3), values = normal_numbers(9, 4);
  const double query = 0.3;
  Numbers squares, room;  // (q - x)^2;  1 - |q - x| / w
  for (const double key : keys) {
    squares.push_back((query - key) * (query - key));
    room.push_back(1.0 - std::abs(query - key) / kWidth);
  }
  const Variable gaussian = ops::softmax(ops::scale(row_of(squares), -0.5 / (kWidth * kWidth)));
  const Variable heights = ops::activation(row_of(room), ops::Activation::kRelu);
  const double total = product(heights, column_of(Numbers(keys.size(), 1.0))).value().item();
  const Variable triangle = ops::scale(heights, 1.0 / total);
  json cases = json::array();
  for (const auto& [name, weights] : {std::pair{"gaussian", gaussian}, {"triangle", triangle}}) {
    cases.push_back(
        {{"of", "kernel"},
         {"given", {{"kernel", name}, {"width", kWidth}, {"query", query}, {"keys", keys}, {"values", values}}},
         {"result", numbers_of(weights.value())},
         {"answer", product(weights, column_of(values)).value().item()}});
  }
  return cases;
}

// Gradient descent on the error of predicting each value from the others, as in examples/kernel_regression.cpp.
json learning_case() {
  constexpr int64_t kCount = 12;
  constexpr double kRate = 0.4;
  const Numbers keys = normal_numbers(kCount, 5), values = normal_numbers(kCount, 6);
  Numbers squares, hidden;
  for (int64_t i = 0; i < kCount; ++i) {
    for (int64_t j = 0; j < kCount; ++j) {
      squares.push_back(std::pow(keys[size_t(i)] - keys[size_t(j)], 2));
      hidden.push_back(i == j ? -1e9 : 0.0);
    }
  }
  const Variable distances(Tensor::from(squares, {kCount, kCount})), diagonal(Tensor::from(hidden, {kCount, kCount}));
  Variable theta(Tensor::full({1}, -std::log(2.0 * kWidth * kWidth), DType::kFloat64), /*requires_grad=*/true);
  Numbers thetas, losses;
  for (int step = 0; step < 30; ++step) {
    Tape tape;
    const TapeScope recording(&tape);
    const Variable scores = ops::add(ops::multiply(ops::scale(distances, -1.0), ops::exp(theta)), diagonal);
    const Variable errors = ops::subtract(product(ops::softmax(scores), column_of(values)), column_of(values));
    const Variable loss = ops::mean(ops::square(errors));
    thetas.push_back(theta.value().item());
    losses.push_back(loss.value().item());
    tape.backward(loss);
    theta.mutable_value().fill(theta.value().item() - kRate * theta.grad().item());
    theta.clear_grad();
  }
  return {{"of", "learning"},
          {"given", {{"rate", kRate}, {"keys", keys}, {"values", values}}},
          {"thetas", thetas},
          {"result", losses}};
}

json positions_case() {
  return {{"of", "positions"}, {"given", {40, 16}}, {"result", numbers_of(ops::sinusoidal_positions(40, 16))}};
}

// The places of a cube [B, T, C], those of one set after another; all sets have `width` places.
struct Order {
  std::vector<size_t> places;
  int64_t width;
};

constexpr int64_t kB = 3, kT = 4, kC = 6, kGroups = 2;

Order order_of(const std::string& norm) {
  const auto place = [](int64_t b, int64_t t, int64_t c) { return static_cast<size_t>((b * kT + t) * kC + c); };
  Order order{{}, norm == "layer" ? kC : norm == "batch" ? kB * kT : norm == "instance" ? kT : kT * kC / kGroups};
  const int64_t part = norm == "layer" ? kC : norm == "group" ? kC / kGroups : 1;  // features of a set
  const bool by_feature = norm == "batch";
  for (int64_t outer = 0; outer < (by_feature ? kC : kB); ++outer) {
    for (int64_t first = 0; first < (by_feature ? 1 : kC); first += part) {
      for (int64_t inner = 0; inner < (by_feature ? kB : 1); ++inner) {
        for (int64_t t = 0; t < kT; ++t) {
          for (int64_t c = first; c < first + part; ++c) {
            order.places.push_back(by_feature ? place(inner, t, outer) : place(outer, t, c));
          }
        }
      }
    }
  }
  return order;
}

// Every norm is the layer norm of rows that hold its sets.
json norm_case(const std::string& norm) {
  const Numbers cube = normal_numbers(kB * kT * kC, 7);
  const Order order = order_of(norm);
  Numbers rows;
  for (const size_t place : order.places) {
    rows.push_back(cube[place]);
  }
  const Tensor x = Tensor::from(rows, {kB * kT * kC / order.width, order.width});
  const Variable gain(Tensor::full({order.width}, 1.0, DType::kFloat64)),
      bias(Tensor::zeros({order.width}, DType::kFloat64));
  const Numbers y = numbers_of(ops::layer_norm(Variable(x), gain, bias, 1e-5F).value());
  Numbers result(cube.size());
  for (size_t i = 0; i < order.places.size(); ++i) {
    result[order.places[i]] = y[i];
  }
  return {{"of", "norm"}, {"given", {{"norm", norm}, {"cube", cube}, {"groups", kGroups}}}, {"result", result}};
}

json mask_case(bool causal) {
  constexpr int64_t kN = 6, kD = 4, kReal = 4;
  const Numbers queries = normal_numbers(kN * kD, 8), keys = normal_numbers(kN * kD, 9);
  const Tensor offsets = Tensor::from(std::vector<int32_t>{0, kN}, {2});
  Tensor mask = Tensor::zeros({kN}, DType::kBool);
  for (int64_t i = 0; i < kReal; ++i) {
    mask.data<bool>()[i] = true;
  }
  const auto matrix = [](const Numbers& numbers) { return Tensor::from(numbers, {kN, kD}).to(DType::kFloat32); };
  const Tensor weights =
      ops::attention_weights(matrix(queries), matrix(keys), {offsets, offsets, mask}, {.n_heads = 1, .causal = causal});
  return {{"of", "mask"},
          {"given", {{"queries", queries}, {"keys", keys}, {"width", kD}, {"length", kReal}, {"causal", causal}}},
          {"result", numbers_of(weights)}};
}

json all_cases() {
  json cases = kernel_cases();
  for (json one : {softmax_case(), jacobian_case(), learning_case(), positions_case(), norm_case("layer"),
                   norm_case("batch"), norm_case("instance"), norm_case("group"), mask_case(false), mask_case(true)}) {
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace
}  // namespace dragoman

int main() {
  fmt::print("{}\n", dragoman::all_cases().dump());
  return 0;
}
