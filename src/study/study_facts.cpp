#include "study/study_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  add("processor", base::cpu_model_name());
  return table;
}

}  // namespace dragoman::study
