#include "kernels/cuda/sentence_tiles.h"

#include <algorithm>
#include <mutex>

#include "tensor/transfer.h"

namespace dragoman::kernels::cuda {
namespace {

void add_tiles(int32_t sentence, int32_t rows, int32_t rows_of_tile, std::vector<SentenceTile>& tiles) {
  for (int32_t first = 0; first < rows; first += rows_of_tile) {
    tiles.push_back({sentence, first});
  }
}

// The tiles of all backwards with the same offsets of queries.
class AllBackwardTiles {
 public:
  std::shared_ptr<const BackwardTiles> of(const AttentionBounds& bounds, BackwardKinds kinds) const {
    const tensor::HostView<int32_t> queries(bounds.query_offsets), keys(bounds.key_offsets);
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(all_, [&](const auto& tiles) { return tiles->are_of(keys.span(), kinds); });
    return found != all_.end() ? *found
                               : all_.emplace_back(std::make_shared<BackwardTiles>(queries.span(), keys.span(), kinds));
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const BackwardTiles>> all_;
};

}  // namespace

DeviceTiles<3>::Lists ForwardTiles::lists_of(const Tensor& offsets) {
  const tensor::HostView<int32_t> ends(offsets);
  DeviceTiles<3>::Lists lists;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    const auto sentence = static_cast<int32_t>(i);
    const int32_t rows = ends[i + 1] - ends[i];
    if (rows <= kLongTile) {
      add_tiles(sentence, rows, kAttentionTile, lists[0]);
    } else {
      add_tiles(sentence, rows, kAttentionTile, lists[1]);
      add_tiles(sentence, rows, kLongTile, lists[2]);
    }
  }
  return lists;
}

DeviceTiles<6>::Lists BackwardTiles::lists_of(std::span<const int32_t> query_ends, std::span<const int32_t> key_ends,
                                              BackwardKinds kinds) {
  DeviceTiles<6>::Lists lists;
  for (size_t i = 0; i + 1 < query_ends.size(); ++i) {
    const auto sentence = static_cast<int32_t>(i);
    const int32_t n_queries = query_ends[i + 1] - query_ends[i], n_keys = key_ends[i + 1] - key_ends[i];
    const int32_t longest = std::max(n_queries, n_keys);
    const auto add_rows = [&](size_t usual, int32_t rows) {
      const bool is_long = kinds.longer && rows > kLongTile;
      add_tiles(sentence, rows, is_long ? kLongTile : kAttentionTile, lists[is_long ? usual + 1 : usual]);
    };
    if (kinds.shorter && longest <= 2 * kShortSentence) {
      lists[longest <= kShortSentence ? 0 : 1].push_back({sentence, 0});
    } else {
      add_rows(2, n_queries);
      add_rows(4, n_keys);
    }
  }
  return lists;
}

std::shared_ptr<const ForwardTiles> forward_tiles_of(const Tensor& offsets) {
  return offsets.derived<ForwardTiles>([&] { return std::make_shared<ForwardTiles>(offsets); });
}

std::shared_ptr<const BackwardTiles> backward_tiles_of(const AttentionBounds& bounds, BackwardKinds kinds) {
  return bounds.query_offsets.derived<AllBackwardTiles>([] { return std::make_shared<AllBackwardTiles>(); })
      ->of(bounds, kinds);
}

}  // namespace dragoman::kernels::cuda
