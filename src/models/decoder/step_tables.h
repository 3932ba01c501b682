#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cached_attention.h"
#include "tensor/tensor.h"

namespace dragoman::models {

/// What a forward pass of decoding reads of its rows, in the memory of a device, where one copy brings it. A pass is
/// padded with rows that attend to nothing and are not kept, so that passes have few different numbers of rows. The
/// tables of passes with equally many rows are in the same memory until `version` changes.
class StepTables {
 public:
  /// One row of a pass.
  struct Row {
    int32_t id;
    int32_t position;
    int32_t cache_row;
    int32_t length, begin;  ///< of its history: how many numbers, and which is the first
    int32_t source_length = 0, source_begin = 0;
  };

  /// Begins a pass of `rows` rows.
  void begin(int64_t rows);
  /// Returns: the number of the first of these cache rows, which histories name.
  int32_t add_numbers(std::span<const int32_t> numbers);
  void add(const Row& row);
  /// Brings the pass to the device. Requires: `add` was called for each of its rows.
  void upload();

  /// Returns: the rows of the pass with the padding: 1, 8, or a power of two or the middle between two of them.
  int64_t padded_rows() const { return padded_; }
  /// Of the pass that was brought last, [padded_rows] int32.
  tensor::Tensor ids() const { return part(kIds); }
  tensor::Tensor positions() const { return part(kPositions); }
  tensor::Tensor cache_rows() const { return part(kCacheRows); }
  /// The parts of kernels::CachedHistories.
  struct Histories {
    tensor::Tensor lengths, begins, numbers;
  };
  Histories own() const { return {part(kLengths), part(kBegins), numbers()}; }
  Histories source() const { return {part(kSourceLengths), part(kSourceBegins), numbers()}; }
  uint64_t version() const { return version_; }

 private:
  enum Part { kIds, kPositions, kCacheRows, kLengths, kBegins, kSourceLengths, kSourceBegins, kParts };

  tensor::Tensor part(Part part) const { return memory_.rows(part * padded_, (part + 1) * padded_); }
  tensor::Tensor numbers() const { return memory_.rows(kParts * padded_, memory_.dim(0)); }

  int64_t padded_ = 0;
  size_t added_ = 0;
  std::vector<int32_t> values_;  // [kParts, padded], then the numbers of cache rows
  tensor::Tensor memory_;        // [capacity]
  uint64_t version_ = 0;
};

}  // namespace dragoman::models
