// Speed of the float32 ops of a training step that are no products of weights, on one thread, forward and backward.
#include <benchmark/benchmark.h>

#include "kernels/cpu/output/cross_entropy_cpu.h"
#include "kernels/cpu/simd/vector_math.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/layer_norm.h"
#include "ops/residual.h"

#ifndef NDEBUG
#error "benchmarks are built in Release: a debug build's numbers mean nothing"
#endif

namespace dragoman::ops {
namespace {

Tensor waves(const tensor::Shape& shape, double rate) {
  Tensor values = Tensor::empty(shape);
  for (int64_t index = 0; index < values.size(); ++index) {
    values.data<float>()[index] = static_cast<float>(std::sin(rate * static_cast<double>(index)));
  }
  return values;
}

Variable parameter(const tensor::Shape& shape, double rate) {
  return Variable(waves(shape, rate), true);
}

// Times `forward` alone, or forward and backward when `learns`.
template <typename Forward>
void run(benchmark::State& state, bool learns, std::vector<Variable> inputs, Forward forward) {
  tensor::Tensor grad;
  for (auto iteration : state) {
    autograd::Tape tape;
    const autograd::TapeScope scope(learns ? &tape : nullptr);
    const Variable y = forward(inputs);
    if (learns) {
      grad = grad.defined() ? grad : waves(y.shape(), 0.3);
      tape.backward(autograd::record("end", Tensor::zeros({}), {&y}, [&](const Tensor&) { y.add_grad(grad); }));
      for (Variable& input : inputs) {
        input.clear_grad();
      }
    }
    benchmark::ClobberMemory();
  }
}

constexpr int64_t kHeads = 4;

// Arguments: tokens of a sentence, width of a head, backward too. About 480 tokens in all.
template <bool kCausal, bool kDrops>
void attend(benchmark::State& state) {
  const int64_t length = state.range(0), sentences = std::max<int64_t>(480 / length, 1), tokens = sentences * length;
  std::vector<int32_t> ends;
  for (int64_t sentence = 0; sentence <= sentences; ++sentence) {
    ends.push_back(static_cast<int32_t>(sentence * length));
  }
  const Tensor offsets = Tensor::from(ends, {sentences + 1});
  const AttentionOptions options{kHeads, kCausal, {kDrops ? 0.1F : 0.0F, 1, 2, 3, 0}};
  const tensor::Shape shape{tokens, kHeads * state.range(1)};
  run(state, state.range(2) != 0, {parameter(shape, 1.1), parameter(shape, 1.2), parameter(shape, 1.3)},
      [&](const std::vector<Variable>& in) {
        return attention(in[0], in[1], in[2], {offsets, offsets, {}}, options);
      });
  const double pairs = static_cast<double>(tokens) * static_cast<double>(kCausal ? (length + 1) / 2 : length);
  state.counters["flops"] =
      benchmark::Counter((state.range(2) != 0 ? 3 : 1) * 4 * pairs * static_cast<double>(kHeads * state.range(1)),
                         benchmark::Counter::kIsIterationInvariantRate);
}

void attention_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"length", "d_head", "backward"})->ArgsProduct({{10, 30, 100}, {32}, {0, 1}});
  benchmark->Args({30, 64, 1});
}

BENCHMARK(attend<false, false>)->Name("attention")->Apply(attention_shapes);
BENCHMARK(attend<true, false>)->Name("causal attention")->Apply(attention_shapes);
BENCHMARK(attend<false, true>)->Name("attention with dropout")->Args({30, 32, 1});

// Arguments: rows, columns, backward too.
void residual_norm(benchmark::State& state) {
  const int64_t d = state.range(1);
  const tensor::Shape shape{state.range(0), d};
  run(state, state.range(2) != 0,
      {parameter(shape, 1.1), parameter(shape, 1.2), parameter({d}, 1.3), parameter({d}, 1.4)},
      [](const std::vector<Variable>& in) {
        return residual_dropout_layer_norm(in[0], in[1], in[2], in[3], 1e-5F, {0.1F, 1, 2, 3, 0});
      });
}

void relu_dropout(benchmark::State& state) {
  run(state, state.range(2) != 0, {parameter({state.range(0), state.range(1)}, 1.1)},
      [](const std::vector<Variable>& in) {
        return activation_dropout(in[0], Activation::kRelu, {0.1F, 1, 2, 3, 0});
      });
}

void drop(benchmark::State& state) {
  run(state, state.range(2) != 0, {parameter({state.range(0), state.range(1)}, 1.1)},
      [](const std::vector<Variable>& in) {
        return dropout(in[0], {0.1F, 1, 2, 3, 0});
      });
}

void row_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns", "backward"})->ArgsProduct({{480}, {128, 512}, {0, 1}});
}

BENCHMARK(residual_norm)->Name("residual + dropout + layer norm")->Apply(row_shapes);
BENCHMARK(relu_dropout)->Name("ReLU + dropout")->Apply(row_shapes);
BENCHMARK(drop)->Name("dropout")->Apply(row_shapes);

// Arguments: rows, classes, gradient too.
void loss(benchmark::State& state) {
  Tensor logits = waves({state.range(0), state.range(1)}, 1.1);
  for (auto iteration : state) {
    for (int64_t n = 0; n < logits.dim(0); ++n) {
      float* row = logits.data<float>() + n * logits.stride(0);
      benchmark::DoNotOptimize(state.range(2) != 0
                                   ? kernels::cross_entropy_row_gradient(row, logits.dim(1), 7, {0.1F, 1.0})
                                   : kernels::cross_entropy_row(row, logits.dim(1), 7, 0.1F));
    }
  }
}

BENCHMARK(loss)
    ->Name("cross-entropy")
    ->ArgNames({"rows", "classes", "gradient"})
    ->ArgsProduct({{256}, {10000}, {0, 1}});

// Argument: elements.
void adam(benchmark::State& state) {
  const tensor::Shape shape{state.range(0)};
  Tensor weights = waves(shape, 1.1), first = Tensor::zeros(shape), second = Tensor::zeros(shape);
  const Tensor gradients = waves(shape, 1.2);
  for (auto iteration : state) {
    kernels::adam_update(weights.span<float>(), gradients.span<float>(), first.span<float>(), second.span<float>(),
                         {1e-4});
  }
}

BENCHMARK(adam)->Name("Adam")->Arg(1 << 17)->Arg(1 << 21);

}  // namespace
}  // namespace dragoman::ops
