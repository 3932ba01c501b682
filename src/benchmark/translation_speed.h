#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search/options.h"
#include "kernels/precision.h"
#include "models/transformer/transformer_config.h"

namespace dragoman::benchmark {

/// What a measurement of translating translates: random sentences with random weights, all of one length, and every
/// translation of one length.
struct TranslationSpeedOptions {
  models::TransformerConfig model;
  kernels::Precision precision = kernels::Precision::kInt8;
  decoding::SearchOptions search;  ///< beam_size and `execution` of it; lengths are those below
  int64_t sentences = 256;         ///< of one run
  int64_t source_length = 30;      ///< tokens, sentence end included
  int64_t target_length = 30;      ///< tokens, sentence end included
  int64_t warmup = 1;              ///< runs not measured
  int64_t runs = 10;               ///< runs measured
  uint64_t seed = 1;

  /// Throws Error(kUsage): "runs is 0, must be at least 1", or what SearchOptions::check refuses.
  void check() const;
};

/// One decoding step of a worker full of sentences.
struct StepCost {
  int64_t position = 0;  ///< the last of the positions it is the median of: those after half of it
  double seconds = 0.0;
};

/// What was measured.
struct TranslationSpeed {
  std::vector<double> run_seconds;         ///< in the order of the runs
  int64_t target_tokens = 0;               ///< of one run
  double flops = 0.0;                      ///< matrix work of one run, see translation_flops
  double product_gflops_per_second = 0.0;  ///< of the fastest of the model's products alone, with as many rows;
                                           ///< 0 on a GPU
  int64_t parameters = 0;
  int64_t step_rows = 0;             ///< hypotheses of one step of `step_costs`
  std::vector<StepCost> step_costs;  ///< positions 1, 2, 4, ... and the last; one worker, the others idle

  double median_seconds() const;
  double tokens_per_second() const { return static_cast<double>(target_tokens) / median_seconds(); }
  double gflops_per_second() const { return flops * 1e-9 / median_seconds(); }
};

/// Translates, ids to ids, `warmup + runs` times; then feeds `target_length` tokens, step by step, to as many sentences
/// as `batch_tokens` holds.
TranslationSpeed measure_translation(const TranslationSpeedOptions& options);

}  // namespace dragoman::benchmark
