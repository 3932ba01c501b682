#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_arrays.h"

namespace dragoman::kernels::cuda {

/// Lists of tiles in the memory of the device, one behind another.
template <size_t kLists>
class DeviceTiles {
 public:
  using Lists = std::array<std::vector<SentenceTile>, kLists>;

  explicit DeviceTiles(const Lists& lists) {
    std::vector<SentenceTile> all;
    for (size_t i = 0; i < kLists; ++i) {
      begins_[i] = static_cast<int64_t>(all.size());
      counts_[i] = static_cast<int64_t>(lists[i].size());
      all.insert(all.end(), lists[i].begin(), lists[i].end());
    }
    array_.emplace(std::span<const SentenceTile>(all));
  }
  Tiles list(size_t number) const { return {array_->data() + begins_[number], counts_[number]}; }

 private:
  std::array<int64_t, kLists> begins_{}, counts_{};
  std::optional<DeviceArray<SentenceTile>> array_;
};

/// Tiles of the rows of all sentences, for kernels that take long tiles and for others.
class ForwardTiles {
 public:
  explicit ForwardTiles(const Tensor& offsets) : tiles_(lists_of(offsets)) {}
  TilesOfRows of(bool takes_long) const {
    const Tiles usual = tiles_.list(0);  // of sentences that are not long; behind it, usual tiles of the long ones
    return takes_long ? TilesOfRows{usual, tiles_.list(2)}
                      : TilesOfRows{{usual.data, usual.count + tiles_.list(1).count}, {}};
  }

 private:
  static DeviceTiles<3>::Lists lists_of(const Tensor& offsets);

  DeviceTiles<3> tiles_;
};

/// What the kernels of a backward take beside usual tiles.
struct BackwardKinds {
  bool shorter = false, longer = false;
  bool operator==(const BackwardKinds&) const = default;
};

/// What blocks of a backward have: short sentences as a whole, and tiles of the others.
class BackwardTiles {
 public:
  BackwardTiles(std::span<const int32_t> query_ends, std::span<const int32_t> key_ends, BackwardKinds kinds)
      : key_ends_(key_ends.begin(), key_ends.end()), kinds_(kinds), tiles_(lists_of(query_ends, key_ends, kinds)) {}
  bool are_of(std::span<const int32_t> key_ends, BackwardKinds kinds) const {
    return kinds == kinds_ && std::ranges::equal(key_ends, key_ends_);
  }

  ShortSentences of_short() const { return {tiles_.list(0).data, tiles_.list(0).count, tiles_.list(1).count}; }
  TilesOfRows of_queries() const { return {tiles_.list(2), tiles_.list(3)}; }
  TilesOfRows of_keys() const { return {tiles_.list(4), tiles_.list(5)}; }

 private:
  static DeviceTiles<6>::Lists lists_of(std::span<const int32_t> query_ends, std::span<const int32_t> key_ends,
                                        BackwardKinds kinds);

  std::vector<int32_t> key_ends_;
  BackwardKinds kinds_;
  DeviceTiles<6> tiles_;
};

/// Return: the tiles of queries, and of queries and keys, which are kept beside the offsets of the queries.
std::shared_ptr<const ForwardTiles> forward_tiles_of(const Tensor& offsets);
std::shared_ptr<const BackwardTiles> backward_tiles_of(const AttentionBounds& bounds, BackwardKinds kinds);

}  // namespace dragoman::kernels::cuda
