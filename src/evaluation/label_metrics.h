#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "evaluation/metric.h"
#include "evaluation/read_text.h"

namespace dragoman::evaluation {

/// What is measured of labels, one on each line.
enum class LabelScore {
  kAccuracy,  ///< share of the lines with the right label
  kF1,        ///< of one label: 2 hits / (said + true)
  kMacroF1,   ///< the mean of the F1 of all labels
  kMcc,       ///< Matthews correlation coefficient, for any number of labels
};

/// A score of labels, 0 to 100 (MCC -100 to 100). A score without a base, such as the F1 of a label that nothing has,
/// is 0. Source: Matthews 1975; Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation
/// coefficient", for more than two labels.
class LabelMetric final : public Metric {
 public:
  /// @param texts  all lines that will be counted: they say which labels there are
  /// @param positive  the label of kF1. Throws: Error(kBadData) if no line has it
  LabelMetric(LabelScore kind, std::span<const Lines> texts, const std::string& positive);

  std::string name() const override;
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return false; }
  std::string details(std::span<const double> sums) const override;
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  size_t id(const std::string& label) const { return ids_.at(label); }

  LabelScore kind_;
  std::unordered_map<std::string, size_t> ids_;
  std::string positive_;
};

/// A score of tags, with those of one sentence on each line and blanks between them: the share of the words with the
/// right tag, or the F1 of spans as the program conlleval counts them, 0 to 100. A span is right if its type, its begin
/// and its end are. Source: Tjong Kim Sang and Buchholz 2000, "Introduction to the CoNLL-2000 shared task: chunking".
class TagMetric final : public Metric {
 public:
  explicit TagMetric(bool of_spans) : of_spans_(of_spans) {}

  std::string name() const override { return of_spans_ ? "span-F1" : "tag-accuracy"; }
  /// Requires: as many tags on each line of both, which tags_of_text sees to.
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return false; }
  std::string details(std::span<const double> sums) const override;
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  bool of_spans_;
};

/// A span of words of one type, [begin, end).
struct Span {
  std::string type;
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const Span&) const = default;
};

/// Returns the spans that tags such as B-NP, I-NP, O say. A tag I- whose span has not begun begins one. E- and S- end
/// one.
std::vector<Span> spans_of(const std::vector<std::string>& tags);

/// Returns the labels of lines, which are their first columns. Tabs separate columns.
std::vector<std::string> labels_of_lines(Lines lines);

/// Returns one line of tags for each sentence. If a line holds a tab, the text has one word a line, whose last column
/// is the tag, and an empty line behind each sentence; otherwise each line is a sentence. Where the sentences of both
/// texts then differ in number or length, blanks may separate the columns, as in the files of CoNLL: a text is read so
/// if its sentences then have the number and the lengths of the sentences of `other`.
/// Throws: Error(kBadData), "evaluate: said.tsv:31: the sentence has 27 tags (\"B-NP ...\"), that of test.tsv:31 has
/// 28; there must be one tag for each word", "evaluate: said.tsv has 4 sentences, test.tsv has 122; ...".
std::vector<std::string> tags_of_text(const Text& text, const Text& other);

}  // namespace dragoman::evaluation
