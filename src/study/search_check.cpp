#include "study/search_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace dragoman::study {
namespace {

using base::check_usage;

// NaN for an option that is not given.
double number(const OptionList& options, const std::string& name) {
  const std::vector<std::string>* values = options.find(name);
  return values == nullptr ? NAN : std::strtod(values->front().c_str(), nullptr);
}

bool is_on(const OptionList& options, const std::string& name) {
  const std::vector<std::string>* values = options.find(name);
  return values != nullptr && values->front() == "true";
}

// The stage whose training draws the first weights of a model, which have its shape; null if they are given ones.
const Stage* first_training(const Study& study, const Row& row, const std::string& model) {
  const Stage* stage = study.training(model);
  while (stage != nullptr && !stage->start_from.empty()) {
    stage = study.training(stage->start_from);
  }
  return stage == nullptr || study.options_of(row, *stage).find("initial-model") != nullptr ? nullptr : stage;
}

// @param owner  "the search paper"
void check_coverage(const Study& study, const Row& row, const std::string& model, const OptionList& options,
                    const std::string& owner, const LimitsOf& limits_of) {
  const double penalty = number(options, "coverage-penalty");
  if (std::isnan(penalty) || penalty == 0.0) {
    return;
  }
  const Stage* stage = first_training(study, row, model);
  check_usage(
      stage == nullptr || limits_of_stage(study, row, *stage, limits_of).attends,
      "{}: row {}: {} gives --coverage-penalty, but the model of stage {} has no attention to the source; leave "
      "the penalty out, or give the row --attention",
      study.where(row.place), row.name, owner, model);
}

}  // namespace

void check_search(const Study& study, const std::string& model, const OptionList& options, const std::string& place) {
  if (options.find("reverse-model") != nullptr) {
    check_usage(number(options, "beam-size") != 1.0,
                "{}: --beam-size is 1, but --reverse-model chooses among the hypotheses of a beam search; give a beam "
                "size of 2 or more",
                place);
    check_usage(number(options, "reverse-weight") != 0.0,
                "{}: --reverse-weight is 0, so --reverse-model would do nothing; give a weight above 0", place);
  }
  check_usage(!is_on(options, "shortlist") || study.training(model) == nullptr,
              "{}: --shortlist is on, but a study makes no shortlist for the model of stage {}; leave it out", place,
              model);
}

void check_text_stage(const Study& study, const Row& row, const Stage& stage, const std::string& place) {
  const OptionList options = study.text_options(row, stage);
  check_search(study, stage.model, options, place);
  const double many = number(options, "nbest"), beam = number(options, "beam-size");
  check_usage(std::isnan(many) || !stage.nearest_to.empty(),
              "{}: --nbest is {:g}, but the text is one translation of each line; leave it out, or name a text under "
              "nearest-to",
              place, many);
  const bool is_beam_search = options.find("temperature") == nullptr && !is_on(options, "alternatives");
  check_usage(!is_beam_search || !(many > beam),
              "{}: --nbest is {:g}, must be 1 to --beam-size ({:g}); raise the beam size to get more translations",
              place, many, beam);
}

void check_attention(const Study& study, const Row& row, const LimitsOf& limits_of) {
  for (const auto& [name, options] : study.searches) {
    check_coverage(study, row, study.last_stage().name, options, "the search " + name, limits_of);
  }
  for (const Stage& stage : study.stages) {
    if (stage.translates()) {
      check_coverage(study, row, stage.model, study.text_options(row, stage), "stage " + stage.name, limits_of);
    }
  }
}

}  // namespace dragoman::study
