#pragma once

#include "nn/context.h"
#include "ops/types.h"

namespace dragoman::nn {

using autograd::Variable;
using tensor::Tensor;

/// Supplies the running mean that stands before each row. In training and scoring a sentence begins with zeros
/// (RaggedRunningMean). In decoding it goes on from the row that a hypothesis has reached. The layers above are the
/// same code for both.
class RunningMean {
 public:
  virtual ~RunningMean() = default;
  /// Computes y_t = keep_t * y_{t-1} + (1 - keep_t) * x_t within each sentence; see ops::scan. A layer calls this once
  /// in a forward pass.
  /// @param x, keep  [N, D];  @return [N, D]
  virtual Variable scan(const Variable& x, const Variable& keep) = 0;
  /// Returns: [N] int32, the place of each row in its sentence, from 0.
  virtual Tensor positions() const = 0;
};

/// The running means of whole sentences.
class RaggedRunningMean : public RunningMean {
 public:
  explicit RaggedRunningMean(const RaggedRows& rows) : rows_(rows) {}
  Variable scan(const Variable& x, const Variable& keep) override;
  Tensor positions() const override { return rows_.positions; }

 private:
  RaggedRows rows_;
};

}  // namespace dragoman::nn
