// The program itself, killed and starved of disk while it trains.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/checked_folder.h"
#include "base/files.h"
#include "base/published_folder.h"
#include "base/random.h"
#include "support/temporary_folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int kCannotWriteStatus = 74;

/// Starts the program in a child; its output goes to `log`.
pid_t start(Words words, const fs::path& log, const Words& environment = {}) {
  words.insert(words.begin(), DRAGOMAN_PROGRAM);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const std::string& setting : environment) {
      ::putenv(const_cast<char*>(setting.c_str()));
    }
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execv(DRAGOMAN_PROGRAM, arguments.data());
    ::_exit(127);
  }
  return child;
}

/// Exit status, or 1000 + signal.
int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class FilesTrain : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"sample-corpus", "--pair", "en-de", "--size", "300", "--seed", "1", "--output", root() / "corpus"}),
              0)
        << log();
  }
  const fs::path& root() const { return folder_.path(); }
  std::string log() const { return base::read_file(log_path()); }
  fs::path log_path() const { return root() / "log"; }

  int run(const Words& words, const Words& environment = {}) const {
    return wait_for(start(words, log_path(), environment));
  }
  Words train(const fs::path& model, int max_steps) const {
    const std::string corpus = (root() / "corpus").string();
    return {"train",
            "--source",
            corpus + "/train.en",
            "--target",
            corpus + "/train.de",
            "--valid-source",
            corpus + "/valid.en",
            "--valid-target",
            corpus + "/valid.de",
            "--model",
            model,
            "--vocab-size",
            "250",
            "--encoder-layers",
            "1",
            "--decoder-layers",
            "1",
            "--d-model",
            "16",
            "--d-ff",
            "16",
            "--n-heads",
            "2",
            "--batch-tokens",
            "300",
            "--workers",
            "1",
            "--validate-every",
            "2",
            "--metric",
            "loss",
            "--patience",
            "0",
            "--keep-last",
            "2",
            "--keep-best",
            "1",
            "--average",
            "0",
            "--max-steps",
            std::to_string(max_steps)};
  }
  static int64_t newest_step(const fs::path& model) {
    const auto newest = base::newest_valid_folder(model / "checkpoints", "step-");
    return newest ? newest->number : 0;
  }

 private:
  test_support::TemporaryFolder folder_;
};

bool is_writing(const fs::path& model, int64_t after_step) {
  if (base::path_exists(model / ".next.tmp") || base::path_exists(model / ".next")) {
    return true;
  }
  for (int64_t step = after_step + 1; step <= after_step + 40; ++step) {
    if (base::path_exists(model / "checkpoints" / ("step-" + std::to_string(step) + ".tmp"))) {
      return true;
    }
  }
  return false;
}

/// Waits until the child writes a checkpoint or publishes a model, but not for ever.
void wait_until_writing(const fs::path& model, int64_t after_step) {
  for (int i = 0; i < 100000 && !is_writing(model, after_step); ++i) {
    ::usleep(100);
  }
}

// Fifty kills at random moments of writing; the run goes on each time, and ends with the bits of a run never stopped.
TEST_F(FilesTrain, KilledFiftyTimesItGoesOnAndLosesNothing) {
  const fs::path model = root() / "model";
  base::Random random(9);
  int64_t reached = 0;
  uint64_t span_us = 20000;  // fitted to the disk, so that about half of the kills come too early to get on
  for (int kill = 0; kill < 50; ++kill) {
    const pid_t child = start(train(model, 100000), log_path());
    wait_until_writing(model, reached);
    ::usleep(static_cast<useconds_t>(random.below(span_us)));
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait_for(child), 1000 + SIGKILL) << "ended by itself: " << log();
    const int64_t newest = newest_step(model);
    EXPECT_GE(newest, reached) << "kill " << kill << " lost a finished checkpoint";
    if (newest > 0) {
      EXPECT_NO_THROW(base::read_published(model, [](const base::CheckedFolder& top) { top.verify(); }))
          << "kill " << kill;
    }
    span_us = newest > reached ? span_us * 4 / 5 + 1 : span_us * 5 / 4;
    reached = newest;
  }
  ASSERT_GT(reached, 0);
  const int last = static_cast<int>(reached) + 2;
  ASSERT_EQ(run(train(model, last)), 0) << log();
  ASSERT_EQ(run(train(root() / "straight", last)), 0) << log();
  const std::string checkpoint = "checkpoints/step-" + std::to_string(last);
  for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(base::sha256_file(model / checkpoint / name), base::sha256_file(root() / "straight" / checkpoint / name))
        << name << " after " << last << " steps";
  }
}

// The k-th system call of each kind fails for ever: status 74, the path in the message, step 2 and the top still whole.
TEST_F(FilesTrain, FullDiskEndsWithStatus74AndKeepsWhatWasThere) {
  const fs::path model = root() / "model";
  ASSERT_EQ(run(train(model, 2)), 0) << log();
  const fs::path before = root() / "before";
  fs::copy(model, before, fs::copy_options::recursive);
  int failed = 0;
  for (const char* call : {"write", "fsync", "rename"}) {
    for (const int k : {1, 4, 7}) {
      fs::remove_all(model);
      fs::copy(before, model, fs::copy_options::recursive);
      const fs::path fired = root() / "fired";
      fs::remove(fired);
      const int status = run(train(model, 4),
                             {"LD_PRELOAD=" DRAGOMAN_FAIL_IO, "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0",
                              std::string("FAIL_IO_CALL=") + call, "FAIL_IO_AT=" + std::to_string(k), "FAIL_IO_KEEP=1",
                              "FAIL_IO_ERRNO=28", "FAIL_IO_UNDER=" + model.string(), "FAIL_IO_LOG=" + fired.string()});
      SCOPED_TRACE(std::string(call) + " " + std::to_string(k) + ": " + log());
      if (!base::path_exists(fired)) {
        EXPECT_EQ(status, 0);
        continue;
      }
      ++failed;
      EXPECT_EQ(status, kCannotWriteStatus);
      EXPECT_NE(log().find(model.string()), std::string::npos) << "the message names the path";
      EXPECT_TRUE(base::is_valid_folder(model / "checkpoints/step-2"));
      EXPECT_EQ(run({"inspect", "--verify", "--model", model}), 0) << log();
    }
  }
  EXPECT_GE(failed, 7);
  EXPECT_EQ(run(train(model, 4)), 0) << "goes on once there is space: " << log();
}

TEST_F(FilesTrain, SecondRunInTheSameFolderIsRefused) {
  const fs::path model = root() / "model";
  const pid_t first = start(train(model, 100000), root() / "first.log");
  wait_until_writing(model, 0);
  EXPECT_EQ(run(train(model, 100000)), 1);
  EXPECT_NE(log().find("in use by process " + std::to_string(first)), std::string::npos) << log();
  ::kill(first, SIGTERM);
  EXPECT_EQ(wait_for(first), 143) << "finishes the step, saves and ends";
  EXPECT_GT(newest_step(model), 0);
}

}  // namespace
}  // namespace dragoman
