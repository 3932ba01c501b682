#include "models/decoder/step_tables.h"

#include <algorithm>
#include <bit>

#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

constexpr int64_t kLeastPadded = 8;
constexpr int64_t kLeastMemory = 1 << 16;  // numbers

int64_t padded(int64_t rows) {
  if (rows <= 1) {
    return 1;
  }
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(rows, kLeastPadded))));
  return power > 2 * kLeastPadded && rows <= power / 4 * 3 ? power / 4 * 3 : power;
}

}  // namespace

void StepTables::begin(int64_t rows) {
  padded_ = padded(rows);
  added_ = 0;
  values_.assign(static_cast<size_t>(kParts * padded_), 0);
  std::fill_n(values_.begin() + kCacheRows * padded_, padded_, -1);
}

int32_t StepTables::add_numbers(std::span<const int32_t> numbers) {
  const auto first = static_cast<int32_t>(static_cast<int64_t>(values_.size()) - kParts * padded_);
  values_.insert(values_.end(), numbers.begin(), numbers.end());
  return first;
}

void StepTables::add(const Row& row) {
  const int32_t parts[kParts] = {row.id,    row.position,      row.cache_row,   row.length,
                                 row.begin, row.source_length, row.source_begin};
  for (int64_t part = 0; part < kParts; ++part) {
    values_[static_cast<size_t>(part * padded_) + added_] = parts[part];
  }
  ++added_;
}

void StepTables::upload() {
  const auto count = static_cast<int64_t>(values_.size());
  const bool elsewhere = memory_.defined() && memory_.device() != tensor::Arena::current()->device();
  if (!memory_.defined() || elsewhere || memory_.dim(0) <= count) {
    memory_ = tensor::Tensor::empty({std::max(kLeastMemory, 2 * count)}, tensor::DType::kInt32);
    ++version_;
  }
  tensor::Tensor used = memory_.rows(0, count);
  tensor::copy_from_host<int32_t>(values_, used);
}

}  // namespace dragoman::models
