#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::evaluation {

/// The lines of one text. All metrics ignore white space at the end of a line.
using Lines = std::span<const std::string>;

/// The sufficient statistics of a text: one row of counts for each sentence. The score of a corpus, or of any sample of
/// its sentences, is a function of the sum of the rows. Counts are whole numbers, or means over the references.
class CountTable {
 public:
  CountTable(size_t rows, size_t columns) : columns_(columns), values_(rows * columns, 0.0) {}

  size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  size_t columns() const { return columns_; }
  std::span<double> row(size_t i) { return {values_.data() + i * columns_, columns_}; }
  std::span<const double> row(size_t i) const { return {values_.data() + i * columns_, columns_}; }
  std::vector<double> sums() const;

  /// Adds the rows of `other` behind its own. Requires: as many columns, or no rows yet.
  void append(const CountTable& other);

 private:
  size_t columns_;
  std::vector<double> values_;
};

/// The options of a score as "key:value" pairs, joined by "|". Two scores are comparable only if their signatures
/// agree.
struct Signature {
  std::vector<std::pair<std::string, std::string>> entries;

  void add(std::string key, std::string value) { entries.emplace_back(std::move(key), std::move(value)); }
  std::string text() const;
};

/// The part of a signature that describes the statistical test. resamples = 0 means no test.
struct Resampling {
  int resamples = 0;
  uint64_t seed = 12345;
};

/// The release of sacreBLEU whose definitions and signatures are used.
inline constexpr const char* kSignatureVersion = "2.6.0";

/// A metric over texts. Counting reads strings; scoring reads only counts. Threads: any number; the object is
/// immutable.
class Metric {
 public:
  virtual ~Metric() = default;

  /// Returns the name of the metric: "BLEU", "chrF2", "chrF2++", "TER".
  virtual std::string name() const = 0;

  /// Returns one row of counts for each line of `hypothesis`. Requires: at least one reference, and equal line counts.
  virtual CountTable count(Lines hypothesis, std::span<const Lines> references) const = 0;

  /// Returns the score of the summed counts in double precision: 0 to 100, TER 0 or more.
  virtual double score(std::span<const double> sums) const = 0;

  /// Returns the score of a resampled corpus. As in sacreBLEU it is computed in float32, so that equal digits are
  /// printed.
  virtual double resampled_score(std::span<const float> sums) const = 0;

  /// Returns true if the mean of resampled scores is also computed in float32.
  virtual bool resamples_in_float32() const = 0;

  /// Returns the text behind the score; may be empty.
  virtual std::string details(std::span<const double> sums) const = 0;

  /// Returns the signature of the score.
  virtual Signature signature(size_t n_references, const Resampling& resampling) const = 0;

 protected:
  /// Returns the first entries of every signature: nrefs, and with a test also bs and seed.
  static Signature open_signature(size_t n_references, const Resampling& resampling);
};

/// Checks that there is a line and a reference, and that all line counts are equal. Throws: Error(kBadData),
/// "evaluate: the hypothesis has 1000 lines, reference 1 has 999; they must correspond line by line".
void check_same_lines(Lines hypothesis, std::span<const Lines> references);

}  // namespace dragoman::evaluation
