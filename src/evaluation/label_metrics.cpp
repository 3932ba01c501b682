#include "evaluation/label_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"

namespace dragoman::evaluation {
namespace {

constexpr double kPercentOfLabels = 100.0;

// The columns of counts: lines, right ones, and for each label: said, true, both.
constexpr size_t kLinesColumn = 0, kRightColumn = 1, kFirstLabelColumn = 2, kColumnsOfLabel = 3;

double f1_of(double hits, double said, double right) {
  return said + right > 0.0 ? 2.0 * hits / (said + right) : 0.0;
}

double share(double part, double whole) {
  return whole > 0.0 ? part / whole : 0.0;
}

template <typename Number>
std::vector<double> in_float64(std::span<const Number> sums) {
  return {sums.begin(), sums.end()};
}

std::vector<std::string> split_tags(std::string_view line) {
  std::vector<std::string> tags;
  for (size_t begin = line.find_first_not_of(' '); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    tags.emplace_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(' ', end);
  }
  return tags;
}

double correlation(std::span<const double> sums, size_t labels) {
  double products = 0.0, said_squares = 0.0, true_squares = 0.0;
  for (size_t label = 0; label < labels; ++label) {
    const double said = sums[kFirstLabelColumn + label * kColumnsOfLabel];
    const double right = sums[kFirstLabelColumn + label * kColumnsOfLabel + 1];
    products += said * right;
    said_squares += said * said;
    true_squares += right * right;
  }
  const double lines = sums[kLinesColumn];
  const double base = std::sqrt((lines * lines - said_squares) * (lines * lines - true_squares));
  return base > 0.0 ? (sums[kRightColumn] * lines - products) / base : 0.0;
}

// The tags of each sentence, with blanks between them, and the line where the sentence begins.
struct Sentences {
  std::vector<std::string> tags;
  std::vector<size_t> places;
};

// One word a line, whose last column is the tag, and an empty line behind each sentence.
Sentences sentences_of_columns(Lines lines, char separator) {
  Sentences sentences;
  bool is_inside = false;
  for (size_t line = 0; line < lines.size(); ++line) {
    if (lines[line].empty()) {
      is_inside = false;
      continue;
    }
    if (!is_inside) {
      sentences.tags.emplace_back();
      sentences.places.push_back(line + 1);
      is_inside = true;
    }
    std::string& tags = sentences.tags.back();
    const size_t last = lines[line].rfind(separator);
    tags += (tags.empty() ? "" : " ") + lines[line].substr(last == std::string::npos ? 0 : last + 1);
  }
  return sentences;
}

// By columns if a line holds a tab, otherwise as many sentences as lines.
Sentences sentences_of(Lines lines) {
  const auto has_tab = [](const std::string& line) { return line.find('\t') != std::string::npos; };
  if (std::ranges::any_of(lines, has_tab)) {
    return sentences_of_columns(lines, '\t');
  }
  Sentences sentences{{lines.begin(), lines.end()}, std::vector<size_t>(lines.size())};
  std::iota(sentences.places.begin(), sentences.places.end(), 1);
  return sentences;
}

// By columns that blanks separate, as in the files of CoNLL: each line has as many, two or more, and none a tab.
std::optional<Sentences> sentences_of_blanks(Lines lines) {
  size_t columns = 0;
  for (const std::string& line : lines) {
    const size_t here = split_tags(line).size();
    columns = columns == 0 ? here : columns;
    if (line.find('\t') != std::string::npos || here == 1 || (here != 0 && here != columns)) {
      return std::nullopt;
    }
  }
  return sentences_of_columns(lines, ' ');
}

bool correspond(const Sentences& some, const Sentences& others) {
  return std::ranges::equal(
      some.tags, others.tags, {}, [](const std::string& tags) { return split_tags(tags).size(); },
      [](const std::string& tags) { return split_tags(tags).size(); });
}

// Says where two texts begin to differ. Requires: they do not correspond.
[[noreturn]] void refuse(const std::string& name, const Sentences& said, const std::string& other_name,
                         const Sentences& others) {
  for (size_t sentence = 0; sentence < std::min(said.tags.size(), others.tags.size()); ++sentence) {
    const size_t tags = split_tags(said.tags[sentence]).size(), its = split_tags(others.tags[sentence]).size();
    base::check_data(tags == its,
                     "evaluate: {}:{}: the sentence has {} tags (\"{}\"), that of {}:{} has {}; there must be one tag "
                     "for each word",
                     name, said.places[sentence], tags, said.tags[sentence].substr(0, 60), other_name,
                     others.places[sentence], its);
  }
  base::fail(base::ErrorKind::kBadData,
             "evaluate: {} has {} sentences, {} has {}; give the tags of one sentence on each line, or a word, a tab "
             "and its tag, with an empty line behind each sentence",
             name, said.tags.size(), other_name, others.tags.size());
}

// 'B', 'I', 'E', 'S' or 'O', and the type behind the hyphen.
std::pair<char, std::string> parts_of_tag(const std::string& tag) {
  if (tag.empty() || tag == "O") {
    return {'O', ""};
  }
  const size_t hyphen = tag.find('-');
  return {tag.front(), hyphen == std::string::npos ? "" : tag.substr(hyphen + 1)};
}

}  // namespace

LabelMetric::LabelMetric(LabelScore kind, std::span<const Lines> texts, const std::string& positive)
    : kind_(kind), positive_(positive) {
  for (const Lines lines : texts) {
    for (const std::string& label : lines) {
      ids_.emplace(label, ids_.size());
    }
  }
  base::check_data(kind_ != LabelScore::kF1 || ids_.contains(positive_),
                   "evaluate: no line has the label \"{}\", whose F1 is asked for; --positive-label names another",
                   positive_);
}

std::string LabelMetric::name() const {
  switch (kind_) {
    case LabelScore::kAccuracy:
      return "accuracy";
    case LabelScore::kF1:
      return "F1";
    case LabelScore::kMacroF1:
      return "macro-F1";
    case LabelScore::kMcc:
      return "MCC";
  }
  return "";
}

CountTable LabelMetric::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), kFirstLabelColumn + kColumnsOfLabel * ids_.size());
  for (size_t line = 0; line < hypothesis.size(); ++line) {
    const std::span<double> row = table.row(line);
    const size_t said = id(hypothesis[line]), right = id(references.front()[line]);
    row[kLinesColumn] = 1.0;
    row[kRightColumn] = said == right ? 1.0 : 0.0;
    row[kFirstLabelColumn + said * kColumnsOfLabel] += 1.0;
    row[kFirstLabelColumn + right * kColumnsOfLabel + 1] += 1.0;
    row[kFirstLabelColumn + right * kColumnsOfLabel + 2] += said == right ? 1.0 : 0.0;
  }
  return table;
}

double LabelMetric::score(std::span<const double> sums) const {
  const auto counts_of = [&](size_t label) {
    return sums.subspan(kFirstLabelColumn + label * kColumnsOfLabel, kColumnsOfLabel);
  };
  const auto f1 = [&](size_t label) {
    const std::span<const double> counts = counts_of(label);
    return f1_of(counts[2], counts[0], counts[1]);
  };
  switch (kind_) {
    case LabelScore::kAccuracy:
      return kPercentOfLabels * share(sums[kRightColumn], sums[kLinesColumn]);
    case LabelScore::kF1:
      return kPercentOfLabels * f1(id(positive_));
    case LabelScore::kMacroF1: {
      double sum = 0.0, labels = 0.0;  // of labels that occur: others may be of texts that this one is compared with
      for (size_t label = 0; label < ids_.size(); ++label) {
        const std::span<const double> counts = counts_of(label);
        sum += f1(label);
        labels += counts[0] + counts[1] > 0.0 ? 1.0 : 0.0;
      }
      return kPercentOfLabels * share(sum, labels);
    }
    case LabelScore::kMcc:
      return kPercentOfLabels * correlation(sums, ids_.size());
  }
  return 0.0;
}

double LabelMetric::resampled_score(std::span<const float> sums) const {
  return score(in_float64(sums));
}

std::string LabelMetric::details(std::span<const double> sums) const {
  if (kind_ == LabelScore::kF1) {
    const std::span<const double> counts =
        sums.subspan(kFirstLabelColumn + id(positive_) * kColumnsOfLabel, kColumnsOfLabel);
    return fmt::format("(precision = {:.2f} recall = {:.2f})", kPercentOfLabels * share(counts[2], counts[0]),
                       kPercentOfLabels * share(counts[2], counts[1]));
  }
  return kind_ == LabelScore::kAccuracy ? fmt::format("({:.0f} of {:.0f})", sums[kRightColumn], sums[kLinesColumn])
                                        : "";
}

Signature LabelMetric::signature(size_t n_references, const Resampling& resampling) const {
  Signature signature = open_signature(n_references, resampling);
  signature.add("labels", std::to_string(ids_.size()));
  if (kind_ == LabelScore::kF1) {
    signature.add("positive", positive_);
  }
  return signature;
}

std::vector<Span> spans_of(const std::vector<std::string>& tags) {
  std::vector<Span> spans;
  bool is_open = false;
  for (size_t word = 0; word < tags.size(); ++word) {
    const auto [mark, type] = parts_of_tag(tags[word]);
    if (mark == 'O') {
      is_open = false;
      continue;
    }
    if (!is_open || mark == 'B' || mark == 'S' || spans.back().type != type) {
      spans.push_back({type, word, word});
    }
    spans.back().end = word + 1;
    is_open = mark != 'E' && mark != 'S';
  }
  return spans;
}

CountTable TagMetric::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), 3);  // right, said, true
  for (size_t line = 0; line < hypothesis.size(); ++line) {
    const std::vector<std::string> said = split_tags(hypothesis[line]), right = split_tags(references.front()[line]);
    base::check_argument(said.size() == right.size(), "evaluate: the hypothesis has {} tags, the reference has {}",
                         said.size(), right.size());
    const std::span<double> row = table.row(line);
    if (of_spans_) {
      const std::vector<Span> found = spans_of(said), wanted = spans_of(right);
      row[0] = static_cast<double>(std::ranges::count_if(
          found, [&](const Span& span) { return std::ranges::find(wanted, span) != wanted.end(); }));
      row[1] = static_cast<double>(found.size());
      row[2] = static_cast<double>(wanted.size());
    } else {
      for (size_t word = 0; word < said.size(); ++word) {
        row[0] += said[word] == right[word] ? 1.0 : 0.0;
      }
      row[1] = row[2] = static_cast<double>(said.size());
    }
  }
  return table;
}

double TagMetric::score(std::span<const double> sums) const {
  return kPercentOfLabels * f1_of(sums[0], sums[1], sums[2]);  // of words: said = true = all words
}

double TagMetric::resampled_score(std::span<const float> sums) const {
  return score(in_float64(sums));
}

std::string TagMetric::details(std::span<const double> sums) const {
  return of_spans_ ? fmt::format("(precision = {:.2f} recall = {:.2f} spans = {:.0f} found = {:.0f} right = {:.0f})",
                                 kPercentOfLabels * share(sums[0], sums[1]), kPercentOfLabels * share(sums[0], sums[2]),
                                 sums[2], sums[1], sums[0])
                   : fmt::format("({:.0f} of {:.0f} words)", sums[0], sums[2]);
}

Signature TagMetric::signature(size_t n_references, const Resampling& resampling) const {
  Signature signature = open_signature(n_references, resampling);
  if (of_spans_) {
    signature.add("spans", "conlleval");
  }
  return signature;
}

std::vector<std::string> labels_of_lines(Lines lines) {
  std::vector<std::string> labels;
  for (const std::string& line : lines) {
    labels.push_back(line.substr(0, line.find('\t')));
  }
  return labels;
}

std::vector<std::string> tags_of_text(const Text& text, const Text& other) {
  const Sentences by_lines = sentences_of(text.lines), its_lines = sentences_of(other.lines);
  if (correspond(by_lines, its_lines)) {
    return by_lines.tags;
  }
  const std::optional<Sentences> columns = sentences_of_blanks(text.lines);
  const std::optional<Sentences> its_columns = sentences_of_blanks(other.lines);
  if (columns && (correspond(*columns, its_lines) || (its_columns && correspond(*columns, *its_columns)))) {
    return columns->tags;
  }
  if (!its_columns || !correspond(by_lines, *its_columns)) {
    refuse(text.name, by_lines, other.name, its_lines);
  }
  return by_lines.tags;
}

}  // namespace dragoman::evaluation
