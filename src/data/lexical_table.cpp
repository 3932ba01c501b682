#include "data/lexical_table.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/worker_pool.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {
namespace {

constexpr int32_t kNullId = kBosId;  // no source line holds it
constexpr uint64_t kMaxBitBytes = uint64_t{4} << 30;
constexpr double kCountUnits = 4294967296.0;  // 2^32 in one
constexpr uint64_t kChunkPairs = 256;         // taken at a time by a worker

void add_to(uint64_t& sum, uint64_t value) {
  std::atomic_ref(sum).fetch_add(value, std::memory_order_relaxed);
}

std::span<const int32_t> without_end(const std::vector<int32_t>& ids) {
  const std::span<const int32_t> all(ids);
  return !all.empty() && all.back() == kEosId ? all.first(all.size() - 1) : all;
}

// Every stride-th pair, distributed over the workers.
class PairWalk {
 public:
  PairWalk(const NumberedPairs& pairs, int workers) : pairs_(pairs), pool_(workers) {}

  template <typename Action>  // action(pair), by several threads at once
  void for_each(uint64_t stride, const Action& action) {
    std::atomic<uint64_t> next = 0;
    const uint64_t used = count(stride);
    pool_.run([&](int) {
      for (uint64_t begin = next.fetch_add(kChunkPairs); begin < used; begin = next.fetch_add(kChunkPairs)) {
        for (uint64_t i = begin; i < std::min(begin + kChunkPairs, used); ++i) {
          action(pairs_.pair(i * stride));
        }
      }
    });
  }

  uint64_t count(uint64_t stride) const { return (pairs_.size + stride - 1) / stride; }
  base::WorkerPool& pool() { return pool_; }

 private:
  const NumberedPairs& pairs_;
  base::WorkerPool pool_;
};

// The pieces that occur together, with one bit for each pair of pieces.
class TogetherBits {
 public:
  TogetherBits(int32_t sources, int32_t targets) : sources_(sources), words_((static_cast<size_t>(targets) + 63) / 64) {
    base::check_usage(static_cast<size_t>(sources) * words_ * sizeof(uint64_t) <= kMaxBitBytes,
                      "shortlist: vocabularies of {} and {} pieces make more pairs than the aligner holds; use smaller "
                      "vocabularies",
                      sources, targets);
    bits_.resize(static_cast<size_t>(sources) * words_);
  }

  void clear() { std::ranges::fill(bits_, 0); }

  void set(int32_t source, int32_t target) {
    uint64_t& word = bits_[static_cast<size_t>(source) * words_ + static_cast<size_t>(target) / 64];
    const uint64_t bit = uint64_t{1} << (static_cast<uint32_t>(target) % 64);
    if ((std::atomic_ref(word).load(std::memory_order_relaxed) & bit) == 0) {
      std::atomic_ref(word).fetch_or(bit, std::memory_order_relaxed);
    }
  }

  uint64_t count() const {
    uint64_t sum = 0;
    for (const uint64_t word : bits_) {
      sum += static_cast<uint64_t>(std::popcount(word));
    }
    return sum;
  }

  LexicalTable table() const {
    std::vector<uint64_t> starts = {0};
    std::vector<int32_t> targets;
    targets.reserve(count());
    for (int32_t source = 0; source < sources_; ++source) {
      for (size_t word = 0; word < words_; ++word) {
        for (uint64_t left = bits_[static_cast<size_t>(source) * words_ + word]; left != 0; left &= left - 1) {
          targets.push_back(static_cast<int32_t>(word * 64) + std::countr_zero(left));
        }
      }
      starts.push_back(targets.size());
    }
    return {std::move(starts), std::move(targets)};
  }

 private:
  int32_t sources_;
  size_t words_;  // of a row
  std::vector<uint64_t> bits_;
};

// The sums of one iteration.
class Expectation {
 public:
  Expectation(const LexicalTable& table, const LexicalOptions& options)
      : table_(table), options_(options), counts_(table.size()) {}

  std::span<const uint64_t> counts() const { return counts_; }
  void clear() { std::ranges::fill(counts_, 0); }

  void take(const SentencePair& pair) {
    const std::span<const int32_t> source = without_end(pair.source);
    std::vector<uint64_t> entries(source.size() + 1);
    std::vector<double> weights(source.size() + 1);
    for (size_t j = 0; j < pair.target.size(); ++j) {
      const double place = (static_cast<double>(j) + 1) / static_cast<double>(pair.target.size());
      fill_places(place, weights);
      double sum = 0.0;
      for (size_t i = 0; i < entries.size(); ++i) {
        entries[i] = table_.index(i == 0 ? kNullId : source[i - 1], pair.target[j]);
        weights[i] *= static_cast<double>(table_.probability(entries[i]));
        sum += weights[i];
      }
      for (size_t i = 0; sum > 0 && i < entries.size(); ++i) {
        add_to(counts_[entries[i]], static_cast<uint64_t>(weights[i] / sum * kCountUnits));
      }
    }
  }

 private:
  // weights[0] = p0, weights[i] = (1 - p0) a(i | j) for the target piece that stands at `place`, in (0, 1].
  void fill_places(double place, std::vector<double>& weights) const {
    const auto length = static_cast<double>(weights.size() - 1);
    double sum = 0.0;
    for (size_t i = 1; i < weights.size(); ++i) {
      weights[i] = std::exp(-options_.diagonal * std::abs(static_cast<double>(i) / length - place));
      sum += weights[i];
    }
    for (size_t i = 1; i < weights.size(); ++i) {
      weights[i] *= (1.0 - options_.null_probability) / sum;
    }
    weights[0] = options_.null_probability;
  }

  const LexicalTable& table_;
  const LexicalOptions& options_;
  std::vector<uint64_t> counts_;  // in units of 2^-32
};

// Records the pieces that occur together, in as many pairs as the table has room for. Returns the stride.
uint64_t note_together(PairWalk& walk, uint64_t max_entries, TogetherBits& bits) {
  for (uint64_t stride = 1;; stride *= 2) {
    bits.clear();
    walk.for_each(stride, [&](const SentencePair& pair) {
      for (const int32_t target : pair.target) {
        bits.set(kNullId, target);
        for (const int32_t source : without_end(pair.source)) {
          bits.set(source, target);
        }
      }
    });
    if (bits.count() <= max_entries || walk.count(stride) <= 1) {
      return stride;
    }
  }
}

std::vector<uint64_t> count_targets(PairWalk& walk, uint64_t stride, int32_t target_pieces) {
  std::vector<uint64_t> counts(static_cast<size_t>(target_pieces));
  walk.for_each(stride, [&](const SentencePair& pair) {
    for (const int32_t target : pair.target) {
      add_to(counts[static_cast<size_t>(target)], 1);
    }
  });
  return counts;
}

LexicalTable table_of(PairWalk& walk, uint64_t max_entries, int32_t source_pieces, int32_t target_pieces,
                      uint64_t& stride) {
  TogetherBits bits(source_pieces, target_pieces);
  stride = note_together(walk, max_entries, bits);
  return bits.table();
}

void normalise_all(base::WorkerPool& pool, std::span<const uint64_t> counts, LexicalTable& table) {
  std::atomic<int32_t> next = 0;
  pool.run([&](int) {
    for (int32_t source = next.fetch_add(1); source < table.sources(); source = next.fetch_add(1)) {
      table.normalise(source, counts);
    }
  });
}

}  // namespace

void LexicalOptions::check() const {
  base::check_fields(*this);
  base::check_usage(null_probability > 0 && null_probability < 1, "null_probability is {}, must be above 0 and below 1",
                    null_probability);
}

LexicalTable::LexicalTable(std::vector<uint64_t> starts, std::vector<int32_t> targets)
    : starts_(std::move(starts)), targets_(std::move(targets)), probabilities_(targets_.size()) {
  for (int32_t source = 0; source < sources(); ++source) {  // at first all are equally likely
    const uint64_t begin = starts_[static_cast<size_t>(source)], end = starts_[static_cast<size_t>(source) + 1];
    std::fill(probabilities_.begin() + static_cast<ptrdiff_t>(begin),
              probabilities_.begin() + static_cast<ptrdiff_t>(end), 1.0F / static_cast<float>(end - begin));
  }
}

LexicalTable::Row LexicalTable::row(int32_t source) const {
  const uint64_t begin = starts_[static_cast<size_t>(source)], end = starts_[static_cast<size_t>(source) + 1];
  return {std::span(targets_).subspan(begin, end - begin), std::span(probabilities_).subspan(begin, end - begin)};
}

uint64_t LexicalTable::index(int32_t source, int32_t target) const {
  const std::span<const int32_t> targets = row(source).targets;
  return starts_[static_cast<size_t>(source)] +
         static_cast<uint64_t>(std::ranges::lower_bound(targets, target) - targets.begin());
}

void LexicalTable::normalise(int32_t source, std::span<const uint64_t> counts) {
  const uint64_t begin = starts_[static_cast<size_t>(source)], end = starts_[static_cast<size_t>(source) + 1];
  double sum = 0.0;
  for (uint64_t entry = begin; entry < end; ++entry) {
    sum += static_cast<double>(counts[entry]);
  }
  for (uint64_t entry = begin; entry < end; ++entry) {
    probabilities_[entry] = sum > 0 ? static_cast<float>(static_cast<double>(counts[entry]) / sum) : 0.0F;
  }
}

LexicalModel learn_lexical_table(const NumberedPairs& pairs, int32_t source_pieces, int32_t target_pieces,
                                 const LexicalOptions& options) {
  options.check();
  PairWalk walk(pairs, options.workers);
  uint64_t stride = 1;
  LexicalTable table = table_of(walk, options.max_entries, source_pieces, target_pieces, stride);
  Expectation expectation(table, options);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    expectation.clear();
    walk.for_each(stride, [&](const SentencePair& pair) { expectation.take(pair); });
    normalise_all(walk.pool(), expectation.counts(), table);
  }
  std::vector<uint64_t> target_counts = count_targets(walk, stride, target_pieces);
  return {std::move(table), std::move(target_counts), walk.count(stride)};
}

}  // namespace dragoman::data
