// GET /v1/run from the files of a run, and the server that watches one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/files.h"
#include "recorded_exchange.h"
#include "report/attention_history.h"
#include "report/metrics_log.h"
#include "serving/routes/run_routes.h"
#include "serving/watch.h"
#include "support/http_client.h"
#include "support/temporary_folder.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

class RunRoutes : public testing::Test {
 protected:
  RunRoutes() { add_run_routes(router_, folder()); }

  std::filesystem::path folder() const { return parent_.path() / "my-model"; }
  json run(const std::string& query = "") {
    const auto exchange = std::make_shared<RecordedExchange>(get("/v1/run", query));
    router_.handle(exchange);
    const Reply reply = exchange->answer();
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json::parse(reply.body);
  }
  // A run of two validations, as the trainer writes it.
  void write_run() {
    std::filesystem::create_directories(folder());
    report::MetricsLog log(folder() / report::kMetricsName, 0);
    report::AttentionHistory attention(folder() / report::kAttentionHistoryName, 0);
    for (const int64_t step : {50, 100}) {
      log.append(report::TrainRow{.step = step, .loss = 300.0 / double(step), .seconds = double(step)});
      log.append(report::ValidationRow{.step = step, .loss = 200.0 / double(step), .bleu = double(step)});
      attention.add({step, {{"Cross-attention", "target", "source", {"Das"}, {"The"}, {1.0F}}}});
    }
    base::write_file_atomic(folder() / "samples.json",
                            R"([{"step": 50, "samples": []}, {"step": 100, "samples": [{"source": "a"}]}])");
  }

  test_support::TemporaryFolder parent_;
  Router router_;
};

TEST_F(RunRoutes, AFolderThatIsNotThereIsARunThatHasNotBegun) {
  const json answer = run();
  EXPECT_EQ(answer["name"], "my-model");
  EXPECT_EQ(answer["step"], 0);
  EXPECT_TRUE(answer["train"].empty() && answer["samples"].empty() && answer["attention"].empty());
  EXPECT_TRUE(answer["event"].is_null() && answer["idle_seconds"].is_null());
}

TEST_F(RunRoutes, AnswersWhatTheTrainerWrote) {
  write_run();
  const json answer = run();
  EXPECT_EQ(answer["step"], 100);
  EXPECT_EQ(answer["seconds"], 100);
  EXPECT_EQ(answer["train"][0]["loss"], 6);
  EXPECT_EQ(answer["validation"][1]["bleu"], 100);
  EXPECT_EQ(answer["samples"][1]["samples"][0]["source"], "a");
  EXPECT_EQ(answer["attention"][0]["maps"][0]["columns"][0], "The");
  EXPECT_LT(answer["idle_seconds"].get<double>(), 600.0);
}

TEST_F(RunRoutes, AfterAStepOnlyLaterSetsAreSent) {
  write_run();
  const json answer = run("after=50");
  ASSERT_EQ(answer["samples"].size(), 1U);
  EXPECT_EQ(answer["attention"][0]["step"], 100);
  EXPECT_EQ(answer["train"].size(), 2U) << "curves are sent whole";
  EXPECT_TRUE(run("after=100")["samples"].empty());
}

TEST_F(RunRoutes, AFileThatIsBeingDamagedCostsItsPartAlone) {
  write_run();
  base::write_file_atomic(folder() / "samples.json", "[{\"step\":");
  const json answer = run();
  EXPECT_TRUE(answer["samples"].empty());
  EXPECT_EQ(answer["attention"].size(), 2U);
}

TEST_F(RunRoutes, TheLastEventIsToldUntilTrainingGoesOn) {
  write_run();
  report::MetricsLog log(folder() / report::kMetricsName, 100);
  log.append(report::EventRow{.step = 100, .name = "finish", .text = "the limit of steps was reached"});
  EXPECT_EQ(run()["event"]["name"], "finish");
  log.append(report::TrainRow{.step = 150, .loss = 1.0, .seconds = 150.0});
  EXPECT_TRUE(run()["event"].is_null());
}

TEST_F(RunRoutes, AWatcherServesThePageAndLeavesSignalsAlone) {
  write_run();
  struct sigaction before {};
  sigaction(SIGINT, nullptr, &before);
  std::string address;
  {
    const RunWatcher watcher({.folder = folder(), .listen = {.port = 0}});
    address = watcher.address();
    EXPECT_THAT(address, testing::StartsWith("http://127.0.0.1:"));
    struct sigaction during {};
    sigaction(SIGINT, nullptr, &during);
    EXPECT_EQ(during.sa_handler, before.sa_handler) << "a training run handles its signals itself";
    test_support::HttpClient client(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_THAT(client.ask("GET", "/").body, testing::HasSubstr("<title>dragoman</title>"));
    EXPECT_EQ(json::parse(client.ask("GET", "/v1/run", "", "").body)["step"], 100);
    EXPECT_EQ(json::parse(client.ask("GET", "/frontend/settings", "", "").body)["watch"], true);
    EXPECT_EQ(client.ask("GET", "/languages").status, 404);
  }
}

}  // namespace
}  // namespace dragoman::serving
