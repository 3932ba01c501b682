#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/generation.h"
#include "ops/source_attention.h"

namespace dragoman::models {

/// The slots of a generation whose hypotheses each keep one row of numbers, such as the states of all layers. A
/// hypothesis that follows a parent copies the row of the parent.
class StateSlots {
 public:
  struct Slot {
    bool in_use = false;
    int64_t tokens = 0;      ///< fed to each hypothesis so far
    ops::SourceRows source;  ///< undefined if the model does not attend
    tensor::Tensor states;   ///< [hypotheses, width]
  };

  /// @param name  of the generation, for messages: "recurrent generation";  @param width  of the row of a hypothesis
  StateSlots(std::string name, int64_t width);

  /// Gives each of B sentences a slot.
  /// @param sources  of each sentence, or none;  @param states  [B, width], which the first hypotheses begin with
  std::vector<int32_t> add(std::span<const ops::SourceRows> sources, const tensor::Tensor& states);
  /// Throws: Error, "recurrent generation: slot 3 is not in use".
  Slot& checked(int32_t slot);
  /// Throws: Error, also for a slot that had a step: "recurrent generation: slot 0 has begun; prefill comes first".
  Slot& beginning(int32_t slot);
  void remove(int32_t slot);
  size_t in_use() const { return slots_.size() - free_.size(); }

  /// Returns: [R, width], the row of the parent of each hypothesis. Throws: Error for a parent that is not there.
  tensor::Tensor parents_of(std::span<const StepRow> rows);
  /// Keeps the new rows [R, width] of hypotheses, each of which was fed `tokens` tokens.
  void keep(std::span<const StepRow> rows, const tensor::Tensor& states, int64_t tokens);
  /// Adds the source of each row to a memory, where there is one.
  void add_sources(std::span<const StepRow> rows, ops::SourceMemory& memory);
  int64_t width() const { return width_; }

 private:
  std::string name_;
  int64_t width_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_;
};

}  // namespace dragoman::models
