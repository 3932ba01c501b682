// `dragoman train --watch`: the run is shown while it trains, and is the run that nobody watched. `dragoman demo`: a
// server of the model follows the run at the same address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "base/files.h"
#include "support/free_port.h"
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

TEST_F(TrainWatch, DemoMakesACorpusShowsTheRunAndServesTheModelAtTheSameAddress) {
  const uint16_t port = test_support::free_port();
  BackgroundProgram demo(program_.folder(),
                         {"demo", "shown", "--size", "4000", "--max-steps", "3", "--port", std::to_string(port)});
  const auto ask = [&](const std::string& path) { return HttpClient(port).ask("GET", path, "", "").status; };
  const auto within = std::chrono::minutes(5);
  EXPECT_TRUE(wait_until([&] { return ask("/v1/run?after=-1") == 200 || demo.has_ended(); }, within)) << demo.errors();
  EXPECT_TRUE(wait_until([&] { return ask("/languages") == 200 || demo.has_ended(); }, within)) << demo.errors();
  EXPECT_EQ(ask("/v1/run?after=-1"), 404) << "so the page knows that the run is over";
  for (const char* command :
       {"== dragoman sample-corpus --pair en-de", "== dragoman train --config shown/quickstart.yaml",
        "== dragoman serve --model shown/model"}) {
    EXPECT_THAT(demo.errors(), testing::HasSubstr(command));
  }
  demo.send(SIGTERM);
  EXPECT_EQ(demo.wait(), 0) << demo.errors();
  EXPECT_EQ(base::read_file(path("shown") / "quickstart.yaml"),
            base::read_file(std::filesystem::path(DRAGOMAN_QUICKSTART_CONFIG)));
}

}  // namespace
}  // namespace dragoman
