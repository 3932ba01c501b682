#include "study/study_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "study/study_text.h"

namespace dragoman::study {
namespace {

// What the curves of a study show.
struct CurveScore {
  const char* name;
  double report::ValidationRow::*value;
  bool is_loss = false;
};

CurveScore curve_score(const Study& study) {
  if (!study.has_searches()) {
    return {"accuracy", &report::ValidationRow::accuracy};
  }
  return study.trains_on_text() ? CurveScore{"validation loss", &report::ValidationRow::loss, true}
                                : CurveScore{"BLEU", &report::ValidationRow::bleu};
}

// The best value of a curve in its first minutes; NaN if it has none.
double best_within(const CellResult& cell, const CurveScore& score, double minutes) {
  double best = NAN;
  for (const report::ValidationRow& point : cell.curve) {
    if (point.seconds <= 60.0 * minutes) {
      best = score.is_loss ? std::fmin(best, point.*score.value) : std::fmax(best, point.*score.value);
    }
  }
  return best;
}

// The minutes after which the last training of a row ends; infinity if time does not end it.
double total_minutes(const Row& row) {
  return row.total_minutes > 0.0 ? row.total_minutes : INFINITY;
}

bool is_timed(const Study& study) {
  return std::isfinite(total_minutes(study.row(study.baseline)));
}

// The best value for a column of a table: NaN if the training ended before and would have gone on. One that patience
// ended has been judged for good. One that time ends may miss that time a little, and validates just after it.
double best_after(const CellResult& cell, const CurveScore& score, double minutes, double total) {
  constexpr double kALittle = 0.1;
  const bool has_time_ended_it = cell.last_minutes >= (1.0 - kALittle) * total;
  const bool is_known =
      cell.ended_by_patience || cell.last_minutes >= minutes || (has_time_ended_it && total >= minutes);
  return is_known ? best_within(cell, score, minutes >= total ? INFINITY : minutes) : NAN;
}

// The minutes after which a curve first has this value; NaN if it never has.
double minutes_to(const CellResult& cell, const CurveScore& score, double wanted) {
  const auto reaches = [&](const report::ValidationRow& point) {
    return score.is_loss ? point.*score.value <= wanted : point.*score.value >= wanted;
  };
  const auto found = std::ranges::find_if(cell.curve, reaches);
  return found == cell.curve.end() ? NAN : found->seconds / 60.0;
}

// The best value that every seed of a row has.
double reached_by_all(const RowResult& row, const CurveScore& score) {
  double reached = NAN;
  for (const CellResult& cell : row.cells) {
    const double best = best_within(cell, score, INFINITY);
    reached = score.is_loss ? std::fmax(reached, best) : std::fmin(reached, best);
  }
  return reached;
}

// The value that the rows of a study are to reach, Study::reached_row's; no row if it has not been run.
struct Target {
  const RowResult* row = nullptr;
  double value = NAN;
};

Target target_of(const Study& study, const StudyResults& results, const CurveScore& score) {
  const auto found = std::ranges::find(results.rows, study.reached_row, [](const auto& row) { return row.row->name; });
  return found == results.rows.end() ? Target{} : Target{&*found, reached_by_all(*found, score)};
}

// Over the seeds; NaN if one never has the value.
double mean_minutes_to(const RowResult& row, const CurveScore& score, double wanted) {
  return spread_over(row, [&](const CellResult& cell) { return minutes_to(cell, score, wanted); }).mean;
}

// What is said of a row and of the row that it may reach.
report::SaidText reach_sentence(const RowResult& row, const Target& target, const CurveScore& score) {
  const auto has_reached = [&](const CellResult& cell) { return std::isfinite(minutes_to(cell, score, target.value)); };
  const auto reached = static_cast<size_t>(std::ranges::count_if(row.cells, has_reached));
  std::vector<std::string> values = {row.row->name, target.row->row->name, score.name, text_of_number(target.value)};
  if (reached == 0) {
    return {"{0} is in none of its seeds as good in validation as {1} at its best, {2} {3}.", values};
  }
  if (reached < row.cells.size()) {
    values.insert(values.end(), {fmt::format("{}", reached), fmt::format("{}", row.cells.size())});
    return {"{0} is as good in validation as {1} at its best, {2} {3}, in {4} of {5} seeds.", values};
  }
  values.insert(values.end(), {text_of_number(mean_minutes_to(row, score, target.value)),
                               text_of_number(mean_minutes_to(*target.row, score, target.value))});
  return {"{0} is as good in validation as {1} at its best, {2} {3}, after {4} minutes, {1} after {5}.", values};
}

// The curves of a row's seeds beside the baseline's.
report::Chart chart_of(const Study& study, const RowResult& baseline, const RowResult& row) {
  const CurveScore score = curve_score(study);
  report::Chart chart;
  chart.title = row.row->name;
  chart.x_label = is_timed(study) ? "minutes" : "step";
  for (const RowResult* each : {&baseline, &row}) {
    for (const CellResult& cell : each->cells) {
      report::ChartSeries series{.name = each->row->name, .x = {}, .y = {}, .seed = fmt::format("{}", cell.seed)};
      for (const report::ValidationRow& point : cell.curve) {
        series.x.push_back(is_timed(study) ? point.seconds / 60.0 : static_cast<double>(point.step));
        series.y.push_back(point.*score.value);
      }
      chart.series.push_back(std::move(series));
    }
    if (&baseline == &row) {
      break;
    }
  }
  return chart;
}

}  // namespace

const char* curve_name(const Study& study) {
  return curve_score(study).name;
}

report::StudyTable time_table(const Study& study, const StudyResults& results) {
  const CurveScore score = curve_score(study);
  const Target target = target_of(study, results, score);
  report::StudyTable table;
  table.caption = {"On the validation text, by the minutes of the last training: {0}", {score.name}};
  table.columns = {plain("row")};
  for (const double minutes : study.shown_minutes) {
    table.columns.push_back({"after {0} minutes", {fmt::format("{:g}", minutes)}});
  }
  if (target.row != nullptr) {
    table.columns.push_back(
        {"minutes to {0}, which each seed of {1} reaches", {text_of_number(target.value), study.reached_row}});
  }
  bool has_gaps = false;
  const auto cell_of = [&](std::string text) {
    has_gaps = has_gaps || text == kNotKnown;
    return plain(std::move(text));
  };
  for (const RowResult& row : results.rows) {
    std::vector<report::SaidText> cells = {plain(row.row->name)};
    const double total = total_minutes(*row.row);
    for (const double minutes : study.shown_minutes) {
      cells.push_back(
          cell_of(text_of_mean(row, [&](const CellResult& cell) { return best_after(cell, score, minutes, total); })));
    }
    if (target.row != nullptr) {
      cells.push_back(cell_of(text_of_number(mean_minutes_to(row, score, target.value))));
    }
    table.rows.push_back(std::move(cells));
  }
  if (has_gaps) {
    table.note = plain("n/a: the training of a seed ended before, had no validation yet, or did not reach the value.");
  }
  return table;
}

std::vector<report::SaidText> reach_sentences(const Study& study, const StudyResults& results) {
  const CurveScore score = curve_score(study);
  const Target target = target_of(study, results, score);
  std::vector<report::SaidText> sentences;
  if (target.row == nullptr || !std::isfinite(target.value)) {
    return sentences;
  }
  for (const RowResult& row : results.rows) {
    if (&row != target.row) {
      sentences.push_back(reach_sentence(row, target, score));
    }
  }
  return sentences;
}

std::vector<report::Chart> charts(const Study& study, const StudyResults& results) {
  const auto baseline =
      std::ranges::find_if(results.rows, [&](const RowResult& row) { return row.row->name == study.baseline; });
  std::vector<report::Chart> all;
  if (baseline == results.rows.end()) {
    return all;
  }
  for (const RowResult& row : results.rows) {
    if (&row != &*baseline || results.rows.size() == 1) {
      all.push_back(chart_of(study, *baseline, row));
    }
  }
  return all;
}

}  // namespace dragoman::study
