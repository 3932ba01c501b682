#include "evaluation/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "evaluation/ngrams.h"
#include "evaluation/text.h"

namespace dragoman::evaluation {
namespace {

constexpr size_t kOrders = BleuScore::kMaxOrder;
// Columns of the counts.
constexpr size_t kHypothesisLength = 0;
constexpr size_t kReferenceLength = 1;
constexpr size_t kMatches = 2;
constexpr size_t kTotals = kMatches + kOrders;
constexpr size_t kColumns = kTotals + kOrders;

double default_smooth_value(Smoothing smoothing) {
  return smoothing == Smoothing::kFloor ? 0.1 : 1.0;
}

Symbols word_numbers(const BleuOptions& options, std::string_view line, WordNumbers& vocabulary) {
  const std::string words = options.lowercase ? tokenize(options.tokenize, trim_right(lower_case(line)))
                                              : tokenize(options.tokenize, trim_right(line));
  return vocabulary.numbers(split_words(words));
}

// The reference length nearest to the hypothesis'; of two equally near the shorter.
int64_t closest_length(size_t length, std::span<const Symbols> references) {
  const auto target = static_cast<int64_t>(length);
  auto best = static_cast<int64_t>(references.front().size());
  for (const Symbols& reference : references) {
    const auto candidate = static_cast<int64_t>(reference.size());
    const int64_t gain = std::abs(best - target) - std::abs(candidate - target);
    if (gain > 0 || (gain == 0 && candidate < best)) {
      best = candidate;
    }
  }
  return best;
}

double brevity_penalty(int64_t hypothesis_length, int64_t reference_length) {
  if (hypothesis_length >= reference_length) {
    return 1.0;
  }
  if (hypothesis_length == 0) {
    return 0.0;
  }
  return std::exp(1.0 - static_cast<double>(reference_length) / static_cast<double>(hypothesis_length));
}

struct Precisions {
  std::array<double, kOrders> percent{};
  size_t effective_order = kOrders;
};

// Precisions in the arithmetic of `Real`: double for a corpus, float for a resample of it.
template <typename Real, typename Count>
Precisions smoothed_precisions(std::span<const Count> sums, const BleuOptions& options, double smooth_value) {
  Precisions result;
  double unmatched_scale = 1.0;
  for (size_t n = 0; n < kOrders; ++n) {
    const Real added = options.smoothing == Smoothing::kAddK && n > 0 ? static_cast<Real>(smooth_value) : Real{0};
    const Real matches = static_cast<Real>(sums[kMatches + n]) + added;
    const Real total = static_cast<Real>(sums[kTotals + n]) + added;
    if (total == Real{0}) {
      break;
    }
    if (options.effective_order) {
      result.effective_order = n + 1;
    }
    if (matches != Real{0}) {
      result.percent[n] = Real{100} * matches / total;
    } else if (options.smoothing == Smoothing::kExponential) {
      unmatched_scale *= 2.0;
      result.percent[n] = Real{100} / (static_cast<Real>(unmatched_scale) * total);
    } else if (options.smoothing == Smoothing::kFloor) {
      result.percent[n] = static_cast<Real>(100.0 * smooth_value) / total;
    }
  }
  return result;
}

double combine(const Precisions& precisions, double penalty) {
  constexpr double kLogOfZero = -9999999999.0;  // sacreBLEU's; exp of it is 0
  double sum = 0.0;
  for (size_t n = 0; n < precisions.effective_order; ++n) {
    sum += precisions.percent[n] == 0.0 ? kLogOfZero : std::log(precisions.percent[n]);
  }
  return penalty * std::exp(sum / static_cast<double>(precisions.effective_order));
}

template <typename Real, typename Count>
BleuScore compute_bleu(std::span<const Count> sums, const BleuOptions& options, double smooth_value) {
  BleuScore result;
  result.hypothesis_length = static_cast<int64_t>(sums[kHypothesisLength]);
  result.reference_length = static_cast<int64_t>(sums[kReferenceLength]);
  result.brevity_penalty = brevity_penalty(result.hypothesis_length, result.reference_length);
  const auto matches = sums.subspan(kMatches, kOrders);
  if (std::any_of(matches.begin(), matches.end(), [](Count count) { return count != Count{0}; })) {
    const Precisions precisions = smoothed_precisions<Real>(sums, options, smooth_value);
    result.precisions = precisions.percent;
    result.score = combine(precisions, result.brevity_penalty);
  }
  return result;
}

}  // namespace

double BleuScore::ratio() const {
  return reference_length == 0 ? 0.0 : static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
}

std::string BleuScore::details() const {
  return fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio(),
                     hypothesis_length, reference_length);
}

Bleu::Bleu(const BleuOptions& options)
    : options_(options), smooth_value_(options.smooth_value.value_or(default_smooth_value(options.smoothing))) {
  base::check_usage(std::isfinite(smooth_value_) && smooth_value_ >= 0.0, "smooth-value is {}, must be 0 or more",
                    smooth_value_);
}

CountTable Bleu::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), kColumns);
  WordNumbers vocabulary;
  NgramMatcher matcher;
  std::vector<Symbols> reference_words(references.size());
  for (size_t i = 0; i < hypothesis.size(); ++i) {
    const Symbols words = word_numbers(options_, hypothesis[i], vocabulary);
    for (size_t r = 0; r < references.size(); ++r) {
      reference_words[r] = word_numbers(options_, references[r][i], vocabulary);
    }
    const std::span<double> row = table.row(i);
    row[kHypothesisLength] = static_cast<double>(words.size());
    row[kReferenceLength] = static_cast<double>(closest_length(words.size(), reference_words));
    std::array<int64_t, kOrders> matches{};
    matcher.count(reference_words, words, matches);
    for (size_t n = 0; n < kOrders; ++n) {
      row[kMatches + n] = static_cast<double>(matches[n]);
      row[kTotals + n] = static_cast<double>(ngram_count(words.size(), n + 1));
    }
  }
  return table;
}

double Bleu::resampled_score(std::span<const float> sums) const {
  return compute_bleu<float>(sums, options_, smooth_value_).score;
}

BleuScore Bleu::parts(std::span<const double> sums) const {
  return compute_bleu<double>(sums, options_, smooth_value_);
}

Signature Bleu::signature(size_t n_references, const Resampling& resampling) const {
  Signature signature = open_signature(n_references, resampling);
  signature.add("case", options_.lowercase ? "lc" : "mixed");
  signature.add("eff", options_.effective_order ? "yes" : "no");
  signature.add("tok", std::string(tokenizer_name(options_.tokenize)));
  const bool has_value = options_.smoothing == Smoothing::kFloor || options_.smoothing == Smoothing::kAddK;
  const std::string method(base::name_of(options_.smoothing));
  signature.add("smooth", has_value ? fmt::format("{}[{:.2f}]", method, smooth_value_) : method);
  signature.add("version", kSignatureVersion);
  return signature;
}

}  // namespace dragoman::evaluation
