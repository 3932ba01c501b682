#include <gtest/gtest.h>

#include "support/mpirun.h"
#include "support/training_runs.h"
#include "support/two_hosts.h"

namespace dragoman {
namespace {

using test_support::RankRun;
using test_support::wait_until;
using Changes = std::map<std::string, std::string>;

constexpr int kTerminated = 143;
constexpr int64_t kEndless = 1'000'000;

class TrainRanks : public test_support::TrainingRuns {
 protected:
  void SetUp() override { DRAGOMAN_NEEDS_MPIRUN(); }

  static std::vector<std::string> on_ranks(std::vector<std::string> words) {
    words.insert(words.begin(), DRAGOMAN_PROGRAM);
    return words;
  }

  /// Trains with so many processes to the end, or one without mpirun, and expects `status`. @return what was printed
  std::string train_with(int ranks, const std::vector<std::string>& words, int status = 0) const {
    if (ranks == 1) {
      train(words);
      return "";
    }
    RankRun run(program_.folder(), ranks, on_ranks(words));
    EXPECT_EQ(run.wait(), status) << run.errors();
    return run.errors();
  }

  /// A command of the shell for each rank by itself; $command is dragoman train with its options.
  std::string train_by_script(int ranks, const std::string& script, const std::vector<std::string>& words,
                              int status) const {
    std::string command = "command='" DRAGOMAN_PROGRAM;
    for (const std::string& word : words) {
      command += " " + word;
    }
    RankRun run(program_.folder(), ranks, {"sh", "-c", command + "'; rank=$OMPI_COMM_WORLD_RANK; " + script});
    EXPECT_EQ(run.wait(), status) << run.errors();
    return run.errors();
  }

  std::vector<double> loss_values(const std::string& model) const {
    std::vector<double> values;
    for (const report::TrainRow& row : report::read_metrics(path(model) / "metrics.jsonl").train) {
      values.push_back(row.loss);
    }
    return values;
  }

  /// Expects the losses of one worker from several workers, processes, and processes of several workers.
  void expect_same_losses(int64_t steps, Changes changes) const {
    const auto run_with = [&](int ranks, const std::string& workers) {
      changes["workers"] = workers;
      const std::string model = std::to_string(ranks) + "x" + workers;
      train_with(ranks, command(model, steps, changes));
      return loss_values(model);
    };
    const std::vector<double> alone = run_with(1, "1");
    ASSERT_EQ(alone.size(), static_cast<size_t>(steps));
    for (const auto& [ranks, workers] : {std::pair(1, "4"), {2, "1"}, {4, "1"}, {2, "2"}}) {
      const std::vector<double> together = run_with(ranks, workers);
      ASSERT_EQ(together.size(), alone.size());
      for (size_t step = 0; step < alone.size(); ++step) {
        ASSERT_NEAR(together[step], alone[step], 1e-4 * alone[step])
            << ranks << " processes of " << workers << " workers, step " << step + 1;
      }
    }
  }

  /// Sends `signal` to a rank of an endless run once it has saved, and expects all processes to leave soon.
  void stop_one(int signal, int rank, int expected_status, const std::string& expected_text) const {
    const std::string model = "model" + std::to_string(signal) + std::to_string(rank);
    RankRun run(program_.folder(), 3, on_ranks(command(model, kEndless, {{"rank-timeout", "5"}})));
    ASSERT_TRUE(wait_until([&] { return newest_step(model) > 2 || run.has_ended(); })) << run.errors();
    const pid_t process = run.process_of(rank);
    const std::vector<pid_t> all{run.process_of(0), run.process_of(1), run.process_of(2)};
    ASSERT_GT(process, 0) << run.errors();
    const auto start = std::chrono::steady_clock::now();
    ::kill(process, signal);
    EXPECT_EQ(run.wait(), expected_status) << run.errors();
    EXPECT_TRUE(wait_until([&] {
      return std::ranges::none_of(all, [](pid_t other) { return ::kill(other, 0) == 0; });
    })) << "a process is left";
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    EXPECT_NE(run.errors().find(expected_text), std::string::npos) << expected_text << " in: " << run.errors();
    EXPECT_GT(newest_step(model), 2) << "the last checkpoint is whole";
  }
};

TEST_F(TrainRanks, AnyNumberOfReplicasSeesTheSameLoss) {
  // In bfloat16 a sum in another order may round an operand otherwise, by 1/256 of it.
  expect_same_losses(100, {{"validate-every", "50"},
                           {"valid-source", "valid.source"},
                           {"valid-target", "valid.target"},
                           {"precision", "float32"}});
}

// Statistics are those of the whole batch, so parts of it must meet.
TEST_F(TrainRanks, AnyNumberOfReplicasHasTheSameBatchNorms) {
  expect_same_losses(30, {{"norm", "batch"}, {"precision", "float32"}});
}

TEST_F(TrainRanks, StoppedAndResumedIsTheRunNeverStopped) {
  const auto words = [](const std::string& model, int64_t steps) {
    return command(model, steps,
                   {{"validate-every", "8"},
                    {"valid-source", "valid.source"},
                    {"valid-target", "valid.target"},
                    {"metric", "loss"},
                    {"average", "2"},
                    {"ema-decay", "0.9"}});
  };
  constexpr int64_t kSteps = 60;
  train_with(2, words("straight", kSteps));
  {
    RankRun run(program_.folder(), 2, on_ranks(words("stopped", kSteps)));
    ASSERT_TRUE(wait_until([&] { return loss_values("stopped").size() > 10 || run.has_ended(); })) << run.errors();
    const pid_t process = run.process_of(1);
    ASSERT_GT(process, 0) << run.errors();  // of a run that has failed it is -1, which kill takes for all processes
    ::kill(process, SIGTERM);
    EXPECT_EQ(run.wait(), kTerminated) << "a signal to any rank stops all, after saving: " << run.errors();
    EXPECT_LT(newest_step("stopped"), kSteps) << "it was through before the signal came";
  }
  train_with(2, words("stopped", kSteps));
  expect_same_run("stopped", "straight", kSteps);
  const std::string text = train_with(3, words("stopped", kSteps + 10));
  EXPECT_NE(
      text.find("resuming with 3 processes of 1 worker a run of 2 processes of 1 worker: the same data order, but "
                "not bit for bit"),
      std::string::npos)
      << text;
  EXPECT_EQ(loss_values("stopped").size(), static_cast<size_t>(kSteps + 10));
}

TEST_F(TrainRanks, OnlyTheLeadingRankWritesAndSpeaks) {
  const std::string text =
      train_by_script(3, "mkdir -p $rank; cp *.source *.target $rank; cd $rank; $command", command("model", 3), 0);
  EXPECT_TRUE(std::filesystem::exists(path("0/model/model.safetensors")));
  EXPECT_FALSE(std::filesystem::exists(path("1/model")));
  EXPECT_FALSE(std::filesystem::exists(path("2/model")));
  const size_t first = text.find("finished: all steps done");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("finished: all steps done", first + 1), std::string::npos) << text;
}

TEST_F(TrainRanks, AKilledRankEndsTheRun) {
  stop_one(SIGKILL, 1, 128 + SIGKILL, "process rank 1");  // mpirun says so
}

TEST_F(TrainRanks, AStoppedRankEndsTheRun) {
  stop_one(SIGSTOP, 2, 1, "dragoman: rank 2 (");
}

TEST_F(TrainRanks, AStoppedLeaderEndsTheRun) {
  stop_one(SIGSTOP, 0, 1, "dragoman: rank 0 (");
}

TEST_F(TrainRanks, RanksThatDisagreeEndBeforeTheFirstStep) {
  const std::vector<std::string> words = command("model", 3);
  const std::string recipe = train_by_script(3, "$command --seed $((rank / 2))", words, 2);
  EXPECT_NE(recipe.find("ranks disagree about the recipe: rank 0 ("), std::string::npos) << recipe;
  EXPECT_NE(recipe.find("has \"seed\": 0, rank 2 ("), std::string::npos) << recipe;
  EXPECT_NE(recipe.find("has \"seed\": 1;"), std::string::npos) << recipe;
  const std::string text = train_by_script(2,
                                           "mkdir -p $rank; cp *.source *.target $rank; cd $rank; "
                                           "test $rank = 0 || sed -i 's/3/4/' train.target; $command",
                                           words, 65);
  EXPECT_NE(text.find("ranks disagree about the training text: rank 0 ("), std::string::npos) << text;
  EXPECT_NE(text.find(", rank 1 ("), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(path("model"))) << "nothing was written";
}

TEST_F(TrainRanks, WhatEndsARunIsTheSameForAll) {
  for (const char* option : {"--max-minutes 0.0001", "--total-minutes 0.0001", "--max-epochs 1", "--memory 2GiB"}) {
    const std::string text = train_by_script(
        2, std::string("test $rank = 1 && command=\"$command ") + option + "\"; $command", command("model", 3), 2);
    EXPECT_NE(text.find("ranks disagree about the options: rank 0 ("), std::string::npos) << option << ": " << text;
  }
  EXPECT_FALSE(std::filesystem::exists(path("model"))) << "nothing was written";
}

TEST_F(TrainRanks, OptionsOfOneProcessAloneMayDiffer) {
  const auto words = [](const std::string& model) {
    return command(model, 20, {{"validate-every", "8"}, {"average", "2"}});
  };
  train_with(2, words("alike"));
  train_by_script(2,
                  "test $rank = 1 && command=$(echo \"$command\" | sed 's/log-every 1/log-every 3/; s/keep-last "
                  "2/keep-last 4/')' --average-best true "
                  "--cache-megabytes 0 --keep-best 1 --rank-timeout 9 --recompute layers'; $command",
                  words("apart"), 0);
  expect_same_run("apart", "alike", 20);
}

TEST_F(TrainRanks, AnErrorOfOneRankEndsAllAndNamesIt) {
  const std::string text =
      train_by_script(3, "test $rank != 2 || { mkdir empty; cd empty; }; $command", command("model", 3), 65);
  EXPECT_NE(text.find("dragoman: rank 2 ("), std::string::npos) << text;
  EXPECT_NE(text.find("train.source: cannot open for reading"), std::string::npos) << text;
}

class TrainHosts : public TrainRanks {
 protected:
  void SetUp() override {
    TrainRanks::SetUp();
    if (!IsSkipped() && !hosts_.made()) {
      GTEST_SKIP() << "network namespaces cannot be made here (root and iproute2): no two hosts to test with";
    }
  }
  std::unique_ptr<test_support::BackgroundProgram> start(const std::vector<std::string>& words) const {
    return std::make_unique<test_support::BackgroundProgram>(program_.folder(), hosts_.command(on_ranks(words)),
                                                             test_support::mpirun_environment(), "ip");
  }
  test_support::TwoHosts hosts_{program_.folder()};
};

TEST_F(TrainHosts, TwoHostsTrainTheSameModelAsTwoRanksOfOne) {
  const auto run = start(command("hosts", 20));
  ASSERT_EQ(run->wait(), 0) << run->errors();
  train_with(2, command("host", 20));
  expect_same_run("hosts", "host", 20);
}

TEST_F(TrainHosts, APulledCableEndsTheRun) {
  const auto run = start(command("model", kEndless, {{"rank-timeout", "5"}}));
  ASSERT_TRUE(wait_until([&] { return newest_step("model") > 2 || run->has_ended(); })) << run->errors();
  ASSERT_EQ(hosts_.programs(), 2) << run->errors();
  const auto start = std::chrono::steady_clock::now();
  hosts_.pull_the_cable();
  EXPECT_TRUE(wait_until([&] { return hosts_.programs() == 0; })) << run->errors();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_NE(run->errors().find("dragoman: rank 1 ("), std::string::npos) << run->errors();
  EXPECT_GT(newest_step("model"), 2) << "the last checkpoint is whole";
}

}  // namespace
}  // namespace dragoman
