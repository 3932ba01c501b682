// Speed of the float32 products on one thread, in floating-point operations a second.
#include <benchmark/benchmark.h>

#include "kernels/cpu/gemm/packed_matrix.h"

#ifndef NDEBUG
#error "benchmarks are built in Release: a debug build's numbers mean nothing"
#endif

namespace dragoman::ops {
namespace {

using tensor::Shape;

void count_operations(benchmark::State& state, int64_t m, int64_t n, int64_t k) {
  state.counters["flops"] =
      benchmark::Counter(2.0 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}

// Arguments: rows m, columns n, depth k of the product.
template <Transpose kTransposeA, Transpose kTransposeB>
void product(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const Tensor a = Tensor::full(kTransposeA == Transpose::kNo ? Shape{m, k} : Shape{k, m}, 0.5);
  const Tensor b = Tensor::full(kTransposeB == Transpose::kNo ? Shape{k, n} : Shape{n, k}, 0.25);
  Tensor c = Tensor::empty({m, n});
  for (auto iteration : state) {
    gemm(a, kTransposeA, b, kTransposeB, c);
    benchmark::ClobberMemory();
  }
  count_operations(state, m, n, k);
}

void packed(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const PackedMatrix weight(Tensor::full({k, n}, 0.25));
  const Tensor x = Tensor::full({m, k}, 0.5);
  Tensor y = Tensor::empty({m, n});
  for (auto iteration : state) {
    weight.multiply(x, {}, y);
    benchmark::ClobberMemory();
  }
  count_operations(state, m, n, k);
}

void training_shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t m : {256, 2048}) {
    benchmark->Args({m, 128, 128})->Args({m, 512, 512})->Args({m, 2048, 512})->Args({m, 512, 2048});
  }
  benchmark->Args({128, 10000, 128});
}

BENCHMARK(product<Transpose::kNo, Transpose::kNo>)->Name("Y = X W")->Apply(training_shapes);
BENCHMARK(product<Transpose::kNo, Transpose::kYes>)->Name("dX = dY W^T")->Apply(training_shapes);
BENCHMARK(product<Transpose::kYes, Transpose::kNo>)->Name("dW = X^T dY")->Apply(training_shapes);
BENCHMARK(packed)->Name("packed")->ArgsProduct({{1, 4, 8, 32, 128}, {512, 2048}, {512}});

}  // namespace
}  // namespace dragoman::ops
