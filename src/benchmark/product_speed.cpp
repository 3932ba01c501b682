#include "benchmark/product_speed.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/lap.h"
#include "base/worker_pool.h"
#include "ops/gemm.h"
#include "ops/packed_weight.h"

namespace dragoman::benchmark {
namespace {

using kernels::Transpose;
using tensor::Tensor;

constexpr int kTries = 5;

struct Weight {
  const char* use;
  int64_t d_in, d_out;
  Transpose stored = Transpose::kNo;  // kYes: [d_out, d_in], as the embedding that serves as output weight
};

// The products that a model consists of.
std::vector<Weight> weights_of(const models::TransformerConfig& model) {
  return {{"attention projection", model.d_model, model.d_model},
          {"feed-forward inner", model.d_model, model.d_ff},
          {"feed-forward outer", model.d_ff, model.d_model},
          {"output", model.d_model, model.target_vocab_size, Transpose::kYes}};
}

// x [N, Din], W [Din, Dout] or its transpose, y [N, Dout].
struct Operands {
  Tensor x, weight, y, grad_weight;
  Transpose transposed;
  kernels::Precision precision;
  std::shared_ptr<const ops::PackedWeight> packed = nullptr;
};

Operands make_operands(const Weight& weight, int64_t tokens, kernels::Precision precision) {
  const tensor::Shape shape = weight.stored == Transpose::kYes ? tensor::Shape{weight.d_out, weight.d_in}
                                                               : tensor::Shape{weight.d_in, weight.d_out};
  return {Tensor::full({tokens, weight.d_in}, 0.5),
          Tensor::full(shape, 0.5),
          Tensor::full({tokens, weight.d_out}, 0.5),
          Tensor::zeros(shape),
          weight.stored,
          precision};
}

void forward(Operands& o) {
  ops::gemm(o.x, Transpose::kNo, o.weight, o.transposed, o.y, o.precision);
}

void input_gradient(Operands& o) {
  ops::gemm(o.y, Transpose::kNo, o.weight, flipped(o.transposed), o.x, o.precision);
}

void weight_gradient(Operands& o) {
  const bool transposed = o.transposed == Transpose::kYes;
  ops::gemm(transposed ? o.y : o.x, Transpose::kYes, transposed ? o.x : o.y, Transpose::kNo, o.grad_weight,
            o.precision);
}

void packed_forward(Operands& o) {
  ops::multiply_weight(o.x, ops::Weight({}, o.packed.get()), o.transposed, {}, o.y);
}

std::shared_ptr<const ops::PackedWeight> pack(const Operands& operands) {
  const auto packed = std::make_shared<ops::PackedWeight>(
      operands.weight.shape(), ops::PackedWeightLayout{operands.precision, operands.transposed});
  packed->pack(operands.weight, 0, packed->panels());
  return packed;
}

double seconds_of(base::WorkerPool& pool, std::vector<Operands>& operands, void (*product)(Operands&), int repeats) {
  base::Lap lap;
  pool.run([&](int rank) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
      product(operands[static_cast<size_t>(rank)]);
    }
  });
  return lap();
}

double best_gflops(base::WorkerPool& pool, std::vector<Operands>& operands, void (*product)(Operands&), double seconds,
                   double flops) {
  seconds_of(pool, operands, product, 1);
  const double once = seconds_of(pool, operands, product, 1);
  const int repeats = std::clamp(static_cast<int>(seconds / kTries / once), 1, 10'000);
  double best = once * repeats;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    best = std::min(best, seconds_of(pool, operands, product, repeats));
  }
  return flops * pool.size() * repeats * 1e-9 / best;
}

}  // namespace

std::vector<ProductSpeed> measure_products(const models::TransformerConfig& model, int64_t tokens,
                                           const training::ProcessOptions& workers, double seconds) {
  base::check_usage(tokens >= 1, "tokens is {}, must be at least 1", tokens);
  base::WorkerPool pool(workers.workers);
  std::vector<ProductSpeed> speeds;
  for (const Weight& weight : weights_of(model)) {
    const int64_t rows =
        weight.stored == Transpose::kYes ? std::min<int64_t>(tokens, 256) : tokens;  // the loss works in chunks
    const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(weight.d_in * weight.d_out);
    std::vector<Operands> operands(static_cast<size_t>(workers.workers));
    pool.run([&](int rank) { operands[static_cast<size_t>(rank)] = make_operands(weight, rows, workers.precision); });
    const auto measure = [&](void (*product)(Operands&)) {
      return best_gflops(pool, operands, product, seconds, flops);
    };
    speeds.push_back({weight.use, "forward", rows, weight.d_in, weight.d_out, measure(forward)});
    speeds.push_back({weight.use, "input", rows, weight.d_out, weight.d_in, measure(input_gradient)});
    speeds.push_back({weight.use, "weight", weight.d_in, rows, weight.d_out, measure(weight_gradient)});
  }
  return speeds;
}

std::vector<ProductSpeed> measure_packed_products(const models::TransformerConfig& model, int64_t rows,
                                                  kernels::Precision precision, int workers, double seconds) {
  base::check_usage(rows >= 1, "rows is {}, must be at least 1", rows);
  base::WorkerPool pool(workers);
  std::vector<ProductSpeed> speeds;
  for (const Weight& weight : weights_of(model)) {
    const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(weight.d_in * weight.d_out);
    std::vector<Operands> operands(static_cast<size_t>(workers));
    pool.run([&](int rank) { operands[static_cast<size_t>(rank)] = make_operands(weight, rows, precision); });
    const auto packed = pack(operands.front());
    for (Operands& of_worker : operands) {
      of_worker.packed = packed;
    }
    speeds.push_back({weight.use, "packed", rows, weight.d_in, weight.d_out,
                      best_gflops(pool, operands, packed_forward, seconds, flops)});
  }
  return speeds;
}

double best_product_speed(const std::vector<ProductSpeed>& speeds) {
  const auto slower = [](const ProductSpeed& a, const ProductSpeed& b) {
    return a.gflops_per_second < b.gflops_per_second;
  };
  return std::max_element(speeds.begin(), speeds.end(), slower)->gflops_per_second;
}

}  // namespace dragoman::benchmark
