#include "study/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_text.h"
#include "models/model_folder.h"
#include "tensor/safetensors_header.h"

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

// Metrics and references of the test sets, read once.
class Scorer {
 public:
  /// @param cells  the finished ones; the labels that their models gave are known to the metrics
  Scorer(const Study& study, const StudyFolder& folder, const std::vector<Cell>& cells) : study_(study) {
    for (const TestSet& test : folder.tests()) {
      const evaluation::Text reference = evaluation::read_text(test.text.empty() ? test.target : test.text);
      OfTest& of_test = tests_[test.name];
      of_test.reference = {reference.name, evaluation::relevant_lines(reference, study.scored_lines(), reference)};
      of_test.metrics = metrics_of(said_of(folder, cells, test), of_test);
      if (study.scored_lines() == evaluation::LineKind::kTranslations) {
        group_lines(of_test, evaluation::read_text(test.source).lines);
      }
    }
  }

  const evaluation::Metric& first_metric(const std::string& test) const { return *tests_.at(test).metrics.front(); }
  std::vector<std::string> metric_names() const {
    std::vector<std::string> names;
    if (!tests_.empty()) {
      for (const auto& metric : tests_.begin()->second.metrics) {
        names.push_back(metric->name());
      }
    }
    return names;
  }
  size_t lines_of(const std::string& test) const { return tests_.at(test).reference.lines.size(); }
  std::map<std::string, std::vector<LengthGroup>> lengths() const {
    std::map<std::string, std::vector<LengthGroup>> lengths;
    for (const auto& [name, test] : tests_) {
      if (!test.groups.empty()) {
        lengths[name] = test.groups;
      }
    }
    return lengths;
  }
  std::string signature() const {
    if (tests_.empty()) {
      return "";
    }
    const evaluation::Metric& metric = *tests_.begin()->second.metrics.front();
    return metric.name() + "|" + metric.signature(1, {}).text();
  }

  std::vector<double> scores(const std::string& test, const std::filesystem::path& file,
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

  // The first metric of the sentences of each group of lengths.
  std::vector<double> score_by_length(const std::string& test, const evaluation::CountTable& counts) const {
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

 private:
  using Metrics = std::vector<std::unique_ptr<evaluation::Metric>>;
  struct OfTest {
    evaluation::Text reference;
    Metrics metrics;
    std::vector<LengthGroup> groups;    // of translations
    std::vector<size_t> group_of_line;  // likewise
  };

  Lines relevant(const std::filesystem::path& file, const OfTest& test) const {
    const evaluation::Text text = evaluation::read_text(file);
    Lines lines = evaluation::relevant_lines(text, study_.scored_lines(), test.reference);
    base::check_data(lines.size() == test.reference.lines.size(), "{}: has {} lines, the reference {}", file.string(),
                     lines.size(), test.reference.lines.size());
    return lines;
  }

  // The labels that models gave. Metrics of translations and tags need no such list.
  Lines said_of(const StudyFolder& folder, const std::vector<Cell>& cells, const TestSet& test) const {
    Lines said;
    if (study_.scored_lines() == evaluation::LineKind::kLabels) {
      for (const Cell& cell : cells) {
        for (const auto& [search, options] : study_.searches) {
          Lines lines = relevant(folder.translations(cell, search, test.name), tests_.at(test.name));
          std::ranges::move(lines, std::back_inserter(said));
        }
      }
    }
    return said;
  }

  Metrics metrics_of(const Lines& said, const OfTest& test) const {
    const evaluation::Lines all[] = {said, test.reference.lines};
    Metrics metrics;
    for (const evaluation::MetricKind kind : study_.score.metrics) {
      evaluation::EvaluateOptions options = study_.score;
      options.lowercase = study_.score.lowercase && kind == evaluation::MetricKind::kBleu;
      metrics.push_back(evaluation::make_metric(kind, options, all));
    }
    return metrics;
  }

  static void group_lines(OfTest& test, const Lines& sources) {
    const auto group_of = [](const std::string& line) {
      const size_t words = words_of(line);
      return std::ranges::find_if(kLengths,
                                  [&](const LengthGroup& group) { return group.most == 0 || words <= group.most; });
    };
    for (const LengthGroup& each : kLengths) {
      const auto lines = std::ranges::count_if(sources, [&](const auto& line) { return &*group_of(line) == &each; });
      if (lines > 0) {
        test.groups.push_back({each.least, each.most, static_cast<size_t>(lines)});
      }
    }
    for (const std::string& line : sources) {
      const size_t least = group_of(line)->least;
      const auto group = std::ranges::find(test.groups, least, &LengthGroup::least);
      test.group_of_line.push_back(static_cast<size_t>(group - test.groups.begin()));
    }
  }

  const Study& study_;
  std::map<std::string, OfTest> tests_;
};

// Lines per second over all test sets; none if a search was not timed.
std::optional<double> speed_of(const StudyFolder& folder, const Cell& cell, const std::string& search,
                               const Scorer& scorer) {
  double seconds = 0.0;
  size_t lines = 0;
  for (const TestSet& test : folder.tests()) {
    const std::filesystem::path file = folder.seconds(cell, search, test.name);
    if (!base::path_exists(file)) {
      return std::nullopt;
    }
    seconds += std::strtod(base::read_file(file).c_str(), nullptr);
    lines += scorer.lines_of(test.name);
  }
  return seconds > 0.0 ? std::optional<double>(static_cast<double>(lines) / seconds) : std::nullopt;
}

int64_t parameters_of(const std::filesystem::path& model) {
  const std::filesystem::path file = model / models::kWeightsName;
  const std::string bytes = base::read_file(file);
  int64_t parameters = 0;
  for (const auto& entry : tensor::parse_safetensors_header(bytes, file.string()).entries) {
    int64_t size = 1;
    for (const uint64_t axis : entry.shape) {
      size *= static_cast<int64_t>(axis);
    }
    parameters += size;
  }
  return parameters;
}

// Where a training ended: a short one has no row of progress.
struct End {
  int64_t step = 0;
  double epoch = 0.0, seconds = 0.0;
};

End end_of(const report::MetricsHistory& metrics) {
  End end;
  const auto include = [&](int64_t step, double epoch, double seconds) {
    end.step = std::max(end.step, step);
    end.epoch = std::max(end.epoch, epoch);
    end.seconds = std::max(end.seconds, seconds);
  };
  if (!metrics.train.empty()) {
    include(metrics.train.back().step, metrics.train.back().epoch, metrics.train.back().seconds);
  }
  if (!metrics.validation.empty()) {
    include(metrics.validation.back().step, metrics.validation.back().epoch, metrics.validation.back().seconds);
  }
  if (!metrics.checkpoints.empty()) {
    include(metrics.checkpoints.back().step, 0.0, metrics.checkpoints.back().seconds);
  }
  return end;
}

CellResult result_of(const Study& study, const StudyFolder& folder, const Cell& cell, const Scorer& scorer) {
  CellResult result;
  result.seed = cell.seed;
  const std::filesystem::path model = folder.model_of(cell, study.last_stage().name);
  result.parameters = parameters_of(model);
  for (const Stage& stage : study.stages) {
    if (stage.kind != StageKind::kTrain) {
      continue;
    }
    const report::MetricsHistory metrics =
        report::read_metrics(folder.model_of(cell, stage.name) / report::kMetricsName);
    const End last = end_of(metrics);
    result.minutes += last.seconds / 60.0;
    if (stage.name == study.last_stage().name) {
      result.updates = last.step;
      result.epochs = last.epoch;
      result.last_minutes = last.seconds / 60.0;
      result.curve = metrics.validation;
    }
  }
  for (const report::ValidationRow& row : result.curve) {
    result.loss = std::isnan(result.loss) ? row.loss : std::fmin(result.loss, row.loss);
  }
  for (const auto& [search, options] : study.searches) {
    auto* counts = search == study.searches.front().first ? &result.counts : nullptr;
    for (const TestSet& test : folder.tests()) {
      result.scores[search][test.name] = scorer.scores(test.name, folder.translations(cell, search, test.name), counts);
    }
    if (const auto speed = speed_of(folder, cell, search, scorer); speed.has_value()) {
      result.sentences_per_second[search] = *speed;
    }
  }
  if (study.scored_lines() == evaluation::LineKind::kTranslations) {
    for (const auto& [test, counts] : result.counts) {
      result.score_by_length[test] = scorer.score_by_length(test, counts);
    }
  }
  return result;
}

const RowResult* result_of(const StudyResults& results, const std::string& row) {
  const auto found = std::ranges::find_if(results.rows, [&](const RowResult& each) { return each.row->name == row; });
  return found == results.rows.end() ? nullptr : &*found;
}

bool has_seed(const RowResult& result, uint64_t seed) {
  return std::ranges::count(result.cells, seed, &CellResult::seed) > 0;
}

// Of the seeds that `other` has too. An empty name of a test set stands for the validation loss.
SeedScores seed_scores(const RowResult& result, const RowResult& other, const std::string& search,
                       const std::string& test) {
  SeedScores scores;
  for (const CellResult& cell : result.cells) {
    if (!has_seed(other, cell.seed)) {
      continue;
    }
    if (test.empty()) {
      scores.scores.push_back(cell.loss);
    } else {
      scores.scores.push_back(cell.scores.at(search).at(test).front());
      scores.counts.push_back(cell.counts.at(test));
    }
  }
  return scores;
}

void compare_all(const Study& study, const Scorer& scorer, StudyResults& results) {
  const RowResult* baseline = result_of(results, study.baseline);
  if (baseline == nullptr) {
    return;
  }
  const std::string& search = study.searches.front().first;
  const std::vector<std::string> tests = results.tests.empty() ? std::vector<std::string>{""} : results.tests;
  for (const std::string& test : tests) {
    std::vector<Comparison> comparisons;
    std::vector<RowComparison> rows;
    for (const RowResult& row : results.rows) {
      const SeedScores before = seed_scores(*baseline, row, search, test),
                       after = seed_scores(row, *baseline, search, test);
      if (&row != baseline && !before.scores.empty()) {
        comparisons.push_back(compare(test.empty() ? nullptr : &scorer.first_metric(test), before, after));
        rows.push_back({row.row, test, before.scores.size(), {}});
      }
    }
    adjust(comparisons, !test.empty() && study.score.metrics.front() != evaluation::MetricKind::kTer);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].comparison = comparisons[i];
      results.comparisons.push_back(rows[i]);
    }
  }
}

double rounded(double value) {
  constexpr double kDigits = 1e4;
  return std::round(value * kDigits) / kDigits;
}

nlohmann::json json_of(const Study& study, const CellResult& cell) {
  nlohmann::json tree = {{"seed", cell.seed}, {"parameters", cell.parameters}, {"updates", cell.updates}};
  tree["validation_loss"] = std::isfinite(cell.loss) ? nlohmann::json(rounded(cell.loss)) : nlohmann::json();
  for (const auto& [search, tests] : cell.scores) {
    for (const auto& [test, scores] : tests) {
      for (size_t i = 0; i < scores.size(); ++i) {
        tree["scores"][search][test][std::string(evaluation::metric_name(study.score.metrics[i]))] = rounded(scores[i]);
      }
    }
  }
  return tree;
}

}  // namespace

std::vector<double> RowResult::scores(const std::string& search, const std::string& test, size_t metric) const {
  std::vector<double> values;
  for (const CellResult& cell : cells) {
    values.push_back(cell.scores.at(search).at(test).at(metric));
  }
  return values;
}

StudyResults collect(const Study& study, const StudyFolder& folder) {
  std::vector<Cell> done;
  StudyResults results;
  for (const Row& row : study.rows) {
    for (const uint64_t seed : study.seeds) {
      const Cell cell{&row, seed};
      ++results.planned_cells;
      if (folder.is_done(cell)) {
        done.push_back(cell);
      }
    }
  }
  results.done_cells = done.size();
  const Scorer scorer(study, folder, done);
  for (const TestSet& test : folder.tests()) {
    results.tests.push_back(test.name);
  }
  results.lengths = scorer.lengths();
  results.metrics = scorer.metric_names();
  results.signature = scorer.signature();
  for (const Cell& cell : done) {
    if (results.rows.empty() || results.rows.back().row != cell.row) {
      results.rows.push_back({cell.row, {}});
    }
    results.rows.back().cells.push_back(result_of(study, folder, cell, scorer));
  }
  compare_all(study, scorer, results);
  return results;
}

std::string results_json(const Study& study, const StudyResults& results) {
  nlohmann::json tree = {{"study", study.name}, {"baseline", study.baseline}, {"signature", results.signature}};
  tree["rows"] = nlohmann::json::array();
  for (const RowResult& row : results.rows) {
    nlohmann::json cells = nlohmann::json::array();
    std::ranges::transform(row.cells, std::back_inserter(cells),
                           [&](const CellResult& cell) { return json_of(study, cell); });
    tree["rows"].push_back({{"row", row.row->name}, {"runs", cells}});
  }
  tree["comparisons"] = nlohmann::json::array();
  for (const RowComparison& each : results.comparisons) {
    nlohmann::json entry = {{"row", each.row->name},
                            {"seeds", each.seeds},
                            {"difference", rounded(each.comparison.difference)},
                            {"verdict", base::name_of(each.comparison.verdict)}};
    entry["on"] = each.test.empty() ? "validation loss" : each.test;
    if (each.comparison.p_value.has_value()) {
      entry["p"] = rounded(*each.comparison.p_value);
      entry["p_adjusted"] = rounded(*each.comparison.p_adjusted);
    }
    tree["comparisons"].push_back(entry);
  }
  return base::dump_json(tree, 2) + "\n";
}

}  // namespace dragoman::study
