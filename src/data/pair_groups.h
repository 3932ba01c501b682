#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/examples.h"

namespace dragoman::data {

/// Two texts that mean the same, and a text that is unlike them, as ids with what stands around each.
struct EncodedTexts {
  std::vector<int32_t> left, right;
  std::string place;              ///< "train.tsv:17"
  std::vector<int32_t> far = {};  ///< empty in all pairs or in none
};

/// How pairs of texts become groups.
struct PairGroupOptions {
  int64_t pairs = 32;        ///< of a group, at most; the groups differ by one pair at most
  int64_t max_length = 128;  ///< of a text, in ids with those around it
  uint64_t seed = 1;
};

/// Examples that hold a group of pairs of texts each, of which a contrastive loss tells one from the others. Each epoch
/// groups the pairs anew, which follows from (seed, epoch). Two pairs that share a text do not meet in a group as long
/// as another group has room: the text of one would be a wrong answer for the other. Nor do pairs of which one is
/// unlike a text of the other; two pairs may be unlike the same text. An example has a target for each pair.
/// SentencePair::text_begins says where the texts begin. Threads: any number.
class PairGroups : public Examples {
 public:
  /// The epoch in which the pairs are grouped in their order, for validation.
  static constexpr uint64_t kInOrder = ~uint64_t{0};

  /// Throws: Error(kBadData) for fewer than two pairs, "embed: the number of pairs is 1, must be 2 or more, so that
  /// ...".
  PairGroups(std::vector<EncodedTexts> pairs, const PairGroupOptions& options);

  uint64_t size() const override { return starts_.size() - 1; }
  int32_t max_length() const override { return static_cast<int32_t>(options_.max_length) - 1; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string report() const override;
  std::vector<std::pair<std::string, uint64_t>> facts() const override;
  std::string place(uint64_t line) const override;
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t epoch) const override;
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

 private:
  using Order = std::shared_ptr<const std::vector<uint32_t>>;  // the pairs, group after group

  Order order(uint64_t epoch) const;
  Order grouped(const std::vector<uint32_t>& pairs) const;

  std::vector<EncodedTexts> pairs_;
  std::vector<std::array<uint32_t, 3>> numbers_;  // [P] of the texts of each pair; equal texts have equal ones
  std::vector<size_t> starts_;                    // [groups + 1] places in an order
  PairGroupOptions options_;
  CorpusStatistics statistics_;
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, Order> orders_;  // of the last epochs asked for
};

}  // namespace dragoman::data
