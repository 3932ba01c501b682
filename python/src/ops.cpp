#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "bindings.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/columns.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/matmul.h"
#include "ops/reshape.h"
#include "ops/softmax.h"
#include "rows.h"

namespace dragoman::python {
namespace {

using nb::arg;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

Variable or_none(const std::optional<Variable>& variable) {
  return variable.value_or(Variable());
}

kernels::Transpose transposed(bool yes) {
  return yes ? kernels::Transpose::kYes : kernels::Transpose::kNo;
}

void bind_elementwise(nb::module_& module) {
  module.def("add", &ops::add, arg("left"), arg("right"), ReleaseGil(),
             "left + right, of equal shapes or one side a single element.");
  module.def("subtract", &ops::subtract, arg("left"), arg("right"), ReleaseGil(), "left - right.");
  module.def("multiply", &ops::multiply, arg("left"), arg("right"), ReleaseGil(), "left * right, by element.");
  module.def("scale", &ops::scale, arg("x"), arg("factor"), ReleaseGil(), "x times a constant.");
  module.def("square", &ops::square, arg("x"), ReleaseGil(), "x * x.");
  module.def("exp", &ops::exp, arg("x"), ReleaseGil(), "e to the power x.");
  module.def("sum", &ops::sum, arg("x"), ReleaseGil(), "The sum of all elements, a scalar.");
  module.def("mean", &ops::mean, arg("x"), ReleaseGil(), "The mean of all elements, a scalar.");
}

void bind_rows(nb::module_& module) {
  module.def(
      "softmax",
      [](const Variable& x) { return over_rows(x, [](const Variable& rows) { return ops::softmax(rows); }); }, arg("x"),
      ReleaseGil(), "Probabilities along the last axis: [..., C] to [..., C].");
  module.def(
      "log_softmax",
      [](const Variable& x) { return over_rows(x, [](const Variable& rows) { return ops::log_softmax(rows); }); },
      arg("x"), ReleaseGil(), "The logarithm of softmax: [..., C] to [..., C].");
  module.def(
      "activation",
      [](const Variable& x, const std::string& kind) {
        const auto chosen = base::from_name<kernels::Activation>(kind);
        return over_rows(x, [&](const Variable& rows) { return ops::activation(rows, chosen); });
      },
      arg("x"), arg("kind"), ReleaseGil(), "A nonlinearity: relu, gelu, silu, gelu-tanh or relu-squared.");
  module.def(
      "layer_norm",
      [](const Variable& x, const Variable& gain, const std::optional<Variable>& bias, float epsilon) {
        return over_rows(x, [&](const Variable& rows) { return ops::layer_norm(rows, gain, or_none(bias), epsilon); });
      },
      arg("x"), arg("gain"), arg("bias").none() = nb::none(), arg("epsilon") = 1e-5F, ReleaseGil(),
      "Layer normalisation over the last axis: x [..., D], gain and bias [D].");
  module.def(
      "rms_norm",
      [](const Variable& x, const Variable& gain, float epsilon) {
        return over_rows(x, [&](const Variable& rows) { return ops::rms_norm(rows, gain, epsilon); });
      },
      arg("x"), arg("gain"), arg("epsilon") = 1e-5F, ReleaseGil(), "RMS normalisation over the last axis.");
  module.def(
      "linear",
      [](const Variable& x, const Variable& weight, const std::optional<Variable>& bias) {
        return over_rows(x, [&](const Variable& rows) { return ops::linear(rows, {weight}, or_none(bias)); });
      },
      arg("x"), arg("weight"), arg("bias").none() = nb::none(), ReleaseGil(),
      "x W + b along the last axis: x [..., Din], W [Din, Dout], b [Dout].");
  module.def(
      "dropout",
      [](const Variable& x, float probability, uint64_t seed, uint32_t step) {
        return over_rows(x, [&](const Variable& rows) {
          return ops::dropout(rows, {.probability = probability, .seed = seed, .step = step});
        });
      },
      arg("x"), arg("probability"), arg("seed") = 1, arg("step") = 0, ReleaseGil(),
      "Sets elements to 0 with a probability. The mask is a function of seed and step.");
}

void bind_matrices(nb::module_& module) {
  module.def(
      "matmul",
      [](const Variable& a, const Variable& b, bool transpose_a, bool transpose_b) {
        return ops::matmul(a, transposed(transpose_a), b, transposed(transpose_b));
      },
      arg("a"), arg("b"), arg("transpose_a") = false, arg("transpose_b") = false, ReleaseGil(),
      "The product of two matrices: [M, K] and [K, N] give [M, N].");
  module.def("concatenate_columns", &ops::concatenate_columns, arg("left"), arg("right"), ReleaseGil(),
             "[N, A] and [N, B] side by side: [N, A + B].");
  module.def(
      "embedding",
      [](const Variable& table, const Variable& ids, float scale) {
        const Tensor flat = ids.value().reshape({ids.shape().size()});
        return with_last_axis(ops::embedding({table}, flat, scale), ids.shape(), table.dim(1));
      },
      arg("table"), arg("ids"), arg("scale") = 1.0F, ReleaseGil(),
      "Rows of a table [V, D] for ids int32 [...]: [..., D].");
  module.def(
      "cross_entropy",
      [](const Variable& logits, const Variable& targets, float label_smoothing) {
        const Tensor flat = targets.value().reshape({targets.shape().size()});
        const double tokens = std::max<double>(1.0, static_cast<double>(flat.size()));
        return ops::cross_entropy(rows_of(logits), flat,
                                  {.label_smoothing = label_smoothing, .gradient_scale = 1.0 / tokens});
      },
      arg("logits"), arg("targets"), arg("label_smoothing") = 0.0F, ReleaseGil(),
      "The mean cross-entropy in nats: logits [..., V], targets int32 [...].");
  module.def(
      "attention",
      [](const Variable& query, const Variable& key, const Variable& value, int n_heads, bool causal,
         const std::optional<Variable>& mask) {
        return attention_of_batch(query, key, value, {.n_heads = n_heads, .causal = causal}, mask);
      },
      arg("query"), arg("key"), arg("value"), arg("n_heads") = 1, arg("causal") = false,
      arg("mask").none() = nb::none(), ReleaseGil(),
      "softmax(Q K^T / sqrt(Dh)) V of each head: query [B, T, D], key [B, S, D], value [B, S, Dv] give [B, T, Dv]. "
      "mask: bool [B, S], true = may be attended to.");
}

}  // namespace

void bind_ops(nb::module_& module) {
  bind_elementwise(module);
  bind_rows(module);
  bind_matrices(module);
}

}  // namespace dragoman::python
