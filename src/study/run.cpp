#include "study/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "study/asked_words.h"
#include "training/checkpoint.h"

namespace dragoman::study {

namespace {

bool is_done(const StudyFolder& folder, const Cell& cell, const Step& step) {
  const auto mark = folder.marked(cell, step.name);
  return mark.has_value() && asks_the_same(*mark, step.asked) && std::ranges::all_of(step.outputs, base::path_exists);
}

// Whether a training goes on from what it has saved.
bool goes_on(const Step& step) {
  return !step.model.empty() && !training::list_checkpoints(step.model).empty();
}

// What was asked for when a stage was done, or when the training began that would go on; nothing where it begins anew.
std::optional<std::vector<std::string>> kept_of(const StudyFolder& folder, const Cell& cell, const Step& step) {
  if (const auto mark = folder.marked(cell, step.name); mark.has_value() && step.outputs.empty()) {
    return mark;
  }
  return goes_on(step) ? folder.begun(cell, step.name) : std::nullopt;
}

// A stage that was done or begun with other options stays as it is.
void check_may_act(const StudyFolder& folder, const Cell& cell, const Step& step) {
  const auto kept = kept_of(folder, cell, step);
  const std::string place = folder.cell_folder(cell).string();
  base::check_usage(!kept.has_value() || asks_the_same(*kept, step.asked),
                    "{}: {} was {} with other options: {}; give the old ones back, name another --folder, or remove {}",
                    place, step.name, folder.marked(cell, step.name).has_value() ? "done" : "begun",
                    asked_changes(kept.value_or(std::vector<std::string>()), step.asked), place);
}

}  // namespace

int run_cell(const Study& study, const StudyFolder& folder, const Cell& cell, const Program& program,
             const std::function<void(const std::string&)>& say) try {
  folder.prepare(cell);
  for (const Step& step : steps_of(study, folder, cell)) {
    if (is_done(folder, cell, step)) {
      continue;
    }
    check_may_act(folder, cell, step);
    say(fmt::format("{}: {}", cell.name(), step.name));
    if (!goes_on(step)) {  // what was asked for at its beginning stays
      folder.begin(cell, step.name, step.asked);
    }
    folder.unmark(cell, step.name);  // an interruption leaves no mark of what was there before
    step.act(program);
    folder.check_texts();
    folder.mark(cell, step.name, step.asked);
  }
  return 0;
} catch (const CommandFailed& failed) {
  say(fmt::format("{}: status {} of: dragoman {}", cell.name(), failed.status, failed.words));
  return failed.status;
}

bool is_done(const Study& study, const StudyFolder& folder, const Cell& cell) {
  return std::ranges::all_of(steps_of(study, folder, cell),
                             [&](const Step& step) { return is_done(folder, cell, step); });
}

bool is_changed(const Study& study, const StudyFolder& folder, const Cell& cell) {
  return std::ranges::any_of(steps_of(study, folder, cell), [&](const Step& step) {
    const auto mark = folder.marked(cell, step.name);
    return mark.has_value() && !asks_the_same(*mark, step.asked);
  });
}

}  // namespace dragoman::study
