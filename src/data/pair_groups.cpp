#include "data/pair_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

constexpr size_t kMostTries = 64;  // groups that are asked for a place without an equal text
constexpr size_t kKeptOrders = 4;  // of epochs; a batcher prefetches from the next one

// Numbers texts by their ids.
class TextNumbers {
 public:
  uint32_t of(const std::vector<int32_t>& ids) {
    return numbers_.emplace(ids, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::vector<int32_t>, uint32_t> numbers_;
};

int64_t tokens_of(const EncodedTexts& pair) {
  return static_cast<int64_t>(pair.left.size() + pair.right.size() + pair.far.size());
}

}  // namespace

PairGroups::PairGroups(std::vector<EncodedTexts> pairs, const PairGroupOptions& options)
    : pairs_(std::move(pairs)), options_(options) {
  base::check_data(pairs_.size() >= 2,
                   "embed: the number of pairs is {}, must be 2 or more, so that one can be told from the other",
                   pairs_.size());
  TextNumbers numbers;
  for (const EncodedTexts& pair : pairs_) {
    const uint32_t left = numbers.of(pair.left), right = numbers.of(pair.right);
    numbers_.push_back({left, right, pair.far.empty() ? left : numbers.of(pair.far)});
    statistics_.source_tokens += static_cast<uint64_t>(tokens_of(pair));
  }
  statistics_.read = statistics_.kept = statistics_.target_tokens = pairs_.size();
  const auto most = static_cast<size_t>(options_.pairs);
  const size_t groups = (pairs_.size() + most - 1) / most;
  for (size_t group = 0; group <= groups; ++group) {
    starts_.push_back(pairs_.size() * group / groups);
  }
}

std::string PairGroups::report() const {
  return fmt::format("text: {} pairs of {} tokens in {} groups, within which each finds its other text", pairs_.size(),
                     statistics_.source_tokens, size());
}

std::vector<std::pair<std::string, uint64_t>> PairGroups::facts() const {
  return {{"pairs of texts", pairs_.size()}, {"groups", size()}, {"tokens", statistics_.source_tokens}};
}

// Of the first pair that the group has in the order of the text; groups of other epochs hold other pairs.
std::string PairGroups::place(uint64_t line) const {
  return pairs_[starts_[line]].place;
}

// Puts each pair into the first group that has room and none of its texts.
PairGroups::Order PairGroups::grouped(const std::vector<uint32_t>& pairs) const {
  const size_t groups = starts_.size() - 1;
  std::vector<std::vector<uint32_t>> members(groups);
  std::vector<std::unordered_set<uint32_t>> texts(groups), far_texts(groups);
  const auto has_room = [&](size_t group) { return members[group].size() < starts_[group + 1] - starts_[group]; };
  size_t open = 0;
  for (const uint32_t pair : pairs) {
    while (!has_room(open)) {
      texts[open].clear();
      far_texts[open++].clear();
    }
    const auto [left, right, far] = numbers_[pair];
    const auto meets = [&, left = left, right = right, far = far](size_t group) {
      return texts[group].contains(left) || texts[group].contains(right) || texts[group].contains(far) ||
             far_texts[group].contains(left) || far_texts[group].contains(right);
    };
    size_t chosen = open;
    for (size_t group = open; group < std::min(groups, open + kMostTries); ++group) {
      if (has_room(group) && !meets(group)) {
        chosen = group;
        break;
      }
    }
    members[chosen].push_back(pair);
    texts[chosen].insert({left, right});
    far_texts[chosen].insert(far);
  }
  auto order = std::make_shared<std::vector<uint32_t>>();
  for (const std::vector<uint32_t>& group : members) {
    order->insert(order->end(), group.begin(), group.end());
  }
  return order;
}

PairGroups::Order PairGroups::order(uint64_t epoch) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = orders_.find(epoch); found != orders_.end()) {
    return found->second;
  }
  std::vector<uint32_t> pairs(pairs_.size());
  std::iota(pairs.begin(), pairs.end(), 0U);
  if (epoch != kInOrder) {
    base::Random random(options_.seed, random_stream(StreamPurpose::kPairGroups, epoch, 0));
    base::shuffle(pairs.begin(), pairs.end(), random);
  }
  if (orders_.size() >= kKeptOrders) {
    orders_.erase(orders_.begin());
  }
  return orders_[epoch] = grouped(pairs);
}

SentencePair PairGroups::pair(uint64_t index, uint64_t epoch) const {
  const Order pairs = order(epoch);
  SentencePair group{.line = index, .source = {}, .target = {}, .after_target = 0};
  group.target.resize(starts_[index + 1] - starts_[index] - 1);
  for (size_t place = starts_[index]; place < starts_[index + 1]; ++place) {
    const EncodedTexts& texts = pairs_[(*pairs)[place]];
    for (const std::vector<int32_t>* text : {&texts.left, &texts.right, &texts.far}) {
      if (text->empty()) {
        continue;
      }
      group.text_begins.push_back(static_cast<int32_t>(group.source.size()));
      group.source.insert(group.source.end(), text->begin(), text->end());
    }
  }
  return group;
}

Examples::Window PairGroups::window(std::span<const uint32_t> indices, uint64_t epoch) const {
  const Order pairs = order(epoch);
  Window window;
  for (size_t position = 0; position < indices.size(); ++position) {
    const size_t begin = starts_[indices[position]], end = starts_[indices[position] + 1];
    PairSize& size = window.sizes.emplace_back();
    size = {position, 0, static_cast<int64_t>(end - begin)};
    for (size_t place = begin; place < end; ++place) {
      size.source_tokens += tokens_of(pairs_[(*pairs)[place]]);
    }
  }
  return window;
}

}  // namespace dragoman::data
