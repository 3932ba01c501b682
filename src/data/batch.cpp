#include "data/batch.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {
namespace {

// Sentences [begin, end) of `batch`.
Batch slice(const Batch& batch, int32_t begin, int32_t end) {
  const auto rows = [](const std::vector<int32_t>& ids, int32_t from, int32_t to) {
    return std::vector<int32_t>(ids.begin() + from, ids.begin() + to);
  };
  const auto rebased = [&](const std::vector<int32_t>& offsets) {
    std::vector<int32_t> part = rows(offsets, begin, end + 1);
    for (int32_t& offset : part) {
      offset -= offsets[static_cast<size_t>(begin)];
    }
    return part;
  };
  const auto first = static_cast<size_t>(begin), last = static_cast<size_t>(end);
  const int32_t source_begin = batch.source_offsets[first], source_end = batch.source_offsets[last];
  const int32_t target_begin = batch.target_offsets[first], target_end = batch.target_offsets[last];
  Batch part;
  part.source = rows(batch.source, source_begin, source_end);
  part.source_offsets = rebased(batch.source_offsets);
  part.target_input = rows(batch.target_input, target_begin, target_end);
  part.target_output = rows(batch.target_output, target_begin, target_end);
  part.target_offsets = rebased(batch.target_offsets);
  part.lines.assign(batch.lines.begin() + begin, batch.lines.begin() + end);
  if (!batch.second_begins.empty()) {
    part.second_begins = rows(batch.second_begins, begin, end);
  }
  if (!batch.chosen.empty()) {
    part.chosen = rows(batch.chosen, target_begin, target_end);
  }
  if (!batch.text_begins.empty()) {
    const int32_t texts = batch.texts_of_pair();
    part.text_begins = rows(batch.text_begins, texts * target_begin, texts * target_end);
  }
  part.epoch = batch.epoch;
  part.ends_epoch = batch.ends_epoch;
  part.first_sentence = batch.first_sentence + begin;
  part.first_source_row = batch.first_source_row + source_begin;
  part.first_target_row = batch.first_target_row + target_begin;
  return part;
}

// The number of pairs, from the first, that fit into one batch; at least one.
size_t fitting(std::span<const PairSize> pairs, int64_t budget) {
  int64_t source = 0, target = 0;
  size_t count = 0;
  for (const PairSize& pair : pairs) {
    source += pair.source_tokens;
    target += pair.target_tokens;
    if (count > 0 && std::max(source, target) > budget) {
      break;
    }
    ++count;
  }
  return count;
}

size_t count_batches(std::span<const PairSize> pairs, int64_t budget) {
  size_t batches = 0;
  for (; !pairs.empty(); ++batches) {
    pairs = pairs.subspan(fitting(pairs, budget));
  }
  return batches;
}

// The smallest budget that needs no more batches than `budget` does.
int64_t evened_budget(std::span<const PairSize> pairs, int64_t budget) {
  const size_t batches = count_batches(pairs, budget);
  int64_t enough = budget, too_small = 0;
  while (enough - too_small > 1) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (count_batches(pairs, middle) <= batches ? enough : too_small) = middle;
  }
  return enough;
}

std::vector<PairSize> sizes_of(const Batch& batch) {
  std::vector<PairSize> sizes;
  for (size_t pair = 0; pair < batch.lines.size(); ++pair) {
    sizes.push_back({pair, batch.source_offsets[pair + 1] - batch.source_offsets[pair],
                     batch.target_offsets[pair + 1] - batch.target_offsets[pair]});
  }
  return sizes;
}

}  // namespace

bool have_one_form(const Batch& left, const Batch& right) {
  const auto form = [](const Batch& batch) {
    return std::tie(batch.source_offsets, batch.target_offsets, batch.second_begins, batch.text_begins,
                    batch.first_sentence, batch.first_source_row, batch.first_target_row);
  };
  return form(left) == form(right) && left.chosen.size() == right.chosen.size();
}

void append(Batch& batch, const SentencePair& pair) {
  batch.source.insert(batch.source.end(), pair.source.begin(), pair.source.end());
  batch.source_offsets.push_back(static_cast<int32_t>(batch.source.size()));
  batch.target_input.push_back(pair.before_target);
  batch.target_input.insert(batch.target_input.end(), pair.target.begin(), pair.target.end());
  batch.target_output.insert(batch.target_output.end(), pair.target.begin(), pair.target.end());
  batch.target_output.push_back(pair.after_target);
  batch.target_offsets.push_back(static_cast<int32_t>(batch.target_output.size()));
  batch.chosen.insert(batch.chosen.end(), pair.chosen.begin(), pair.chosen.end());
  batch.text_begins.insert(batch.text_begins.end(), pair.text_begins.begin(), pair.text_begins.end());
  if (pair.second_begin > 0) {
    batch.second_begins.resize(batch.lines.size());
    batch.second_begins.push_back(pair.second_begin);
  } else if (!batch.second_begins.empty()) {
    batch.second_begins.push_back(0);
  }
  batch.lines.push_back(pair.line);
}

std::vector<BatchPlan> plan_batches(std::vector<PairSize> pairs, int64_t batch_tokens, BatchOrder order) {
  if (order == BatchOrder::kLength) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const PairSize& a, const PairSize& b) {
      return std::pair(a.target_tokens, a.source_tokens) < std::pair(b.target_tokens, b.source_tokens);
    });
  }
  std::span<const PairSize> rest = pairs;
  const int64_t budget = evened_budget(rest, batch_tokens);
  std::vector<BatchPlan> plans;
  while (!rest.empty()) {
    const size_t count = fitting(rest, budget);
    plans.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
    rest = rest.subspan(count);
  }
  return plans;
}

std::vector<size_t> shard_borders(std::span<const PairSize> pairs, int shards) {
  base::check_argument(shards >= 1, "split: {} shards were asked for, at least 1 is needed", shards);
  std::vector<int64_t> tokens_before{0};
  for (const PairSize& pair : pairs) {
    tokens_before.push_back(tokens_before.back() + pair.source_tokens + pair.target_tokens);
  }
  std::vector<size_t> borders{0};
  for (int shard = 1; shard < shards; ++shard) {
    const int64_t wanted = tokens_before.back() * shard / shards;
    size_t end = borders.back();
    // Take the next sentence as long as that brings the cut nearer to its place.
    while (end < pairs.size() && tokens_before[end] + tokens_before[end + 1] <= 2 * wanted) {
      ++end;
    }
    borders.push_back(end);
  }
  borders.push_back(pairs.size());
  return borders;
}

BatchShare split(const Batch& batch, int shards) {
  const std::vector<size_t> borders = shard_borders(sizes_of(batch), shards);
  BatchShare share{{}, batch.source_tokens(), batch.target_tokens()};
  for (size_t shard = 0; shard + 1 < borders.size(); ++shard) {
    share.shards.push_back(
        slice(batch, static_cast<int32_t>(borders[shard]), static_cast<int32_t>(borders[shard + 1])));
  }
  return share;
}

std::vector<Batch> cut_batches(const std::vector<SentencePair>& pairs, int64_t batch_tokens) {
  std::vector<PairSize> sizes;
  for (const SentencePair& pair : pairs) {
    sizes.push_back({sizes.size(), pair.source_tokens(), pair.target_tokens()});
  }
  std::vector<Batch> batches;
  for (const BatchPlan& plan : plan_batches(std::move(sizes), batch_tokens)) {
    Batch& batch = batches.emplace_back();
    for (const PairSize& pair : plan) {
      append(batch, pairs[pair.position]);
    }
  }
  return batches;
}

}  // namespace dragoman::data
