#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmark/throughput.h"
#include "kernels/precision.h"
#include "models/decoder_only/decoder_only_config.h"

namespace dragoman::benchmark {

/// The shapes of language models that benchmarks are known by: "gpt-mini" (4 layers, 128, context 64, vocabulary 65),
/// "gpt-char" (6, 384, 256, 65), "gpt2-small" (12, 768, 1024, 50,257). Returns: nothing for another name.
std::optional<models::DecoderOnlyConfig> language_model_shape(const std::string& name);

/// What a measurement of training trains: windows of random tokens.
struct WindowTrainingOptions {
  models::DecoderOnlyConfig model;
  training::AdamOptions adam;
  int64_t windows = 4;  ///< of one update, over all workers
  int64_t length = 64;  ///< tokens of each
  int64_t warmup = 2;   ///< updates not measured
  int64_t steps = 10;   ///< updates measured
  training::ProcessOptions workers;
  uint64_t seed = 1;

  /// Throws: Error(kUsage), "a window of 2000 tokens, but max_positions is 1024".
  void check() const;
};

/// Trains a fresh model for warmup + steps updates and times each.
Throughput measure_window_training(const WindowTrainingOptions& options, distributed::ProcessGroup& processes);

/// What a measurement of generating continues: random prompts, each with as many new tokens, by greedy search.
struct GenerationSpeedOptions {
  models::DecoderOnlyConfig model;
  kernels::Precision precision = kernels::Precision::kInt8;
  int64_t prompts = 1;
  int64_t prompt_length = 128;
  int64_t new_tokens = 128;
  int64_t warmup = 1;  ///< runs not measured
  int64_t runs = 5;    ///< runs measured
  int workers = 1;
  int threads_per_worker = 0;
  uint64_t seed = 1;

  /// Throws: Error(kUsage) naming what is out of range.
  void check() const;
};

struct GenerationSpeed {
  std::vector<double> run_seconds;     ///< in the order of the runs, prompts included
  std::vector<double> prompt_seconds;  ///< of runs with one new token: the reading of the prompts
  int64_t new_tokens = 0;              ///< of one run
  int64_t parameters = 0;
  double read_bytes = 0.0;  ///< of the weights that one step reads
};

/// Generates, ids to ids, `warmup + runs` times.
GenerationSpeed measure_generation(const GenerationSpeedOptions& options);

}  // namespace dragoman::benchmark
