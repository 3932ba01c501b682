#include "decoding/shortlist_learner.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/vocabulary/piece_list.h"

namespace dragoman::decoding {
namespace {

constexpr float kLeastProbability = 1e-4F;  // below it are pieces that merely stood in the same line
constexpr uint64_t kLookedAt = 10000;       // pairs that the fit is measured on

// The `count` of the ids that `ranks_before` puts first, rising.
template <typename Order>
std::vector<int32_t> first_of(std::vector<int32_t> ids, size_t count, const Order& ranks_before) {
  if (ids.size() > count) {
    std::ranges::nth_element(ids, ids.begin() + static_cast<ptrdiff_t>(count), ranks_before);
    ids.resize(count);
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<int32_t> most_frequent(std::span<const uint64_t> counts, size_t count) {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) {
      ids.push_back(static_cast<int32_t>(id));
    }
  }
  return first_of(std::move(ids), count, [&](int32_t a, int32_t b) {
    const uint64_t of_a = counts[static_cast<size_t>(a)], of_b = counts[static_cast<size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
}

std::vector<int32_t> likeliest(const data::LexicalTable::Row& row, size_t count) {
  std::vector<int32_t> places(row.targets.size());
  std::iota(places.begin(), places.end(), 0);
  const auto probability = [&](int32_t place) { return row.probabilities[static_cast<size_t>(place)]; };
  std::erase_if(places, [&](int32_t place) { return probability(place) < kLeastProbability; });
  places = first_of(std::move(places), count, [&](int32_t a, int32_t b) {  // targets rise, so places do for them
    return probability(a) != probability(b) ? probability(a) > probability(b) : a < b;
  });
  std::vector<int32_t> ids;
  for (const int32_t place : places) {
    ids.push_back(row.targets[static_cast<size_t>(place)]);
  }
  return ids;
}

void insert_id(std::vector<int32_t>& rising, int32_t id) {
  const auto place = std::ranges::lower_bound(rising, id);
  if (place == rising.end() || *place != id) {
    rising.insert(place, id);
  }
}

void measure_fit(const data::NumberedPairs& pairs, LearnedShortlist& learned) {
  const uint64_t stride = std::max<uint64_t>(1, pairs.size / kLookedAt);
  uint64_t looked_at = 0, allowed_pieces = 0, pieces = 0, covered = 0;
  for (uint64_t i = 0; i < pairs.size; i += stride) {
    const data::SentencePair pair = pairs.pair(i);
    const std::vector<int32_t> allowed = learned.shortlist.allowed(pair.source, {});
    ++looked_at;
    allowed_pieces += allowed.size();
    pieces += pair.target.size();
    covered += static_cast<uint64_t>(
        std::ranges::count_if(pair.target, [&](int32_t id) { return std::ranges::binary_search(allowed, id); }));
  }
  learned.mean_allowed = static_cast<double>(allowed_pieces) / static_cast<double>(std::max<uint64_t>(looked_at, 1));
  learned.covered = static_cast<double>(covered) / static_cast<double>(std::max<uint64_t>(pieces, 1));
}

}  // namespace

void ShortlistOptions::check() const {
  base::check_fields(*this);
  alignment.check();
}

LearnedShortlist learn_shortlist(const data::NumberedPairs& pairs, const data::VocabularyPair& vocabularies,
                                 const ShortlistOptions& options) {
  options.check();
  const int32_t source_pieces = vocabularies.source.size(), target_pieces = vocabularies.target.size();
  const data::LexicalModel model = data::learn_lexical_table(pairs, source_pieces, target_pieces, options.alignment);
  std::vector<std::vector<int32_t>> lists;
  for (int32_t source = 0; source < source_pieces; ++source) {
    // What stands in the row of begin of sentence came from nothing, not from that piece.
    lists.push_back(source == data::kBosId ? std::vector<int32_t>()
                                           : likeliest(model.table.row(source), static_cast<size_t>(options.best)));
    if (const int32_t same = vocabularies.target.id(vocabularies.source.piece(source)); same != data::kUnkId) {
      insert_id(lists.back(), same);
    }
  }
  std::vector<int32_t> frequent = most_frequent(model.target_counts, static_cast<size_t>(options.frequent));
  for (int32_t target = 0; target < target_pieces; ++target) {
    if (model.target_counts[static_cast<size_t>(target)] > 0 &&
        data::is_language_piece(vocabularies.target.piece(target))) {
      insert_id(frequent, target);
    }
  }
  LearnedShortlist learned{{target_pieces, std::move(frequent), lists}, model.pairs_used};
  measure_fit(pairs, learned);
  return learned;
}

}  // namespace dragoman::decoding
