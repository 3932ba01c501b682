#include "evaluation/metric.h"

#include "base/error.h"

namespace dragoman::evaluation {

std::vector<double> CountTable::sums() const {
  std::vector<double> sums(columns_, 0.0);
  for (size_t i = 0; i < values_.size(); ++i) {
    sums[i % columns_] += values_[i];
  }
  return sums;
}

void CountTable::append(const CountTable& other) {
  base::check_argument(values_.empty() || columns_ == other.columns_, "CountTable: {} columns behind {}",
                       other.columns_, columns_);
  columns_ = other.columns_;
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
}

std::string Signature::text() const {
  std::string text;
  for (const auto& [key, value] : entries) {
    text += (text.empty() ? "" : "|") + key + ":" + value;
  }
  return text;
}

Signature Metric::open_signature(size_t n_references, const Resampling& resampling) {
  Signature signature;
  signature.add("nrefs", std::to_string(n_references));
  if (resampling.resamples > 0) {
    signature.add("bs", std::to_string(resampling.resamples));
    signature.add("seed", std::to_string(resampling.seed));
  }
  return signature;
}

void check_same_lines(Lines hypothesis, std::span<const Lines> references) {
  base::check_data(!hypothesis.empty(), "evaluate: the hypothesis has no lines; there is nothing to score");
  base::check_data(!references.empty(), "evaluate: no reference was given; name at least one");
  for (size_t r = 0; r < references.size(); ++r) {
    base::check_data(references[r].size() == hypothesis.size(),
                     "evaluate: the hypothesis has {} lines, reference {} has {}; they must correspond line by line",
                     hypothesis.size(), r + 1, references[r].size());
  }
}

}  // namespace dragoman::evaluation
