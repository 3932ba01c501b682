#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/transformer/transformer_config.h"
#include "training/data_parallel.h"

namespace dragoman::benchmark {

/// The least id of random sentences: below stand the special ids.
inline constexpr int32_t kFirstWord = 4;

/// Number of random batches that updates take in turn.
inline constexpr int kRandomBatches = 4;

/// Throws Error(kUsage): "steps is 0, must be at least 1".
void check_positive(const char* name, int64_t value);
/// Whether random sentences of these lengths, end included, can be given to that model. Throws Error(kUsage):
/// "a sentence of 2000 tokens, but max_positions is 1024".
void check_random_sentences(const models::TransformerConfig& model, int64_t source_length, int64_t target_length);

/// What a throughput measurement trains: random sentences, all equally long.
struct ThroughputOptions {
  models::TransformerConfig model;
  training::ObjectiveOptions loss;
  training::AdamOptions adam;
  int64_t sentences = 32;            ///< of one update, over all workers and processes
  int64_t source_length = 30;        ///< tokens, sentence end included
  int64_t target_length = 30;        ///< tokens, sentence end included
  int64_t warmup = 2;                ///< updates not measured
  int64_t steps = 10;                ///< updates measured
  training::ProcessOptions workers;  ///< of each process
  nn::Recompute recompute = nn::Recompute::kNone;
  uint64_t seed = 1;

  /// Throws Error(kUsage): "steps is 0, must be at least 1".
  void check() const;
};

/// What was measured, one number for each update.
struct Throughput {
  std::vector<double> step_seconds;     ///< in the order of the updates
  training::UpdateTimes times;          ///< where the first worker spent its time, mean of the updates
  int64_t target_tokens = 0;            ///< of one update
  double gemm_gflops_per_second = 0.0;  ///< of the fastest of the model's products alone, measured before the updates;
                                        ///< 0 on a GPU
  double flops = 0.0;                   ///< matrix work of one update, see training_flops
  int64_t parameters = 0;
  uint64_t gradient_bytes = 0;    ///< summed over the workers, as the next
  int64_t sent_bytes = 0;         ///< a process sends to others for one update, see docs/training_on_many_machines.md
  uint64_t activation_bytes = 0;  ///< most that the passes held at once: what the backward needs, and scratch

  double median_seconds() const;
  double tokens_per_second() const { return static_cast<double>(target_tokens) / median_seconds(); }
  double gflops_per_second() const { return flops * 1e-9 / median_seconds(); }
};

/// Useful matrix work of translating a sentence, in floating-point operations (2 per multiply-add), when each of
/// `n_hypotheses` grows to `target_length` tokens, with keys and values of the past kept. With D = d_model, F = d_ff:
///   encoder   Le (8 D^2 + 4 D F) S + Le 4 D S^2
///   decoder   Ld 4 D^2 S + hypotheses (Ld (12 D^2 + 4 D F) T + Ld 4 D T(T + 1)/2 + Ld 4 D S T)
///   output    hypotheses 2 D V T
/// Biases, layer norms, softmax and embedding look-ups count nothing. In place of self-attention, 8 D^2 T + 4 D T(T +
/// 1)/2 of each layer, an SSRU counts 4 D^2 T and average attention (8 D^2 + 4 D F) T.
double translation_flops(const models::TransformerConfig& model, int64_t source_length, int64_t target_length,
                         int64_t n_hypotheses);

/// Returns the operations of training on one sentence pair: three times the forward pass, which is that of one
/// hypothesis (causal attention counts the triangle it needs).
double training_flops(const models::TransformerConfig& model, int64_t source_length, int64_t target_length);

/// The shapes that benchmarks are known by: "base" (6+6 layers, 512/2048, 8 heads, vocabulary 32,000), "d256" (3+3,
/// 256/1024, 4, 8,000), "tiny" (4+4, 128/256, 4, 10,000); dropout 0.1. Throws Error(kUsage) listing them.
models::TransformerConfig benchmark_shape(const std::string& name);

/// Trains a fresh model for warmup + steps updates and times each. Several processes share every update.
Throughput measure_training(const ThroughputOptions& options, distributed::ProcessGroup& processes);

/// How many updates are timed, and from which seed their dropout is drawn.
struct TimedUpdates {
  int64_t warmup = 2;  ///< not measured
  int64_t steps = 10;  ///< measured
  uint64_t seed = 1;
};

/// Updates with the batches in turn; adds the time of each measured update to `measured`.
void time_updates(training::DataParallel& trainer, std::span<const data::Batch> batches, const TimedUpdates& updates,
                  Throughput& measured);

/// Middle value (mean of the two middle ones for an even number). Throws Error when there is none.
double median(std::vector<double> values);

}  // namespace dragoman::benchmark
