#include "decoding/steps/restricted_output.h"

#include <algorithm>

#include "base/error.h"
#include "decoding/search/candidates.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// Above this share of the vocabulary gathering columns costs more than it saves.
constexpr double kMostColumns = 0.6;
// Columns kept to columns in use, above which the others are thrown out.
constexpr double kMostKept = 1.5;

}  // namespace

void RestrictedOutput::restrict(int32_t slot, std::span<const int32_t> ids) {
  const auto vocab_size = static_cast<int32_t>(model_.config().sizes().target_vocab_size);
  base::check_argument(!ids.empty() && ids.front() >= 0 && ids.back() < vocab_size &&
                           std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end(),
                       "restricted output: the {} pieces of slot {} do not rise from 0 to {}", ids.size(), slot,
                       vocab_size - 1);
  if (slots_.size() <= static_cast<size_t>(slot)) {
    slots_.resize(static_cast<size_t>(slot) + 1);
  }
  Slot& restricted = slots_[static_cast<size_t>(slot)];
  base::check_argument(restricted.ids.empty(), "restricted output: slot {} is restricted already", slot);
  restricted.ids.assign(ids.begin(), ids.end());
  restricted.layout = 0;
  ++n_restricted_;
  uses_.resize(static_cast<size_t>(vocab_size));
  for (const int32_t id : ids) {
    used_ += uses_[static_cast<size_t>(id)]++ == 0 ? 1 : 0;
  }
}

void RestrictedOutput::release(int32_t slot) {
  Slot* released = slot_of(slot);
  if (released == nullptr) {
    return;
  }
  for (const int32_t id : released->ids) {
    used_ -= --uses_[static_cast<size_t>(id)] == 0 ? 1 : 0;
  }
  released->ids.clear();
  --n_restricted_;
}

// Null for a slot that may use all.
RestrictedOutput::Slot* RestrictedOutput::slot_of(int32_t slot) {
  const auto index = static_cast<size_t>(slot);
  return index < slots_.size() && !slots_[index].ids.empty() ? &slots_[index] : nullptr;
}

void RestrictedOutput::compute(const tensor::Tensor& hidden, std::vector<int32_t> slots) {
  row_slots_ = std::move(slots);
  const bool packed = model_.output().weight.packed != nullptr;
  const bool all_restricted =
      std::ranges::all_of(row_slots_, [this](int32_t slot) { return slot_of(slot) != nullptr; });
  whole_ = !packed || !all_restricted ||
           static_cast<double>(used_) > kMostColumns * static_cast<double>(model_.config().sizes().target_vocab_size);
  if (whole_) {
    output_ = tensor::to_host(model_.output().logits(autograd::Variable(hidden)).value());  // [R, V]
    return;
  }
  begin_subset();
  for (size_t row = 0; row < row_slots_.size(); ++row) {
    if (row == 0 || row_slots_[row] != row_slots_[row - 1]) {
      place(*slot_of(row_slots_[row]));
    }
  }
  output_ = tensor::to_host(subset_->multiply(hidden));  // [R, columns]
}

// Makes the subset, or makes it small again.
void RestrictedOutput::begin_subset() {
  if (!subset_) {
    const autograd::Variable bias = model_.output().bias;
    subset_.emplace(model_.output().weight.packed->forward(), bias.defined() ? bias.value() : tensor::Tensor());
    place_.assign(static_cast<size_t>(model_.config().sizes().target_vocab_size), -1);
    layout_ = 1;
  }
  if (static_cast<double>(subset_->size()) > kMostKept * static_cast<double>(used_)) {
    keep_used_columns();
  }
}

void RestrictedOutput::keep_used_columns() {
  missing_.clear();
  for (size_t id = 0; id < uses_.size(); ++id) {
    place_[id] = -1;
    if (uses_[id] > 0) {
      place_[id] = static_cast<int32_t>(missing_.size());
      missing_.push_back(static_cast<int32_t>(id));
    }
  }
  subset_->clear();
  subset_->append(missing_);
  ++layout_;
}

void RestrictedOutput::place(Slot& slot) {
  if (slot.layout == layout_) {
    return;
  }
  missing_.clear();
  slot.places.clear();
  for (const int32_t id : slot.ids) {
    int32_t& place = place_[static_cast<size_t>(id)];
    if (place < 0) {
      place = static_cast<int32_t>(subset_->size()) + static_cast<int32_t>(missing_.size());
      missing_.push_back(id);
    }
    slot.places.push_back(place);
  }
  subset_->append(missing_);
  slot.layout = layout_;
}

// The logits of what the row may use, by rising id.
std::span<const float> RestrictedOutput::row_of(size_t row) {
  const std::span<const float> values = tensor::HostRows<float>(output_)[row];
  const Slot* slot = slot_of(row_slots_[row]);
  if (slot == nullptr) {
    return values;
  }
  const std::vector<int32_t>& places = whole_ ? slot->ids : slot->places;
  row_.resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    row_[i] = values[static_cast<size_t>(places[i])];
  }
  return row_;
}

tensor::Tensor RestrictedOutput::logits() {
  const tensor::HostScope on_host;
  const auto rows = static_cast<int64_t>(row_slots_.size());
  tensor::Tensor all = tensor::Tensor::full({rows, model_.config().sizes().target_vocab_size}, kImpossible);  // [R, V]
  for (size_t row = 0; row < row_slots_.size(); ++row) {
    const auto index = static_cast<int64_t>(row);
    tensor::HostEdit<float> edit(all.rows(index, index + 1));
    const std::span<float> to = edit.span();
    const std::span<const float> values = row_of(row);
    const Slot* slot = slot_of(row_slots_[row]);
    for (size_t i = 0; i < values.size(); ++i) {
      to[slot == nullptr ? i : static_cast<size_t>(slot->ids[i])] = values[i];
    }
  }
  return all;
}

void RestrictedOutput::best(int k, kernels::BestLogits& best) {
  best.resize(static_cast<int64_t>(row_slots_.size()),
              static_cast<int>(std::min<int64_t>(k, model_.config().sizes().target_vocab_size)));
  for (size_t row = 0; row < row_slots_.size(); ++row) {
    const Slot* slot = slot_of(row_slots_[row]);
    best.take_row(row, row_of(row), slot == nullptr ? std::span<const int32_t>() : slot->ids);
  }
}

}  // namespace dragoman::decoding
