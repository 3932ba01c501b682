#include "training/run_state.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

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

RunState run_state_from_json(std::string_view text, std::string_view file_name) try {
  const nlohmann::json tree = base::parse_json(text, file_name);
  RunState state;
  tree.at("step").get_to(state.step);
  tree.at("applied_updates").get_to(state.applied_updates);
  tree.at("skipped_in_a_row").get_to(state.skipped_in_a_row);
  tree.at("seconds").get_to(state.seconds);
  tree.at("target_tokens").get_to(state.target_tokens);
  tree.at("best_step").get_to(state.best_step);
  tree.at("best_score").get_to(state.best_score);
  tree.at("stale_validations").get_to(state.stale_validations);
  for (const auto& [step, score] : tree.at("scores").items()) {
    state.scores[std::stoll(step)] = score.get<double>();
  }
  state.batcher = tree.at("batcher").dump();
  tree.at("fingerprint").get_to(state.fingerprint);
  state.processes = tree.value("processes", 1);  // older checkpoints: there was one
  tree.at("workers").get_to(state.workers);
  const nlohmann::json& window = tree.at("window");
  window.at("loss").get_to(state.window.loss);
  window.at("nll").get_to(state.window.nll);
  window.at("kl").get_to(state.window.kl);
  window.at("tokens").get_to(state.window.tokens);
  window.at("correct").get_to(state.window.correct);
  window.at("start").get_to(state.window_start);
  return state;
} catch (const nlohmann::json::exception& error) {
  base::fail(base::ErrorKind::kBadData, "{}: {}; the checkpoint was not written by this version of dragoman", file_name,
             error.what());
} catch (const std::logic_error& error) {
  base::fail(base::ErrorKind::kBadData, "{}: a step number is not a number ({})", file_name, error.what());
}

}  // namespace dragoman::training
