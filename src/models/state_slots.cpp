#include "models/state_slots.h"

#include <utility>

#include "base/error.h"

namespace dragoman::models {

using tensor::Tensor;

StateSlots::StateSlots(std::string name, int64_t width) : name_(std::move(name)), width_(width) {}

StateSlots::Slot& StateSlots::checked(int32_t slot) {
  const bool is_used =
      slot >= 0 && static_cast<size_t>(slot) < slots_.size() && slots_[static_cast<size_t>(slot)].in_use;
  base::check_argument(is_used, "{}: slot {} is not in use", name_, slot);
  return slots_[static_cast<size_t>(slot)];
}

StateSlots::Slot& StateSlots::beginning(int32_t slot) {
  Slot& found = checked(slot);
  base::check_argument(found.tokens == 0, "{}: slot {} has begun; prefill comes first", name_, slot);
  return found;
}

void StateSlots::remove(int32_t slot) {
  checked(slot) = {};
  free_.push_back(slot);
}

std::vector<int32_t> StateSlots::add(std::span<const ops::SourceRows> sources, const Tensor& states) {
  std::vector<int32_t> slots;
  for (int64_t row = 0; row < states.dim(0); ++row) {
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(slots_.size()));
      slots_.emplace_back();
    }
    slots.push_back(free_.back());
    free_.pop_back();
    slots_[static_cast<size_t>(slots.back())] = {
        true, 0, sources.empty() ? ops::SourceRows() : sources[static_cast<size_t>(row)], states.rows(row, row + 1)};
  }
  return slots;
}

Tensor StateSlots::parents_of(std::span<const StepRow> rows) {
  Tensor states = Tensor::empty({static_cast<int64_t>(rows.size()), width_});
  for (size_t r = 0; r < rows.size(); ++r) {
    const Slot& slot = checked(rows[r].slot);
    base::check_argument(rows[r].parent >= 0 && rows[r].parent < slot.states.dim(0),
                         "{}: slot {} has {} hypotheses, parent is {}", name_, rows[r].slot, slot.states.dim(0),
                         rows[r].parent);
    const auto row = static_cast<int64_t>(r);
    states.rows(row, row + 1).copy_from(slot.states.rows(rows[r].parent, rows[r].parent + 1));
  }
  return states;
}

// The rows of a slot stand together.
void StateSlots::keep(std::span<const StepRow> rows, const Tensor& states, int64_t tokens) {
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].slot == rows[begin].slot) {
      ++end;
    }
    Slot& slot = checked(rows[begin].slot);
    slot.tokens += tokens;
    slot.states = states.rows(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  }
}

void StateSlots::add_sources(std::span<const StepRow> rows, ops::SourceMemory& memory) {
  for (const StepRow& row : rows) {
    if (const ops::SourceRows& source = checked(row.slot).source; source.keys.defined()) {
      memory.rows.push_back(source);
    }
  }
}

}  // namespace dragoman::models
