#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/names.h"
#include "evaluation/metric.h"
#include "evaluation/tokenizer.h"

namespace dragoman::evaluation {

/// The replacement of the precision of an order without any match. Source: Chen and Cherry 2014, section 3.
enum class Smoothing {
  kExponential,  ///< method 3: 1/2, 1/4, ... matches for the first, second, ... such order (mteval-v13a)
  kFloor,        ///< method 1: `smooth_value` matches (default 0.1)
  kAddK,         ///< method 2: `smooth_value` (default 1) added to matches and totals of every order above 1
  kNone,         ///< the score becomes 0
};

constexpr base::Names<Smoothing> names_of(Smoothing) {
  return {"smooth_method",
          {{Smoothing::kExponential, "exp"},
           {Smoothing::kFloor, "floor"},
           {Smoothing::kAddK, "add-k"},
           {Smoothing::kNone, "none"}}};
}
inline Smoothing parse_smoothing(std::string_view name) {
  return base::from_name<Smoothing>(name);
}

struct BleuOptions {
  Tokenizer tokenize = Tokenizer::k13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::kExponential;
  std::optional<double> smooth_value = std::nullopt;  ///< for floor and add-k; unset = the default of the method
  bool effective_order = false;  ///< ignore orders longer than the hypothesis; for single sentences
};

/// A BLEU score and its parts.
struct BleuScore {
  static constexpr size_t kMaxOrder = 4;

  double score = 0.0;                          ///< 0 to 100
  std::array<double, kMaxOrder> precisions{};  ///< percent, smoothed
  double brevity_penalty = 0.0;                ///< (0, 1]; 0 for an empty hypothesis
  int64_t hypothesis_length = 0;               ///< words
  int64_t reference_length = 0;                ///< words of the closest reference

  /// Returns hypothesis_length / reference_length, or 0 without reference words.
  double ratio() const;
  /// Returns "67.8/42.1/30.0/21.1 (BP = 1.000 ratio = 1.012 hyp_len = 12103 ref_len = 11965)"
  std::string details() const;
};

/// Corpus BLEU: the geometric mean of the clipped n-gram precisions of orders 1 to 4, times the brevity penalty.
///   BLEU = 100 BP exp(1/4 sum_n log p_n),   BP = min(1, exp(1 - r/c))
/// The columns of a sentence are: hypothesis length, reference length, matches of order 1 to 4, n-grams of order 1
/// to 4. Source: Papineni et al. 2002, section 2.3; tokenisation, smoothing and rounding as in sacreBLEU 2.6.
class Bleu final : public Metric {
 public:
  explicit Bleu(const BleuOptions& options);

  std::string name() const override { return "BLEU"; }
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override { return parts(sums).score; }
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return false; }
  std::string details(std::span<const double> sums) const override { return parts(sums).details(); }
  Signature signature(size_t n_references, const Resampling& resampling) const override;

  BleuScore parts(std::span<const double> sums) const;

 private:
  BleuOptions options_;
  double smooth_value_;
};

}  // namespace dragoman::evaluation
