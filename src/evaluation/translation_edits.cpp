#include "evaluation/translation_edits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/error.h"

namespace dragoman::evaluation {
namespace {

constexpr size_t kLongestShift = 10;      // words
constexpr size_t kFarthestMatch = 50;     // places between equal words
constexpr int64_t kHalfBand = 25;         // cells on each side of the diagonal
constexpr size_t kMostCandidates = 1000;  // tried shifts of a sentence

enum class Edit : uint8_t {
  kNone,  // outside the band
  kMatch,
  kSubstitute,
  kInsert,  // a word of the reference that the hypothesis lacks
  kDelete,  // a word of the hypothesis that the reference lacks
};

// The edit distance from hypotheses of one length to one reference, by dynamic programming over a band.
class BandedDistance {
 public:
  BandedDistance(size_t n_words, const Symbols& reference)
      : reference_(reference),
        n_words_(n_words),
        width_(reference.size() + 1),
        slope_(n_words == 0 ? 1.0 : static_cast<double>(reference.size()) / static_cast<double>(n_words)),
        half_band_(kHalfBand < slope_ / 2 ? static_cast<int64_t>(std::ceil(slope_ / 2 + kHalfBand)) : kHalfBand),
        cost_((n_words + 1) * width_, kInfinity),
        edit_((n_words + 1) * width_, Edit::kNone) {
    for (size_t j = 0; j < width_; ++j) {
      cost_[j] = static_cast<int32_t>(j);
      edit_[j] = Edit::kInsert;
    }
  }

  // Returns the distance of `words`. The rows of first words that are those of the call before are kept.
  int32_t of(const Symbols& words) {
    const auto differs = std::mismatch(words.begin(), words.end(), last_.begin(), last_.end()).first;
    for (auto row = static_cast<size_t>(differs - words.begin()) + 1; row <= n_words_; ++row) {
      fill_row(row, words[row - 1]);
    }
    last_ = words;
    return cost_.back();
  }

  // The edits of the last call, from the first word on.
  std::vector<Edit> path() const {
    std::vector<Edit> path;
    for (size_t i = n_words_, j = width_ - 1; i > 0 || j > 0;) {
      const Edit edit = edit_[i * width_ + j];
      base::check_argument(edit != Edit::kNone, "translation_edits: the band has no path at word {} of {}", i,
                           n_words_);
      path.push_back(edit);
      i -= edit == Edit::kInsert ? 0 : 1;
      j -= edit == Edit::kDelete ? 0 : 1;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  static constexpr int32_t kInfinity = 1 << 29;

  void fill_row(size_t i, uint32_t word) {
    const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(i) * slope_));
    const auto width = static_cast<int64_t>(width_);
    const auto first = static_cast<size_t>(std::max<int64_t>(0, diagonal - half_band_));
    const auto end = static_cast<size_t>(i == n_words_ ? width : std::min(width, diagonal + half_band_));
    int32_t* cost = cost_.data() + i * width_;
    const int32_t* above = cost - width_;
    Edit* edit = edit_.data() + i * width_;
    for (size_t j = first; j < end; ++j) {
      cost[j] = kInfinity;
      const auto take = [&](int32_t candidate, Edit kind) {
        if (candidate < cost[j]) {
          cost[j] = candidate;
          edit[j] = kind;
        }
      };
      if (j > 0) {
        const bool equal = word == reference_[j - 1];
        take(above[j - 1] + (equal ? 0 : 1), equal ? Edit::kMatch : Edit::kSubstitute);
      }
      take(above[j] + 1, Edit::kDelete);
      if (j > 0) {
        take(cost[j - 1] + 1, Edit::kInsert);
      }
    }
  }

  const Symbols& reference_;
  size_t n_words_;
  size_t width_;
  double slope_;
  int64_t half_band_;
  std::vector<int32_t> cost_;  // [n_words + 1, width]
  std::vector<Edit> edit_;
  Symbols last_;
};

// What the edits say about each word.
struct Alignment {
  std::vector<ptrdiff_t> place;  // of each word of the reference in the hypothesis; -1 = before its first word
  std::vector<bool> reference_wrong, hypothesis_wrong;
};

Alignment align(const std::vector<Edit>& path) {
  Alignment alignment;
  for (const Edit edit : path) {
    if (edit != Edit::kInsert) {
      alignment.hypothesis_wrong.push_back(edit != Edit::kMatch);
    }
    if (edit != Edit::kDelete) {
      alignment.reference_wrong.push_back(edit != Edit::kMatch);
      alignment.place.push_back(static_cast<ptrdiff_t>(alignment.hypothesis_wrong.size()) - 1);
    }
  }
  return alignment;
}

// A shift of `length` words from `start` to `target`. Of two, the larger one is made.
struct Shift {
  int32_t gain = 0;
  size_t length = 0, start = 0, target = 0;

  auto rank() const {
    return std::tuple(gain, length, -static_cast<ptrdiff_t>(start), -static_cast<ptrdiff_t>(target));
  }
};

Symbols shifted(const Symbols& words, const Shift& shift) {
  Symbols result = words;
  const auto at = [&](size_t place) { return result.begin() + static_cast<ptrdiff_t>(std::min(place, result.size())); };
  const size_t end = shift.start + shift.length;
  if (shift.target < shift.start) {
    std::rotate(at(shift.target), at(shift.start), at(end));
  } else {
    // A target within the shifted words counts from behind them.
    std::rotate(at(shift.start), at(end), at(shift.target > end ? shift.target : shift.target + shift.length));
  }
  return result;
}

class ShiftSearch {
 public:
  ShiftSearch(const Symbols& hypothesis, const Symbols& reference)
      : words_(hypothesis), reference_(reference), distance_(hypothesis.size(), reference) {}

  int64_t edits() {
    int64_t shifts = 0;
    while (const std::optional<Shift> shift = best_shift()) {
      words_ = shifted(words_, *shift);
      ++shifts;
    }
    return shifts + distance_.of(words_);
  }

 private:
  // None if no shift reduces the distance or all allowed candidates were tried.
  std::optional<Shift> best_shift() {
    before_ = distance_.of(words_);
    alignment_ = align(distance_.path());
    best_.reset();
    for (size_t start = 0; start < words_.size(); ++start) {
      for (size_t match = 0; match < reference_.size(); ++match) {
        if ((start > match ? start - match : match - start) > kFarthestMatch) {
          continue;
        }
        if (!try_lengths(start, match)) {
          return std::nullopt;
        }
      }
    }
    return best_.has_value() && best_->gain > 0 ? best_ : std::nullopt;
  }

  // Tries the equal words from words_[start] and reference_[match] on. Returns false at the limit of candidates.
  bool try_lengths(size_t start, size_t match) {
    const size_t longest = std::min({kLongestShift, words_.size() - start, reference_.size() - match});
    for (size_t length = 1; length <= longest; ++length) {
      if (words_[start + length - 1] != reference_[match + length - 1]) {
        break;
      }
      if (is_useful(start, match, length)) {
        try_targets(start, match, length);
      }
      if (tried_ >= kMostCandidates) {
        return false;
      }
    }
    return true;
  }

  // Words are shifted only if some stand wrong, to where the reference misses some, and not into themselves.
  bool is_useful(size_t start, size_t match, size_t length) const {
    const auto any = [length](const std::vector<bool>& wrong, size_t from) {
      const auto first = wrong.begin() + static_cast<ptrdiff_t>(from);
      return std::find(first, first + static_cast<ptrdiff_t>(length), true) != first + static_cast<ptrdiff_t>(length);
    };
    const ptrdiff_t place = alignment_.place[match];
    const bool into_itself = place >= static_cast<ptrdiff_t>(start) && place < static_cast<ptrdiff_t>(start + length);
    return any(alignment_.hypothesis_wrong, start) && any(alignment_.reference_wrong, match) && !into_itself;
  }

  // Targets are the places after the words that the reference has before and among the equal words.
  void try_targets(size_t start, size_t match, size_t length) {
    std::optional<size_t> previous;
    for (size_t among = 0; among <= length; ++among) {
      const size_t after = match + among;  // the target stands after word `after` - 1 of the reference
      const size_t target = after == 0 ? 0 : static_cast<size_t>(alignment_.place[after - 1] + 1);
      if (target == previous) {
        continue;
      }
      previous = target;
      Shift shift{.length = length, .start = start, .target = target};
      shift.gain = before_ - distance_.of(shifted(words_, shift));
      ++tried_;
      if (!best_.has_value() || shift.rank() > best_->rank()) {
        best_ = shift;
      }
    }
  }

  Symbols words_;  // the hypothesis after the shifts so far
  const Symbols& reference_;
  BandedDistance distance_;
  int32_t before_ = 0;  // the distance of words_
  Alignment alignment_;
  std::optional<Shift> best_;
  size_t tried_ = 0;
};

}  // namespace

int64_t translation_edits(const Symbols& hypothesis, const Symbols& reference) {
  if (reference.empty()) {
    return static_cast<int64_t>(hypothesis.size());
  }
  return ShiftSearch(hypothesis, reference).edits();
}

}  // namespace dragoman::evaluation
