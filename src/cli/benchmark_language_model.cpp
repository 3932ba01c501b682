#include "cli/benchmark_language_model.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "benchmark/language_model_speed.h"
#include "cli/device_flag.h"
#include "distributed/join_processes.h"

namespace dragoman::cli {
namespace {

models::DecoderOnlyConfig language_model_of(const BenchmarkOptions& options) {
  const auto model = benchmark::language_model_shape(options.shape);
  base::check_usage(model.has_value(), "shape: '{}' is no language model; choose gpt-mini, gpt-char or gpt2-small",
                    options.shape);
  return *model;
}

void print_speed(const char* what, const std::vector<double>& seconds, int64_t tokens, int64_t parameters) {
  const double median = benchmark::median(seconds);
  fmt::print("model        {:.1f} M parameters\n{:<12} median {:.1f} ms, {:.0f} tokens/s\n",
             static_cast<double>(parameters) * 1e-6, what, median * 1e3, static_cast<double>(tokens) / median);
}

}  // namespace

int benchmark_language_model(const BenchmarkOptions& options) {
  const auto processes = distributed::join_processes({});
  benchmark::WindowTrainingOptions training;
  training.model = language_model_of(options);
  training.adam = options.training.adam;
  training.windows = options.sentences == 0 ? training.windows : options.sentences;
  training.length = options.training.target_length;
  training.warmup = options.warmup < 0 ? training.warmup : options.warmup;
  training.steps = options.training.steps;
  training.workers.workers = options.workers == 0 ? processes->default_workers() : options.workers;
  training.workers.precision = options.precision.value_or(kernels::fastest_precision());
  const benchmark::Throughput measured = benchmark::measure_window_training(training, *processes);
  if (!processes->leads()) {
    return 0;
  }
  if (options.json) {
    fmt::print("{}\n", base::dump_json(throughput_json(training.workers, measured)));
    return 0;
  }
  print_machine(training.workers.workers, training.workers.precision);
  print_speed("update", measured.step_seconds, measured.target_tokens, measured.parameters);
  return 0;
}

int benchmark_generation(const BenchmarkOptions& options) {
  benchmark::GenerationSpeedOptions generation;
  generation.model = language_model_of(options);
  generation.precision = decoding_precision(options);
  generation.prompts = options.sentences == 0 ? generation.prompts : options.sentences;
  generation.prompt_length = options.training.source_length;
  generation.new_tokens = options.training.target_length;
  generation.warmup = options.warmup < 0 ? generation.warmup : options.warmup;
  generation.runs = options.training.steps;
  generation.workers = decoding_workers(options);
  const DeviceChoice device(options.device);
  const benchmark::GenerationSpeed measured = benchmark::measure_generation(generation);
  if (options.json) {
    nlohmann::json row = machine_json(generation.workers, generation.precision);
    row["parameters"] = measured.parameters;
    row["new_tokens"] = measured.new_tokens;
    row["run_seconds"] = measured.run_seconds;
    row["prompt_seconds"] = measured.prompt_seconds;
    row["read_bytes"] = measured.read_bytes;
    row["peak_mib"] = peak_mib();
    fmt::print("{}\n", base::dump_json(row));
    return 0;
  }
  print_machine(generation.workers, generation.precision);
  print_speed("run", measured.run_seconds, measured.new_tokens, measured.parameters);
  fmt::print("prompts      median {:.1f} ms, with one new token\n", benchmark::median(measured.prompt_seconds) * 1e3);
  return 0;
}

}  // namespace dragoman::cli
