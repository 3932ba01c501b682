#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::evaluation {

/// The lines of one text. White space at the end of a line never counts.
using Lines = std::span<const std::string>;

/// Sufficient statistics of a text: one row of counts a sentence. The score of a corpus, or of any sample of its
/// sentences, is a function of the sum of the rows; nothing else of the text is needed.
class CountTable {
 public:
  CountTable(size_t rows, size_t columns) : columns_(columns), values_(rows * columns, 0) {}

  size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  size_t columns() const { return columns_; }
  std::span<int64_t> row(size_t i) { return {values_.data() + i * columns_, columns_}; }
  std::span<const int64_t> row(size_t i) const { return {values_.data() + i * columns_, columns_}; }
  std::vector<int64_t> sums() const;

 private:
  size_t columns_;
  std::vector<int64_t> values_;
};

/// How a score was computed, as "key:value" pairs joined by "|". Two scores are comparable only if these agree.
struct Signature {
  std::vector<std::pair<std::string, std::string>> entries;

  void add(std::string key, std::string value) { entries.emplace_back(std::move(key), std::move(value)); }
  std::string text() const;
};

/// What the statistical test adds to a signature; resamples = 0 means that none was made.
struct Resampling {
  int resamples = 0;
  uint64_t seed = 12345;
};

/// The sacreBLEU release whose definitions are followed and whose signatures are printed.
inline constexpr const char* kSignatureVersion = "2.6.0";

/// A metric over texts. Counting sees strings, scoring sees only counts. Immutable, so safe to share.
class Metric {
 public:
  virtual ~Metric() = default;

  /// "BLEU", "chrF2", "chrF2++".
  virtual std::string name() const = 0;

  /// One row of counts for each line of `hypothesis`. Every reference has as many lines; there is at least one.
  virtual CountTable count(Lines hypothesis, std::span<const Lines> references) const = 0;

  /// The score, 0 to 100, of the summed counts, in double precision.
  virtual double score(std::span<const int64_t> sums) const = 0;

  /// The score of a resampled corpus. sacreBLEU computes those in float32; so does this, to print the same digits.
  virtual double resampled_score(std::span<const float> sums) const = 0;

  /// True if the mean of resampled scores is taken in float32 too.
  virtual bool resamples_in_float32() const = 0;

  /// What is printed after the score; may be empty.
  virtual std::string details(std::span<const int64_t> sums) const = 0;

  virtual Signature signature(size_t n_references, const Resampling& resampling) const = 0;

 protected:
  /// The entries that open every signature: nrefs and, where a test was made, bs and seed.
  static Signature open_signature(size_t n_references, const Resampling& resampling);
};

/// Throws Error(kBadData) unless there is a line, a reference, and every reference has as many lines as `hypothesis`:
/// "evaluate: the hypothesis has 1000 lines, reference 1 has 999; they must correspond line by line".
void check_same_lines(Lines hypothesis, std::span<const Lines> references);

}  // namespace dragoman::evaluation
