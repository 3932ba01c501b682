#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/names.h"
#include "ops/dropout.h"
#include "tensor/tensor.h"

namespace dragoman::nn {

/// Tells which of the N rows of one side of a ragged batch form a sentence, and the position of each row in it.
struct RaggedRows {
  tensor::Tensor offsets;    ///< [B + 1] int32: sentence b has rows offsets[b] .. offsets[b + 1]
  tensor::Tensor positions;  ///< [N] int32: place of the row in its sentence, from 0
  int64_t first_row = 0;     ///< number of the first row within the whole update. Dropout counts rows by it, so that
                             ///< masks do not depend on how an update is split over replicas and micro-batches
};

/// Receives what the modules compute while a model runs. Pictures, alignments and inspection pages are made from it.
class ForwardObserver {
 public:
  virtual ~ForwardObserver() = default;
  /// @param path  of the attention module, e.g. "decoder.layers.3.cross_attention"
  /// @param weights  [H, T, S] float32 of sentence `sentence` of the batch; rows sum to 1
  virtual void observe(std::string_view path, int64_t sentence, const tensor::Tensor& weights) = 0;
  /// @param path  of the module;  @param name  of the value, as listed in docs/inspect.md
  /// @param value  rows of the whole batch; shares its memory with the running model
  virtual void observe_value(std::string_view /*path*/, std::string_view /*name*/, const tensor::Tensor& /*value*/) {}
  /// Whether values are shown that a module keeps only for an observer.
  virtual bool wants_kept_values() const { return false; }
};

/// What batch norms need of the replicas that train on parts of one batch, so that their statistics are of the whole
/// batch, and count only where the update is applied.
class BatchStatistics {
 public:
  virtual ~BatchStatistics() = default;
  /// Replaces the values by their sums over all replicas. Requires: all replicas make the same calls in the same order.
  virtual void sum(std::span<double> values) = 0;
  /// Notes that running statistics [D] move towards the latest ones (move_running) once the update is applied.
  /// Every replica calls it with the same values, in the backward; replicas of a process share the running statistics.
  virtual void keep(const tensor::Tensor& running, std::span<const double> latest) = 0;
};

/// Selects what the backward computes again instead of keeping it from the forward.
enum class Recompute {
  kNone,
  kLayers,  ///< a layer keeps only its input [N, D], and runs its forward once more in the backward
};

constexpr base::Names<Recompute> names_of(Recompute) {
  return {"recompute", {{Recompute::kNone, "none"}, {Recompute::kLayers, "layers"}}};
}

/// What a forward pass needs besides its inputs. Default: inference, no dropout.
struct ForwardContext {
  bool training = false;
  uint64_t seed = 0;  ///< of the run
  uint32_t step = 0;  ///< number of the update, below 2^31
  /// Number of the forward within an update that runs the model more than once: 0 or 1. Seed, step, pass, site and row
  /// fix every dropout mask.
  uint32_t pass = 0;
  /// Probability, in training, that a word enters by its position alone: its embedding becomes 0 and the others keep
  /// their size, unlike those of word dropout.
  float word_cut = 0.0F;
  int64_t first_row = 0;  ///< of the rows that go through the layers; see RaggedRows
  ForwardObserver* observer = nullptr;
  Recompute recompute = Recompute::kNone;  ///< changes time and memory of training, but no bit of the result
  BatchStatistics* statistics = nullptr;   ///< of training; null: the rows are the whole batch, and nothing is kept
  /// Whether batch norms take the statistics of the batch outside training too, and the rows of zeros that count in
  /// them. Both show batch norms without running statistics, and what zeros in their statistics do.
  bool batch_moments = false;
  int64_t zero_rows = 0;
  const uint32_t* step_on_device = nullptr;  ///< kernels::Dropout::step_on_device, of `step`

  /// Returns: the dropout of one site; its probability is 0 unless `training`.
  [[nodiscard]] kernels::Dropout dropout(float probability, uint32_t site) const {
    return {training ? probability : 0.0F, seed, step | (pass << 31U), site, first_row, step_on_device};
  }

  /// Returns: this context for layers whose rows are `rows`.
  [[nodiscard]] ForwardContext over(const RaggedRows& rows) const {
    ForwardContext context = *this;
    context.first_row = rows.first_row;
    return context;
  }

  /// Whether modules keep what they would not keep without an observer.
  [[nodiscard]] bool keeps_values() const { return observer != nullptr && observer->wants_kept_values(); }

  /// Shows a value to the observer, if there is one.
  void show(std::string_view path, std::string_view name, const tensor::Tensor& value) const {
    if (observer != nullptr) {
      observer->observe_value(path, name, value);
    }
  }
};

/// Returns: the number of the place `path` in the model where dropout acts, the 32-bit FNV-1a hash of the path.
[[nodiscard]] uint32_t dropout_site(std::string_view path);

}  // namespace dragoman::nn
