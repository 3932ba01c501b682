#include "study/test_scorer.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "evaluation/read_text.h"

namespace dragoman::study {
namespace {

constexpr LengthGroup kLengths[] = {{0, 10}, {11, 20}, {21, 30}, {31, 0}};

size_t words_of(const std::string& line) {
  size_t words = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    words += line[i] != ' ' && (i == 0 || line[i - 1] == ' ') ? 1 : 0;
  }
  return words;
}

const LengthGroup& group_of(const std::string& line) {
  const size_t words = words_of(line);
  return *std::ranges::find_if(kLengths,
                               [&](const LengthGroup& group) { return group.most == 0 || words <= group.most; });
}

}  // namespace

TestScorer::TestScorer(const Study& study, const StudyFolder& folder, const std::vector<Cell>& cells) : study_(study) {
  for (const TestSet& test : folder.tests()) {
    const evaluation::Text reference = evaluation::read_text(test.text.empty() ? test.target : test.text);
    OfTest& of_test = tests_[test.name];
    of_test.reference = {reference.name, evaluation::relevant_lines(reference, study.scored_lines(), reference)};
    of_test.metrics = metrics_of(labels_given(folder, cells, test), of_test);
    if (study.has_searches()) {
      group_lines(of_test, evaluation::read_text(test.source).lines);
    }
  }
}

Lines TestScorer::relevant(const std::filesystem::path& file, const OfTest& test) const {
  const evaluation::Text text = evaluation::read_text(file);
  Lines lines = evaluation::relevant_lines(text, study_.scored_lines(), test.reference);
  base::check_data(lines.size() == test.reference.lines.size(), "{}: has {} lines, the reference {}", file.string(),
                   lines.size(), test.reference.lines.size());
  return lines;
}

// Metrics of translations and tags need no list of labels.
Lines TestScorer::labels_given(const StudyFolder& folder, const std::vector<Cell>& cells, const TestSet& test) const {
  Lines given;
  if (study_.scored_lines() == evaluation::LineKind::kLabels) {
    for (const Cell& cell : cells) {
      for (const auto& [search, options] : study_.searches) {
        Lines lines = relevant(folder.translations(cell, search, test.name), tests_.at(test.name));
        std::ranges::move(lines, std::back_inserter(given));
      }
    }
  }
  return given;
}

TestScorer::Metrics TestScorer::metrics_of(const Lines& given, const OfTest& test) const {
  const evaluation::Lines all[] = {given, test.reference.lines};
  Metrics metrics;
  for (const evaluation::MetricKind kind : study_.score.metrics) {
    evaluation::EvaluateOptions options = study_.score;
    options.lowercase = study_.score.lowercase && kind == evaluation::MetricKind::kBleu;
    metrics.push_back(evaluation::make_metric(kind, options, all));
  }
  return metrics;
}

void TestScorer::group_lines(OfTest& test, const Lines& sources) {
  for (const LengthGroup& each : kLengths) {
    const auto lines = std::ranges::count_if(sources, [&](const auto& line) { return &group_of(line) == &each; });
    if (lines > 0) {
      test.groups.push_back({each.least, each.most, static_cast<size_t>(lines)});
    }
  }
  for (const std::string& line : sources) {
    const auto group = std::ranges::find(test.groups, group_of(line).least, &LengthGroup::least);
    test.group_of_line.push_back(static_cast<size_t>(group - test.groups.begin()));
  }
}

std::vector<double> TestScorer::scores(const std::string& test, const std::filesystem::path& file,
                                       std::map<std::string, evaluation::CountTable>* counts) const {
  const OfTest& of_test = tests_.at(test);
  const Lines lines = relevant(file, of_test);
  const evaluation::Lines references[] = {of_test.reference.lines};
  std::vector<double> scores;
  for (const auto& metric : of_test.metrics) {
    evaluation::CountTable counted = metric->count(lines, references);
    scores.push_back(metric->score(counted.sums()));
    if (counts != nullptr && metric == of_test.metrics.front()) {
      counts->insert_or_assign(test, std::move(counted));
    }
  }
  return scores;
}

std::vector<double> TestScorer::score_by_length(const std::string& test, const evaluation::CountTable& counts) const {
  const OfTest& of_test = tests_.at(test);
  std::vector<std::vector<double>> sums(of_test.groups.size(), std::vector<double>(counts.columns()));
  for (size_t line = 0; line < counts.rows(); ++line) {
    std::vector<double>& sum = sums[of_test.group_of_line.at(line)];
    std::ranges::transform(sum, counts.row(line), sum.begin(), std::plus<>());
  }
  std::vector<double> scores;
  std::ranges::transform(sums, std::back_inserter(scores),
                         [&](const auto& sum) { return of_test.metrics.front()->score(sum); });
  return scores;
}

std::vector<std::string> TestScorer::metric_names() const {
  std::vector<std::string> names;
  if (!tests_.empty()) {
    for (const auto& metric : tests_.begin()->second.metrics) {
      names.push_back(metric->name());
    }
  }
  return names;
}

std::vector<std::string> TestScorer::signatures() const {
  std::vector<std::string> signatures;
  if (!tests_.empty()) {
    for (const auto& metric : tests_.begin()->second.metrics) {
      signatures.push_back(metric->name() + "|" + metric->signature(1, {}).text());
    }
  }
  return signatures;
}

std::map<std::string, std::vector<LengthGroup>> TestScorer::lengths() const {
  std::map<std::string, std::vector<LengthGroup>> lengths;
  for (const auto& [name, test] : tests_) {
    if (!test.groups.empty()) {
      lengths[name] = test.groups;
    }
  }
  return lengths;
}

}  // namespace dragoman::study
