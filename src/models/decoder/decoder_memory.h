#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/decoder/decoder_sources.h"
#include "models/generation.h"
#include "models/token_rows.h"
#include "tensor/transfer.h"

namespace dragoman::models {

/// Whether a forward pass comes again with other rows.
enum class PassKind { kStep, kPrefill };

/// All that decoding with an encoder-decoder remembers between steps. A slot is one sentence, whose hypotheses share
/// the keys and values of its source. Of the words so far it keeps what the decoder's sub-layer needs: keys and values
/// of each word (DecoderState), or running means (RunningState). Slots are refilled when a sentence is done.
/// Threads: one at a time; the layers must outlive it.
class DecoderMemory : public DecoderSources {
 public:
  /// Projects the encoder's output of B sentences for every layer and gives each a slot. When it throws, no slot is
  /// taken.
  /// @param memory [Ns, D];  @param offsets [B + 1] where sentence b is rows offsets[b] .. offsets[b + 1]
  /// @return B slot numbers; each starts with one hypothesis of no tokens
  virtual std::vector<int32_t> add(const autograd::Variable& memory, std::span<const int32_t> offsets) = 0;
  /// Frees the slot. Throws Error for a slot that is not in use.
  virtual void remove(int32_t slot) = 0;
  virtual size_t slots_in_use() const = 0;

  /// Makes the hypotheses follow `rows` (see Generation::step), which are the rows of the next forward pass. Throws
  /// Error when a slot is not in use or a parent does not exist: "decoder state: slot 3 has 4 hypotheses, parent is 4".
  virtual void begin_step(std::span<const StepRow> rows) = 0;
  /// Makes `count` tokens of the only hypothesis of a slot the rows of the next forward pass. Throws Error when the
  /// slot is not in use or has begun.
  virtual void begin_prefill(int32_t slot, int64_t count) = 0;
  /// Returns: [R] int32, the position each row of this step stands at.
  virtual tensor::Tensor positions() const = 0;

  /// The forward pass of a decoder: hidden [R, D] of its rows.
  using Pass = std::function<autograd::Variable(const TokenRows& rows)>;
  /// Runs the forward pass of the rows that have begun.  @param ids  [R] the token of each
  /// Returns: what the pass returns for them, [R, D].
  virtual autograd::Variable run(std::span<const int32_t> ids, PassKind /*kind*/, const Pass& pass) {
    return pass(step_token_rows(tensor::host_tensor(ids), positions()));
  }

  /// From now on the weights of the cross-attention of these layers alone are kept after each forward pass
  /// (see Generation).
  virtual void want_attention(std::span<const int> layers) = 0;
  /// Returns: [R, longest source], the mean over the heads. Undefined if it is not wanted.
  virtual tensor::Tensor attention(int layer) const = 0;
};

}  // namespace dragoman::models
