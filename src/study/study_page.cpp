#include "study/study_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/progress_line.h"
#include "study/study_curves.h"
#include "study/study_facts.h"
#include "study/study_text.h"

namespace dragoman::study {

std::string text_of(const Spread& spread, int digits) {
  if (!std::isfinite(spread.mean)) {
    return kNotKnown;
  }
  return std::isfinite(spread.deviation)
             ? fmt::format("{:.{}f} ± {:.{}f}", spread.mean, digits, spread.deviation, digits)
             : fmt::format("{:.{}f}", spread.mean, digits);
}

namespace {

using report::SaidText;
using report::StudyTable;

// "+0.25"; what rounds to zero has no sign.
std::string signed_text(double difference, int digits) {
  const double unit = std::pow(10.0, -digits);
  return std::abs(difference) < 0.5 * unit ? fmt::format("{:.{}f}", 0.0, digits)
                                           : fmt::format("{:+.{}f}", difference, digits);
}

std::string changes_of(const Row& row) {
  std::vector<std::string> words = row.options.arguments();
  for (const auto& [stage, options] : row.stage_options) {
    for (const std::string& word : options.arguments()) {
      words.push_back(stage + ": " + word);
    }
  }
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, " "));
}

// "0.041"; "< 0.001" for less than that, since no p is 0.
std::string p_text(const std::optional<double>& p) {
  constexpr double kLeast = 0.001;
  return !p.has_value() ? kNotKnown : *p < kLeast ? fmt::format("< {}", kLeast) : fmt::format("{:.3f}", *p);
}

// As it stands behind a "p": "= 0.041", "< 0.001".
std::string p_relation(const std::optional<double>& p) {
  const std::string text = p_text(p);
  return text.starts_with('<') ? text : "= " + text;
}

// What the first test set says, or the validation text or loss where there is none.
const std::string& judged_test(const Study& study, const StudyResults& results) {
  static const std::string none;
  return !study.tests.empty() ? study.tests.front().name : results.tests.empty() ? none : results.tests.front();
}

// @param metric  that each.comparison is of, unless it is of the loss
SaidText conclusion(const Study& study, const RowComparison& each, const std::string& metric) {
  const Comparison& comparison = each.comparison;
  const std::string difference = signed_text(comparison.difference, each.test.empty() ? 4 : 2);
  const std::vector<std::string> values = {each.row->name,
                                           study.baseline,
                                           difference,
                                           each.test,
                                           fmt::format("{}", each.seeds),
                                           p_relation(comparison.p_adjusted),
                                           metric};
  const bool is_loss = each.test.empty();
  switch (comparison.verdict) {
    case Verdict::kBetter:
      return {is_loss ? "{0} is better than {1}: {2} nats of validation loss, seeds: {4}, p {5}."
                      : "{0} is better than {1}: {2} {6} on {3}, seeds: {4}, p {5}.",
              values};
    case Verdict::kWorse:
      return {is_loss ? "{0} is worse than {1}: {2} nats of validation loss, seeds: {4}, p {5}."
                      : "{0} is worse than {1}: {2} {6} on {3}, seeds: {4}, p {5}.",
              values};
    case Verdict::kUndecided:
      break;
  }
  return {is_loss ? "{0} against {1} is undecided: {2} nats of validation loss, seeds: {4}, p {5}."
                  : "{0} against {1} is undecided: {2} {6} on {3}, seeds: {4}, p {5}.",
          values};
}

std::vector<SaidText> conclusions(const Study& study, const StudyResults& results) {
  std::vector<SaidText> sentences;
  for (const RowComparison& each : results.comparisons) {
    if (each.test == judged_test(study, results)) {
      sentences.push_back(conclusion(study, each, results.metrics.empty() ? "" : results.metrics.front()));
    }
  }
  if (!results.incomparable.empty()) {
    sentences.push_back({"Not compared by loss, for want of a validation text or of one vocabulary: {0}.",
                         {fmt::format("{}", fmt::join(results.incomparable, ", "))}});
  }
  if (sentences.empty() && study.rows.size() == 1) {
    sentences.push_back(plain("The study has one row, so nothing is compared."));
  } else if (sentences.empty()) {
    sentences.push_back(
        {"Nothing is compared yet: the baseline {0} and another row must be done; --baseline names another one.",
         {study.baseline}});
  }
  std::ranges::move(reach_sentences(study, results), std::back_inserter(sentences));
  return sentences;
}

std::vector<SaidText> notes(const StudyResults& results) {
  const bool one_seed =
      std::ranges::any_of(results.comparisons, [](const RowComparison& each) { return each.seeds == 1; });
  std::vector<SaidText> all;
  if (!results.changed_cells.empty()) {
    all.push_back(
        {"Not shown, for they were done with other options or tests: {0}. Give the options back, or run these rows "
         "again; where a stage has changed, remove the folder of the run first.",
         {fmt::format("{}", fmt::join(results.changed_cells, "; "))}});
  }
  if (results.comparisons.empty()) {
    return all;
  }
  all.push_back(
      plain(results.tests.empty()
                ? "p is of Student's t, of the difference and its standard error by the spread over the seeds of all "
                  "rows, adjusted for the number of rows (Holm 1979). A row is better or worse if p is at most 0.05."
                : "p is of Student's t, of the difference and its standard error: by sentences (paired bootstrap) and "
                  "by the spread over the seeds of all rows. It is adjusted for the number of rows (Holm 1979). A row "
                  "is better or worse if p is at most 0.05."));
  all.push_back(plain("Differences are over the seeds that both rows have."));
  if (one_seed) {
    all.push_back(plain("Some comparisons rest on one seed: another seed may say something else."));
  }
  return all;
}

StudyTable score_table(const Study& study, const StudyResults& results, const std::string& search) {
  StudyTable table;
  table.caption = study.has_searches() ? SaidText{"Search “{0}”: mean ± standard deviation over the seeds", {search}}
                                       : plain("Mean ± standard deviation over the seeds");
  table.columns = {plain("row"), plain("seeds")};
  for (const std::string& test : results.tests) {
    for (const std::string& metric : results.metrics) {
      table.columns.push_back(plain(fmt::format("{}, {}", metric, test)));
    }
  }
  table.columns.push_back(plain("changes"));  // last, for they are long
  table.note = plain(fmt::format("{}", fmt::join(results.signatures, "; ")));
  for (const RowResult& row : results.rows) {
    std::vector<SaidText> cells = {plain(row.row->name), plain(fmt::format("{}", row.cells.size()))};
    for (const std::string& test : results.tests) {
      for (size_t metric = 0; metric < results.metrics.size(); ++metric) {
        cells.push_back(plain(text_of(spread_of(row.scores(search, test, metric)))));
      }
    }
    cells.push_back(plain(changes_of(*row.row)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

const Row& baseline_of(const Study& study) {
  return study.row(study.baseline);
}

StudyTable comparison_table(const Study& study, const StudyResults& results) {
  const std::optional<double> paper = baseline_of(study).paper;
  StudyTable table;
  table.caption = {"Against {0}", {study.baseline}};
  table.columns = {plain("row"), plain("measured on"), plain("seeds"),  plain("difference"), plain("standard error"),
                   plain("p"),   plain("p, adjusted"), plain("verdict")};
  if (paper.has_value()) {
    table.columns.push_back(plain("the paper's difference"));
    table.columns.push_back(plain("with the paper"));
  }
  for (const RowComparison& each : results.comparisons) {
    const Comparison& comparison = each.comparison;
    const int digits = each.test.empty() ? 4 : 2;
    std::vector<SaidText> cells = {
        plain(each.row->name),
        plain(each.test.empty() ? "validation loss" : each.test),
        plain(fmt::format("{}", each.seeds)),
        plain(signed_text(comparison.difference, digits)),
        plain(std::isfinite(comparison.standard_error) ? fmt::format("{:.{}f}", comparison.standard_error, digits)
                                                       : kNotKnown),
        plain(p_text(comparison.p_value)),
        plain(p_text(comparison.p_adjusted)),
        plain(std::string(base::name_of(comparison.verdict)))};
    if (paper.has_value()) {
      const std::optional<double>& of_row = each.row->paper;
      cells.push_back(plain(of_row ? fmt::format("{:+.1f}", *of_row - *paper) : kNotKnown));
      cells.push_back(
          plain(of_row ? std::string(base::name_of(agreement_with(*of_row - *paper, comparison))) : kNotKnown));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

StudyTable training_table(const Study& study, const StudyResults& results) {
  const bool has_words = std::ranges::any_of(study.rows, [](const Row& row) { return !row.about.empty(); });
  StudyTable table;
  table.caption = plain(
      "Trainings: means over the seeds, of the last stage where nothing else is said; updates a second and minutes "
      "an epoch are of all its time, with validations and saving");
  table.columns = {plain("row"),
                   plain("parameters"),
                   plain("updates"),
                   plain("epochs"),
                   plain("lowest validation loss"),
                   plain("minutes, all stages"),
                   plain("updates a second"),
                   plain("minutes an epoch")};
  if (has_words) {
    table.columns.push_back(plain("about the row"));
  }
  for (const RowResult& row : results.rows) {
    const auto mean_text = [&](auto value, int digits) { return plain(text_of_mean(row, value, digits)); };
    table.rows.push_back(
        {plain(row.row->name), plain(report::format_count(row.cells.front().parameters)),
         plain(report::format_count(std::llround(
             spread_over(row, [](const CellResult& cell) { return static_cast<double>(cell.updates); }).mean))),
         mean_text(&CellResult::epochs, 1), plain(text_of(spread_over(row, &CellResult::loss), 4)),
         mean_text(&CellResult::minutes, 1),
         mean_text(
             [](const CellResult& cell) { return static_cast<double>(cell.updates) / (60.0 * cell.last_minutes); }, 2),
         mean_text([](const CellResult& cell) { return cell.last_minutes / cell.epochs; }, 2)});
    if (has_words) {
      table.rows.back().push_back(plain(row.row->about));
    }
  }
  return table;
}

// Long sentences ask for what is far away.
StudyTable length_table(const StudyResults& results, const std::string& test) {
  const std::vector<LengthGroup>& groups = results.lengths.at(test);
  StudyTable table;
  table.caption = {"{0} by the words of a source sentence, {1}", {results.metrics.front(), test}};
  table.columns = {plain("row")};
  for (const LengthGroup& group : groups) {
    const std::string words =
        group.most == 0 ? fmt::format("{}+", group.least) : fmt::format("{}-{}", group.least, group.most);
    table.columns.push_back({"{0} words, sentences: {1}", {words, fmt::format("{}", group.lines)}});
  }
  for (const RowResult& row : results.rows) {
    std::vector<SaidText> cells = {plain(row.row->name)};
    for (size_t group = 0; group < groups.size(); ++group) {
      std::vector<double> scores;
      for (const CellResult& cell : row.cells) {
        scores.push_back(cell.score_by_length.at(test)[group]);
      }
      cells.push_back(plain(text_of(spread_of(scores))));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

StudyTable perplexity_table(const Study& study, const StudyResults& results, const std::string& test) {
  StudyTable table;
  table.caption = {"Perplexity of {0}: mean ± standard deviation over the seeds", {test}};
  table.columns = {plain("row")};
  for (const auto& [name, options] : study.perplexities) {
    table.columns.push_back(plain(name));
  }
  for (const RowResult& row : results.rows) {
    std::vector<SaidText> cells = {plain(row.row->name)};
    for (const auto& [name, options] : study.perplexities) {
      const auto perplexity = [&, of = name](const CellResult& cell) { return cell.perplexities.at(of).at(test); };
      cells.push_back(plain(text_of(spread_over(row, perplexity))));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// With the time that loading a model takes: of rows with equal test sets, the order is what counts.
StudyTable speed_table(const Study& study, const StudyResults& results) {
  StudyTable table;
  table.caption = plain("Going through the test sets, loading the model included: mean over the seeds");
  table.columns = {plain("row")};
  for (const auto& [search, options] : study.searches) {
    table.columns.push_back(study.has_searches() ? SaidText{"sentences a second, search “{0}”", {search}}
                                                 : plain("sentences a second"));
  }
  for (const RowResult& row : results.rows) {
    std::vector<SaidText> cells = {plain(row.row->name)};
    for (const auto& [search, options] : study.searches) {
      std::vector<double> speeds;
      for (const CellResult& cell : row.cells) {
        if (const auto found = cell.sentences_per_second.find(search); found != cell.sentences_per_second.end()) {
          speeds.push_back(found->second);
        }
      }
      cells.push_back(plain(text_of({1, spread_of(speeds).mean, NAN}, 1)));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

report::StudyReport study_page(const Study& study, const StudyResults& results, const Writer& writer) {
  report::StudyReport page;
  page.title = study.title;
  page.about = study.about;
  page.status = {"{0} of {1} runs are done",
                 {fmt::format("{}", results.done_cells), fmt::format("{}", results.planned_cells)}};
  page.conclusions = conclusions(study, results);
  page.notes = notes(results);
  for (const auto& [search, options] : study.searches) {
    if (!results.tests.empty()) {
      page.tables.push_back(score_table(study, results, search));
    }
  }
  if (StudyTable tuned = tuned_table(results); !tuned.rows.empty()) {
    page.tables.push_back(std::move(tuned));
  }
  if (!results.comparisons.empty()) {
    page.tables.push_back(comparison_table(study, results));
  }
  for (const auto& [test, groups] : results.lengths) {
    page.tables.push_back(length_table(results, test));
  }
  if (!study.perplexities.empty()) {
    for (const std::string& test : results.tests) {
      page.tables.push_back(perplexity_table(study, results, test));
    }
  }
  page.tables.push_back(training_table(study, results));
  if (!study.shown_minutes.empty() || !study.reached_row.empty()) {
    page.tables.push_back(time_table(study, results));
  }
  if (!results.tests.empty()) {
    page.tables.push_back(speed_table(study, results));
  }
  if (StudyTable differences = settings_table(results); !differences.rows.empty()) {
    page.tables.push_back(std::move(differences));
  }
  page.chart_note = {
      "Validation, a line for each seed of the row and of the baseline: {0}. The number at the end of the lines is the "
      "mean of their last values.",
      {curve_name(study)}};
  page.charts = charts(study, results);
  page.facts = {fact_table(study), run_table(study, results, writer)};
  return page;
}

}  // namespace dragoman::study
