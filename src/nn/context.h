#pragma once

#include <cstdint>
#include <string_view>

#include "base/names.h"
#include "ops/dropout.h"
#include "tensor/tensor.h"

namespace dragoman::nn {

/// The sentences of one side of a packed batch: which of the N rows belong together, and where each row stands.
struct PackedRows {
  tensor::Tensor offsets;    ///< [B + 1] int32: sentence b has rows offsets[b] .. offsets[b + 1]
  tensor::Tensor positions;  ///< [N] int32: place of the row in its sentence, from 0
  int64_t first_row = 0;     ///< number of the first row within the whole update, so that dropout does not depend on
                             ///< how an update is split over replicas and micro-batches
};

/// Receives what the modules compute while a model runs, for pictures, alignments and pages that show it at work.
class ForwardObserver {
 public:
  virtual ~ForwardObserver() = default;
  /// @param path  of the attention module, e.g. "decoder.layers.3.cross_attention"
  /// @param weights  [H, T, S] float32 of sentence `sentence` of the batch; rows sum to 1
  virtual void observe(std::string_view path, int64_t sentence, const tensor::Tensor& weights) = 0;
  /// @param path  of the module;  @param name  of what it computed, as docs/inspect.md lists them
  /// @param value  rows of the whole batch; shares the memory that the model goes on with
  virtual void observe_value(std::string_view path, std::string_view name, const tensor::Tensor& value) {
    static_cast<void>(path), static_cast<void>(name), static_cast<void>(value);
  }
};

/// What the backward computes again instead of finding it saved.
enum class Recompute {
  kNone,
  kLayers,  ///< a layer keeps its input alone, [N, D], and runs its forward once more in the backward
};

constexpr base::Names<Recompute> names_of(Recompute) {
  return {"recompute", {{Recompute::kNone, "none"}, {Recompute::kLayers, "layers"}}};
}

/// What a forward pass needs besides its inputs. Default: inference, no dropout.
struct ForwardContext {
  bool training = false;
  uint64_t seed = 0;  ///< of the run
  uint32_t step = 0;  ///< update number; with seed, site and row it fixes every dropout mask
  ForwardObserver* observer = nullptr;
  Recompute recompute = Recompute::kNone;  ///< changes time and memory of training, not one bit of the result

  /// The mask of one dropout site: off unless training.
  kernels::Dropout dropout(float probability, uint32_t site, int64_t first_row) const {
    return {training ? probability : 0.0F, seed, step, site, first_row};
  }

  /// Shows a value to the observer, if there is one.
  void show(std::string_view path, std::string_view name, const tensor::Tensor& value) const {
    if (observer != nullptr) {
      observer->observe_value(path, name, value);
    }
  }
};

/// A number for a place where dropout acts, derived from its path (32-bit FNV-1a).
uint32_t dropout_site(std::string_view path);

}  // namespace dragoman::nn
