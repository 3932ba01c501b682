#include "study/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "decoding/search/search_defaults.h"
#include "models/model_folder.h"
#include "study/row_settings.h"
#include "study/run.h"
#include "tensor/safetensors_header.h"
#include "training/stop_rule.h"

namespace dragoman::study {
namespace {

// Lines per second over all test sets; none if a search was not timed.
std::optional<double> speed_of(const StudyFolder& folder, const Cell& cell, const std::string& search,
                               const TestScorer& scorer) {
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

std::string vocabulary_of(const std::filesystem::path& model) {
  std::string hashes;
  for (const char* name : {models::kJointVocabularyName, models::kSourceVocabularyName, models::kTargetVocabularyName,
                           models::kTokenizerName}) {
    hashes += base::path_exists(model / name) ? base::sha256_file(model / name) : "-";
  }
  return hashes;
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

// Whether its last run ended for want of progress.
bool ended_by_patience(const report::MetricsHistory& metrics) {
  const auto last = std::find_if(metrics.events.rbegin(), metrics.events.rend(),
                                 [](const report::EventRow& event) { return event.name == "finish"; });
  return last != metrics.events.rend() && last->text == training::stop_text(training::StopReason::kEarlyStop);
}

// What tuning has chosen; nothing of a study without it.
std::optional<decoding::SearchOptions> tuned_search(const Study& study, const std::filesystem::path& model) {
  const std::filesystem::path file = model / models::kDecodingName;
  if (!study.tune || !base::path_exists(file)) {
    return std::nullopt;
  }
  return decoding::search_defaults_from_json(base::read_file(file), file.string());
}

CellResult result_of(const Study& study, const StudyFolder& folder, const Cell& cell, const TestScorer& scorer) {
  CellResult result;
  result.seed = cell.seed;
  const std::filesystem::path model = folder.model_of(cell, study.last_stage().name);
  result.parameters = parameters_of(model);
  result.vocabulary = vocabulary_of(model);
  result.settings = settings_of(model);
  result.tuned = tuned_search(study, model);
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
      result.ended_by_patience = ended_by_patience(metrics);
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
  for (const auto& [name, options] : study.perplexities) {
    for (const TestSet& test : folder.tests()) {
      const std::string number = base::read_file(folder.perplexity(cell, name, test.name));
      result.perplexities[name][test.name] = std::strtod(number.c_str(), nullptr);
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

// Whether the losses of the seeds that both have are of the same pieces.
bool losses_compare(const RowResult& row, const RowResult& baseline) {
  return std::ranges::all_of(row.cells, [&](const CellResult& cell) {
    const auto other = std::ranges::find(baseline.cells, cell.seed, &CellResult::seed);
    return other == baseline.cells.end() ||
           (std::isfinite(cell.loss) && std::isfinite(other->loss) && cell.vocabulary == other->vocabulary);
  });
}

// Of the rows that compare with the baseline, itself included.
Variance variance_over_seeds(const StudyResults& results, const RowResult& baseline, const std::string& search,
                             const std::string& test) {
  std::vector<Spread> spreads;
  for (const RowResult& row : results.rows) {
    const bool compares = !seed_scores(row, baseline, search, test).scores.empty();
    if (compares && (!test.empty() || losses_compare(row, baseline))) {
      spreads.push_back(spread_of(seed_scores(row, row, search, test).scores));
    }
  }
  return seed_variance(spreads);
}

void compare_all(const Study& study, const TestScorer& scorer, StudyResults& results) {
  const RowResult* baseline = result_of(results, study.baseline);
  if (baseline == nullptr) {
    return;
  }
  const std::string& search = study.searches.front().first;
  const std::vector<std::string> tests = results.tests.empty() ? std::vector<std::string>{""} : results.tests;
  for (const std::string& test : tests) {
    const Variance seeds = variance_over_seeds(results, *baseline, search, test);
    std::vector<Comparison> comparisons;
    std::vector<RowComparison> rows;
    for (const RowResult& row : results.rows) {
      if (test.empty() && &row != baseline && !losses_compare(row, *baseline)) {
        results.incomparable.push_back(row.row->name);
        continue;
      }
      const SeedScores before = seed_scores(*baseline, row, search, test),
                       after = seed_scores(row, *baseline, search, test);
      if (&row != baseline && !before.scores.empty()) {
        const evaluation::Metric* metric = test.empty() ? nullptr : &scorer.first_metric(test);
        comparisons.push_back(compare(metric, before, after, seeds));
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
  tree["lowest_validation_loss"] = std::isfinite(cell.loss) ? nlohmann::json(rounded(cell.loss)) : nlohmann::json();
  if (cell.tuned.has_value()) {
    tree["tuned"] = base::parse_json(decoding::search_defaults_json(*cell.tuned), models::kDecodingName);
  }
  for (const auto& [search, tests] : cell.scores) {
    for (const auto& [test, scores] : tests) {
      for (size_t i = 0; i < scores.size(); ++i) {
        tree["scores"][search][test][std::string(evaluation::metric_name(study.score.metrics[i]))] = rounded(scores[i]);
      }
    }
  }
  for (const auto& [name, tests] : cell.perplexities) {
    for (const auto& [test, perplexity] : tests) {
      tree["perplexities"][name][test] = rounded(perplexity);
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
    for (const uint64_t seed : folder.seeds_of(row)) {
      const Cell cell{&row, seed};
      const bool done_as_asked = is_done(study, folder, cell);
      results.planned_cells += done_as_asked || std::ranges::count(study.seeds, seed) > 0 ? 1 : 0;
      if (done_as_asked) {
        done.push_back(cell);
      } else if (is_changed(study, folder, cell)) {
        results.changed_cells.push_back(cell.name());
      }
    }
  }
  results.done_cells = done.size();
  const TestScorer scorer(study, folder, done);
  for (const TestSet& test : folder.tests()) {
    results.tests.push_back(test.name);
  }
  results.lengths = scorer.lengths();
  results.metrics = scorer.metric_names();
  results.signatures = scorer.signatures();
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
  nlohmann::json tree = {{"study", study.name}, {"baseline", study.baseline}, {"signatures", results.signatures}};
  tree["signature"] = results.signatures.empty() ? "" : results.signatures.front();  // of what is compared
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
    if (std::isfinite(each.comparison.standard_error)) {
      entry["standard_error"] = rounded(each.comparison.standard_error);
    }
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
