// `dragoman train --watch`: the run is shown while it trains, and is the run that nobody watched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "support/http_client.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::BackgroundProgram;
using test_support::HttpClient;
using test_support::wait_until;

class TrainWatch : public test_support::TrainingRuns {
 protected:
  static std::vector<std::string> run_command(const std::string& model, int64_t steps, const std::string& watch = "") {
    std::map<std::string, std::string> changes = {{"valid-source", "valid.source"},
                                                  {"valid-target", "valid.target"},
                                                  {"validate-every", "4"},
                                                  {"metric", "loss"}};
    if (!watch.empty()) {
      changes["watch"] = watch;
    }
    return command(model, steps, changes);
  }

  // The port that the run names; 0 if it ends before.
  static uint16_t port_of(BackgroundProgram& run) {
    std::smatch found;
    std::string said;
    const std::regex line("watch the run at http://127.0.0.1:([0-9]+);");
    EXPECT_TRUE(wait_until([&] { return std::regex_search(said = run.errors(), found, line) || run.has_ended(); }));
    return found.empty() ? 0 : static_cast<uint16_t>(std::stoi(found[1]));
  }

  static json ask(uint16_t port) {
    const auto answer = HttpClient(port).ask("GET", "/v1/run", "", "");
    return answer.status == 200 ? json::parse(answer.body) : json();
  }
};

TEST_F(TrainWatch, ShowsTheRunWhileItTrainsAndEndsBySignal) {
  BackgroundProgram run(program_.folder(), run_command("watched", 1'000'000, "0"));
  const uint16_t port = port_of(run);
  ASSERT_NE(port, 0) << run.errors();
  json seen;
  EXPECT_TRUE(wait_until([&] { return (seen = ask(port)).is_object() && seen["attention"].size() >= 2; })) << seen;
  EXPECT_EQ(seen["name"], "watched");
  EXPECT_GT(seen["step"], 0);
  EXPECT_GE(seen["samples"].size(), 2U);
  const auto later = [&] { return ask(port)["step"].get<int64_t>() > seen["step"].get<int64_t>(); };
  EXPECT_TRUE(wait_until(later)) << "the page follows the run";
  run.send(SIGINT);
  EXPECT_EQ(run.wait(), 130) << run.errors();
}

TEST_F(TrainWatch, AWatchedRunIsTheRunThatWasNotWatched) {
  train(run_command("alone", 12));
  train(run_command("watched", 12, "0"));
  EXPECT_EQ(base::sha256_file(path("alone") / "model.safetensors"),
            base::sha256_file(path("watched") / "model.safetensors"));
}

TEST_F(TrainWatch, APortInUseIsAnErrorBeforeTheRunBegins) {
  BackgroundProgram first(program_.folder(), run_command("first", 1'000'000, "0"));
  const uint16_t port = port_of(first);
  ASSERT_NE(port, 0);
  BackgroundProgram second(program_.folder(), run_command("second", 4, std::to_string(port)));
  EXPECT_EQ(second.wait(), 1);
  EXPECT_THAT(second.errors(), testing::HasSubstr("cannot listen"));
  EXPECT_FALSE(std::filesystem::exists(path("second") / "metrics.jsonl"));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait(), 143);
}

}  // namespace
}  // namespace dragoman
