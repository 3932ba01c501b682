#include "training/run_state.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::training {

std::string to_json(const RunState& state) {
  nlohmann::json scores = nlohmann::json::object();
  for (const auto& [step, score] : state.scores) {
    scores[std::to_string(step)] = score;
  }
  const nlohmann::json tree = {{"step", state.step},
                               {"applied_updates", state.applied_updates},
                               {"skipped_in_a_row", state.skipped_in_a_row},
                               {"seconds", state.seconds},
                               {"target_tokens", state.target_tokens},
                               {"best_step", state.best_step},
                               {"best_score", state.best_score},
                               {"stale_validations", state.stale_validations},
                               {"scores", scores},
                               {"measure",
                                {{"metric", state.measure.metric},
                                 {"tokenizer", state.measure.tokenizer},
                                 {"beam", state.measure.beam},
                                 {"validation", state.measure.validation}}},
                               {"batcher", nlohmann::json::parse(state.batcher)},
                               {"fingerprint", state.fingerprint},
                               {"processes", state.processes},
                               {"workers", state.workers},
                               {"window",
                                {{"loss", state.window.loss},
                                 {"nll", state.window.nll},
                                 {"kl", state.window.kl},
                                 {"tokens", state.window.tokens},
                                 {"correct", state.window.correct},
                                 {"start", state.window_start}}}};
  return base::dump_json(tree, 2) + "\n";
}

namespace {

ScoreMeasure measure_from(const base::JsonFields& fields) {
  return {fields.text("metric"), fields.text("tokenizer"), fields.text("beam"), fields.text("validation")};
}

}  // namespace

RunState run_state_from_json(std::string_view text, std::string_view file_name) try {
  const nlohmann::json tree = base::parse_json(text, file_name);
  const base::JsonFields fields(tree, std::string(file_name));
  RunState state;
  state.step = fields.integer<int64_t>("step");
  state.applied_updates = fields.integer<int64_t>("applied_updates");
  state.skipped_in_a_row = fields.integer<int64_t>("skipped_in_a_row");
  state.seconds = fields.number("seconds");
  state.target_tokens = fields.integer<int64_t>("target_tokens");
  state.best_step = fields.integer<int64_t>("best_step");
  state.best_score = fields.number("best_score");
  state.stale_validations = fields.integer<int64_t>("stale_validations");
  const base::JsonFields scores = fields.object("scores");
  for (const auto& [step, unused] : fields.value("scores").items()) {
    state.scores[std::stoll(step)] = scores.number(step);
  }
  if (fields.has("measure")) {
    state.measure = measure_from(fields.object("measure"));
  }
  state.batcher = fields.value("batcher").dump();
  state.fingerprint = fields.text("fingerprint");
  state.processes = fields.has("processes") ? fields.integer<int>("processes") : 1;  // older checkpoints: there was one
  state.workers = fields.integer<int>("workers");
  const base::JsonFields window = fields.object("window");
  state.window.loss = window.number("loss");
  state.window.nll = window.number("nll");
  state.window.kl = window.number("kl");
  state.window.tokens = window.integer<int64_t>("tokens");
  state.window.correct = window.integer<int64_t>("correct");
  state.window_start = window.number("start");
  return state;
} catch (const std::logic_error& error) {
  base::fail(base::ErrorKind::kBadData, "{}: a step number is not a number ({})", file_name, error.what());
}

}  // namespace dragoman::training
