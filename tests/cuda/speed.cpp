// Prints the speed of training on the first GPU, for scripts/gpu_check.sh.
//   cuda_speed SHAPE PRECISION SENTENCES [UPDATES]      SHAPE: base, big, tiny or gpt2-small
//   (windows of 1,024 tokens); PRECISION: float32 or bfloat16
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "cuda/model_updates.h"
#include "kernels/cuda/runtime.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/transformer/transformer_config.h"
#include "support/cuda_device.h"

namespace {

using namespace dragoman;

/// A shape, and the tokens of a sentence on each side.
struct Shape {
  models::ModelConfig config;
  int32_t length;
};

Shape shape_of(const std::string& name) {
  if (name == "gpt2-small") {
    models::DecoderOnlyConfig gpt2;  // 124M parameters
    gpt2.vocab_size = 50'257;
    return {gpt2, 1024};
  }
  models::TransformerConfig config;
  const bool tiny = name == "tiny", big = name == "big";
  config.source_vocab_size = config.target_vocab_size = tiny ? 10'000 : 32'000;
  config.d_model = tiny ? 128 : big ? 1024 : 512;
  config.d_ff = tiny ? 256 : 4 * config.d_model;
  config.n_heads = tiny ? 4 : big ? 16 : 8;
  config.encoder_layers = config.decoder_layers = tiny ? 4 : 6;
  config.dropout = 0.1F;
  return {config, 30};
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kPeak = 989e12;  // dense bfloat16 products of an H100 SXM

void measure(const std::string& shape, const std::string& precision, int64_t sentences, int updates) {
  const auto memory = kernels::cuda::open_device(0);
  const tensor::ArenaScope scope(memory);
  const auto [config, length] = shape_of(shape);
  test_support::ModelUpdates model(
      config, precision == "float32" ? kernels::Precision::kFloat32 : kernels::Precision::kBFloat16);
  const std::vector<int32_t> lengths(static_cast<size_t>(sentences), length);
  std::vector<double> times;
  constexpr int kWarmUp = 5;
  double before = seconds(), loss = 0;
  uint64_t waits_before = 0;
  for (int update = 0; update < kWarmUp + updates; ++update) {
    if (update == kWarmUp) {
      waits_before = kernels::cuda::waits_for_device();
    }
    loss = model.update(lengths);  // waits for the loss
    const double now = seconds();
    times.push_back(now - before);
    before = now;
  }
  const double waits = static_cast<double>(kernels::cuda::waits_for_device() - waits_before) / updates;
  times.erase(times.begin(), times.begin() + kWarmUp);
  std::ranges::sort(times);
  const double median = times[times.size() / 2], tokens = static_cast<double>(sentences) * length;
  const double source_length = config.sizes().source_vocab_size > 0 ? length : 0;
  const double flops =
      3 * static_cast<double>(sentences) * model.model().forward_flops(static_cast<int64_t>(source_length), length);
  fmt::print(
      "{} {}, {} tokens an update: {:.0f} target tokens/s, {:.1f} TFLOP/s ({:.1f} % of {:.0f}), update {:.2f} ms "
      "(fastest {:.2f}, slowest {:.2f}), {:.1f} waits, memory {:.1f} GiB, loss {:.4f}\n",
      shape, precision, tokens, tokens / median, flops / median * 1e-12, flops / median / kPeak * 100, kPeak * 1e-12,
      median * 1e3, times.front() * 1e3, times.back() * 1e3, waits,
      static_cast<double>(memory->counters().peak_bytes) / (1024.0 * 1024.0 * 1024.0), loss);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "cuda_speed: give a shape, float32 or bfloat16, and the sentences of an update\n");
    return 2;
  }
  try {
    measure(argv[1], argv[2], std::atoll(argv[3]), argc > 4 ? std::atoi(argv[4]) : 10);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "cuda_speed: %s\n", error.what());
    return error.exit_status();
  }
  return 0;
}
