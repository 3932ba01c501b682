#include "study/direction_check.h"

#include <algorithm>

#include "base/error.h"
#include "models/languages.h"

namespace dragoman::study {
namespace {

using base::check_usage;

const char* direction(Side from) {
  return from == Side::kSource ? "from source to target" : "from target to source";
}

// The side that a stage reads, if it writes the other one.
std::optional<Side> read_by(const Study& study, const Stage& stage) {
  const std::optional<Side> source = study.side_of(stage.source), target = study.side_of(stage.target);
  return source.has_value() && target.has_value() && source != target ? source : std::nullopt;
}

// The side that a model reads, if each training from the first weights on had this direction alone.
std::optional<Side> read_by_model(const Study& study, const std::string& model) {
  const Stage* stage = study.training(model);
  const std::optional<Side> side = stage == nullptr ? std::nullopt : read_by(study, *stage);
  if (!side.has_value() || stage->start_from.empty()) {
    return side;
  }
  return read_by_model(study, stage->start_from) == side ? side : std::nullopt;
}

void check_model(const Study& study, const Stage& stage) {
  const std::optional<Side> model = read_by_model(study, stage.model);
  const std::optional<Side> text = study.side_of(stage.kind == StageKind::kFilter ? stage.source : stage.input_texts());
  check_usage(!model.has_value() || !text.has_value() || model == text,
              "{}: stage {} {} {} by {}, which learns the other direction alone; name a model of this direction or of "
              "both",
              study.where(stage.place), stage.name, stage.translates() ? "translates" : "scores",
              direction(text.value_or(Side::kSource)), stage.model);
}

// Whether the files of a test say that it goes from the language of the source to the language of the target.
bool goes_forward(const Study& study, const TestSet& test) {
  const auto source = study.texts.find("source"), target = study.texts.find("target");
  if (source == study.texts.end() || target == study.texts.end()) {
    return false;
  }
  const auto pair = models::languages_of_files(source->second, target->second);
  const auto of_test = models::languages_of_files(test.source, test.target);
  return pair && of_test && pair->source == of_test->source && pair->target == of_test->target;
}

// Tests are translated by the model of the last stage.
void check_last(const Study& study) {
  const Stage& last = study.last_stage();
  if (read_by(study, last) != Side::kTarget) {
    return;
  }
  check_usage(!study.texts.contains("valid-source"),
              "{}: stage {} trains {}, but its model is tested on the validation text {}; swap its source and target",
              study.where(last.place), last.name, direction(Side::kTarget), direction(Side::kSource));
  for (const TestSet& test : study.tests) {
    check_usage(!goes_forward(study, test),
                "{}: stage {} trains {}, but its model is tested on {} {}; swap its source and target",
                study.where(last.place), last.name, direction(Side::kTarget), test.name, direction(Side::kSource));
  }
}

}  // namespace

void check_directions(const Study& study) {
  for (const Stage& stage : study.stages) {
    if (stage.kind != StageKind::kTrain && !stage.model.empty()) {
      check_model(study, stage);
    }
  }
  check_last(study);
}

}  // namespace dragoman::study
