#include <gtest/gtest.h>

#include "models/model_folder.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using test_support::BackgroundProgram;
using test_support::wait_until;

constexpr int kKills = 50;
constexpr int64_t kEndless = 1'000'000;

class TrainKill : public test_support::TrainingRuns {
 protected:
  // A checkpoint and a new model at the top after every update; weights enough that writing takes most of the time.
  static std::vector<std::string> run_command(const std::string& model, int64_t steps) {
    return command(model, steps, {{"d-ff", "4096"}});
  }

  bool is_writing(const std::string& model) const {
    std::error_code none;
    for (std::filesystem::directory_iterator entry(path(model) / "checkpoints", none), end; !none && entry != end;
         entry.increment(none)) {
      if (entry->path().extension() == ".tmp") {
        return true;
      }
    }
    return std::filesystem::exists(path(model) / ".next.tmp", none) ||
           std::filesystem::exists(path(model) / ".next", none);
  }

  // Halts the program at a random moment within a write: one that was over too soon is let go on until the next.
  void halt_while_writing(const BackgroundProgram& run, const std::string& model, base::Random& random) const {
    wait_until([&] {
      if (is_writing(model)) {
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));  // the random moment
        run.send(SIGSTOP);
        if (is_writing(model)) {
          return true;
        }
        run.send(SIGCONT);
      }
      return false;
    });
  }
};

TEST_F(TrainKill, FiftyKillsCostNothing) {
  base::Random random(4711);
  int kills_while_writing = 0;
  int64_t reached = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    BackgroundProgram run(program_.folder(), run_command("killed", kEndless));
    ASSERT_TRUE(wait_until([&] { return newest_step("killed") > reached || run.has_ended(); })) << run.errors();
    ASSERT_FALSE(run.has_ended()) << "resuming needed help: " << run.errors();
    if (kill % 5 != 0) {
      halt_while_writing(run, "killed", random);
    }
    const int64_t durable = newest_step("killed");
    run.send(SIGKILL);
    ASSERT_EQ(run.wait(), 128 + SIGKILL);
    kills_while_writing += is_writing("killed") ? 1 : 0;
    reached = newest_step("killed");
    EXPECT_GE(reached, durable) << "a finished checkpoint was lost";
    EXPECT_LE(leftovers("killed").size(), 2U) << testing::PrintToString(leftovers("killed"));
    EXPECT_NO_THROW(models::read_model_folder(path("killed"))) << "kill " << kill;
    if (kill % 10 == 0) {
      EXPECT_EQ(program_.run("translate --model killed --input valid.source --output out.txt").status, 0);
    }
  }
  RecordProperty("kills_while_writing", kills_while_writing);
  EXPECT_GE(kills_while_writing, kKills * 6 / 10) << "too few kills came while a checkpoint or the model was written";
  train(run_command("killed", reached + 2));
  EXPECT_EQ(leftovers("killed"), std::vector<std::string>());
  train(run_command("straight", reached + 2));
  expect_same_run("killed", "straight", reached + 2);
}

TEST_F(TrainKill, ReadersFindAWholeModelAtEveryMoment) {
  BackgroundProgram run(program_.folder(), run_command("model", 150));
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(path("model/manifest.json")); })) << run.errors();
  int reads = 0;
  std::set<std::string> versions;
  for (; !run.has_ended(); ++reads) {
    models::ModelFiles files;
    ASSERT_NO_THROW(files = models::read_model_folder(path("model"))) << "read " << reads;
    versions.insert(tensor::make_safetensors(files.tensors).bytes());
  }
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_GE(versions.size(), 5U) << "of " << reads << " reads";
}

}  // namespace
}  // namespace dragoman
