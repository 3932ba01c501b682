#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/generation.h"
#include "models/model_config.h"
#include "models/output_layer.h"
#include "models/token_rows.h"
#include "nn/context.h"
#include "nn/parameters.h"

namespace dragoman::models {

/// What a model reads in one pass. A side that the architecture lacks is empty.
struct ModelInput {
  TokenRows source;  ///< Ns rows
  TokenRows target;  ///< Nt rows: begin of sentence, then the words so far
};

/// A model of any architecture, as training, decoding, interop and serving see it.
/// Threads: the functions are const and keep no state, so several threads may use one model for inference.
class Model {
 public:
  Model() = default;
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  virtual const ModelConfig& config() const = 0;
  /// Teacher-forced: all target rows at once.
  /// Returns: hidden [Nt, D], what the output layer is applied to.
  virtual Variable forward(const ModelInput& input, const nn::ForwardContext& context) const = 0;
  virtual OutputLayer output() const = 0;
  /// Returns: null if the architecture does not generate.
  virtual std::unique_ptr<Generation> begin_generation() const = 0;
  /// Floating-point operations of `forward` and the output layer for one pair of sentences.
  virtual double forward_flops(int64_t source_length, int64_t target_length) const = 0;
  /// Returns: the path under which an observer of `forward` is shown the cross-attention of each decoder layer, the
  /// first layer first. Empty if the architecture has none.
  virtual std::vector<std::string> cross_attention_paths() const { return {}; }
  /// Whether training needs sums over the replicas in each pass (nn::BatchStatistics).
  virtual bool has_batch_norms() const { return false; }
  /// Whether `forward` in training, and its backward, copy nothing from the host to a device but what they derive of
  /// the tensors of their input. Then a pass can be recorded (kernels::Backend::record).
  virtual bool can_be_recorded() const { return false; }

  nn::ParameterSet& parameters() { return parameters_; }
  const nn::ParameterSet& parameters() const { return parameters_; }

 protected:
  nn::ParameterSet parameters_;
};

}  // namespace dragoman::models
