#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "autograd/variable.h"
#include "tensor/tensor.h"

namespace dragoman::models {

/// One hypothesis that asks for its next token.
struct StepRow {
  int32_t slot;      ///< the sentence
  int32_t parent;    ///< the hypothesis it extends: its place among the rows this slot had in the step before
                     ///< (0 in the first step)
  int32_t token_id;  ///< its latest token, begin of sentence in the first step
};

/// The last layer, where layers are numbered from 0.
constexpr int kLastLayer = -1;

/// What a model remembers while it generates: a key-value cache, a recurrent state, a window of inputs. A slot is one
/// sentence or prompt; its hypotheses share what the model knows of the source.
/// Threads: one at a time. Several generations may share one model, which must outlive them.
class Generation {
 public:
  virtual ~Generation() = default;

  /// Reads source sentences together and gives each a slot. When it throws, no slot is taken.
  /// @param sources  ids of each, the end included; none empty
  virtual std::vector<int32_t> add(std::span<const std::span<const int32_t>> sources) = 0;
  /// Feeds one token to every hypothesis. A step names all hypotheses that live on in each slot it names; rows of one
  /// slot stand together.
  /// Returns: hidden [R, D], what the output layer is applied to, in the order of `rows`.
  /// Throws: Error for a slot that is not in use or a parent that does not exist.
  virtual autograd::Variable step(std::span<const StepRow> rows) = 0;
  /// Feeds several tokens to the only hypothesis of a slot that has had no step yet. The slot then goes on as if the
  /// tokens had been fed by as many steps.
  /// Returns: hidden [T, D], a row for each token.
  virtual autograd::Variable prefill(int32_t slot, std::span<const int32_t> ids) = 0;
  /// Forgets a slot, which may then be given to another sentence. Throws: Error for a slot that is not in use.
  virtual void remove(int32_t slot) = 0;
  virtual size_t slots_in_use() const = 0;

  /// From now on `attention` is wanted of these layers alone, kLastLayer among them or not. A model without
  /// cross-attention ignores it.
  virtual void want_attention(std::span<const int> /*layers*/) {}
  /// Returns: [R, longest source] float32, the cross-attention of the last step or prefill: the mean over the heads of
  /// a layer, zero past a row's source. Undefined if the model does not show it or it is not wanted.
  virtual tensor::Tensor attention(int /*layer*/) const { return {}; }
};

}  // namespace dragoman::models
