#include "study/study_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/cpu.h"
#include "study/study_text.h"

namespace dragoman::study {
namespace {

// "train, source: source, target: target taught, share: 0.5, --dropout=0.1"
std::string words_of(const Stage& stage) {
  std::string words(base::name_of(stage.kind));
  const auto add = [&](const char* key, const std::vector<std::string>& values) {
    words += values.empty() ? "" : fmt::format(", {}: {}", key, fmt::join(values, " "));
  };
  const auto one = [](const std::string& value) {
    return value.empty() ? std::vector<std::string>() : std::vector<std::string>{value};
  };
  const auto number = [](double value) {
    return value == 1.0 ? std::vector<std::string>() : std::vector<std::string>{fmt::format("{:g}", value)};
  };
  add("source", stage.source);
  add("target", stage.target);
  add("text", stage.text);
  add("nearest-to", stage.nearest_to);
  add(stage.kind == StageKind::kDistill ? "teacher" : "model", one(stage.model));
  add("start-from", one(stage.start_from));
  add("share", number(stage.share));
  add("keep", number(stage.keep));
  const std::vector<std::string> options = stage.options.arguments();
  return options.empty() ? words : fmt::format("{}, {}", words, fmt::join(options, " "));
}

// The workers of the trainings: "1", "all cores"; all that are given where rows or stages differ.
std::string workers_of(const Study& study) {
  std::vector<std::string> all;
  for (const Row& row : study.rows) {
    for (const Stage& stage : study.stages) {
      if (stage.kind != StageKind::kTrain) {
        continue;
      }
      const OptionList options = study.options_of(row, stage);
      const std::vector<std::string>* given = options.find("workers");
      const std::string workers = given == nullptr || given->front() == "0" ? "all cores" : given->front();
      if (std::ranges::count(all, workers) == 0) {
        all.push_back(workers);
      }
    }
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

double hours_of(const StudyResults& results) {
  double minutes = 0.0;
  for (const RowResult& row : results.rows) {
    for (const CellResult& cell : row.cells) {
      minutes += cell.minutes;
    }
  }
  return minutes / 60.0;
}

const std::map<std::string, std::string>& first_settings(const RowResult& row) {
  return row.cells.front().settings;
}

// Empty for what a row does not have.
std::string value_of(const RowResult& row, const std::string& name) {
  const auto found = first_settings(row).find(name);
  return found == first_settings(row).end() ? "" : found->second;
}

}  // namespace

report::StudyTable fact_table(const Study& study) {
  report::StudyTable table;
  table.caption = plain("What was run");
  table.columns = {plain("fact"), plain("value")};
  const auto add = [&](const char* name, std::string value) {
    table.rows.push_back({plain(name), plain(std::move(value))});
  };
  add("options of all trainings", fmt::format("{}", fmt::join(study.options.arguments(), " ")));
  for (const auto& [name, path] : study.texts) {
    table.rows.push_back({{"text {0}", {name}}, plain(path.string() + study.part_of(name).words())});
  }
  for (const auto& [name, path] : study.models) {
    table.rows.push_back({{"model {0}", {name}}, plain(path.string())});
  }
  for (const TestSet& test : study.tests) {
    table.rows.push_back(
        {{"test {0}", {test.name}},
         plain(test.text.empty() ? fmt::format("{} {}{}", test.source.string(), test.target.string(),
                                               test.join == 1 ? "" : fmt::format(", join: {}", test.join))
                                 : test.text.string())});
  }
  if (study.lowercase_text) {
    add("lowercase", "true");
  }
  if (study.tune) {
    add("tune", "true");
  }
  add("seeds of the study", fmt::format("{}", fmt::join(study.seeds, ", ")));
  for (const Stage& stage : study.stages) {
    if (study.stages.size() > 1) {
      table.rows.push_back({{"stage {0}", {stage.name}}, plain(words_of(stage))});
    }
  }
  for (const auto& [search, options] : study.searches) {
    if (!study.has_searches() || (study.tests.empty() && !study.texts.contains("valid-source"))) {
      break;
    }
    const std::string words = fmt::format("{}", fmt::join(options.arguments(), " "));
    table.rows.push_back({{"search {0}", {search}}, plain(words.empty() ? "-" : words)});
  }
  for (const auto& [name, options] : study.perplexities) {
    const std::string words = fmt::format("{}", fmt::join(options.arguments(), " "));
    table.rows.push_back({{"perplexity {0}", {name}}, plain(words.empty() ? "-" : words)});
  }
  return table;
}

report::StudyTable run_table(const Study& study, const StudyResults& results, const Writer& writer) {
  report::StudyTable table;
  table.caption = plain("What it ran on");
  table.columns = {plain("fact"), plain("value")};
  table.rows = {{plain("program"), plain(writer.program)},
                {plain("processor"), plain(base::cpu_model_name())},
                {plain("workers"), plain(workers_of(study))},
                {plain("date of the report"), plain(writer.date)},
                {plain("hours of all trainings"), plain(text_of_number(hours_of(results)))}};
  table.note =
      plain("Program and processor are those of the run that wrote this report. Trainings may have had others.");
  return table;
}

report::StudyTable tuned_table(const StudyResults& results) {
  report::StudyTable table;
  table.caption = plain("Searches that were tuned on the validation text");
  table.columns = {plain("row"), plain("seed"), plain("beam size"), plain("length penalty"), plain("alpha")};
  for (const RowResult& row : results.rows) {
    for (const CellResult& cell : row.cells) {
      if (cell.tuned.has_value()) {
        const decoding::RankingOptions& ranking = cell.tuned->ranking;
        table.rows.push_back(
            {plain(row.row->name), plain(fmt::format("{}", cell.seed)), plain(fmt::format("{}", cell.tuned->beam_size)),
             plain(std::string(decoding::name_of(ranking.length_penalty))), plain(fmt::format("{}", ranking.alpha))});
      }
    }
  }
  table.note = plain("A search that names one of these options keeps its own value.");
  return table;
}

report::StudyTable settings_table(const StudyResults& results) {
  report::StudyTable table;
  table.caption = plain("What differs between the rows: recipe.json and config.json of the last training, first seed");
  table.columns = {plain("option")};
  std::set<std::string> names;
  for (const RowResult& row : results.rows) {
    table.columns.push_back(plain(row.row->name));
    for (const auto& [name, value] : first_settings(row)) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    std::vector<report::SaidText> cells = {plain(name)};
    std::set<std::string> different;
    for (const RowResult& row : results.rows) {
      const std::string value = value_of(row, name);
      different.insert(value);
      cells.push_back(plain(value.empty() ? "-" : value));
    }
    if (different.size() > 1) {
      table.rows.push_back(std::move(cells));
    }
  }
  table.note =
      plain("-: the files of the row do not name the option. It does not belong to its model, or has its default.");
  return table;
}

}  // namespace dragoman::study
