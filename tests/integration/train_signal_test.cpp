#include <gtest/gtest.h>

#include "support/training_runs.h"

namespace dragoman {
namespace {

using test_support::BackgroundProgram;
using test_support::wait_until;

constexpr int kInterrupted = 130, kTerminated = 143;

class TrainSignal : public test_support::TrainingRuns {
 protected:
  /// Validations, a moving average, an average at the end, rows over several steps: all that a stop could disturb.
  static std::vector<std::string> run_command(const std::string& model) {
    return command(model, 120,
                   {{"valid-source", "valid.source"},
                    {"valid-target", "valid.target"},
                    {"validate-every", "8"},
                    {"metric", "loss"},
                    {"log-every", "5"},
                    {"average", "3"},
                    {"keep-last", "3"},
                    {"ema-decay", "0.9"},
                    {"subword-sampling", "0.2"},
                    {"accumulate", "2"}});
  }

  /// True when it has said what it will train: the updates begin then.
  static bool is_ready(const BackgroundProgram& run) { return run.errors().find("model: ") != std::string::npos; }

  int64_t last_logged_step(const std::string& model) const {
    const auto rows = report::read_metrics(path(model) / "metrics.jsonl").train;
    return rows.empty() ? 0 : rows.back().step;
  }
};

TEST_F(TrainSignal, StoppedAtAnyMomentAndResumedIsTheRunNeverStopped) {
  train(run_command("straight"));
  base::Random random(99);
  int stops = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const int signal = attempt % 2 == 0 ? SIGINT : SIGTERM;
    BackgroundProgram run(program_.folder(), run_command("stopped"));
    ASSERT_TRUE(wait_until([&] { return is_ready(run) || run.has_ended(); })) << run.errors();
    // A random moment of its work, so no condition to wait for.
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(150'000)));
    run.send(signal);
    const int status = run.wait();
    if (status == 0) {
      break;  // it was through before the signal came
    }
    ++stops;
    ASSERT_EQ(status, signal == SIGINT ? kInterrupted : kTerminated) << run.errors();
    EXPECT_GE(newest_step("stopped"), last_logged_step("stopped"));
    EXPECT_NE(run.errors().find("run the same command to go on"), std::string::npos) << run.errors();
    EXPECT_EQ(leftovers("stopped"), std::vector<std::string>());
  }
  EXPECT_GE(stops, 3) << "too few signals came in time for this test to show anything";
  train(run_command("stopped"));
  expect_same_run("stopped", "straight", 120);
}

TEST_F(TrainSignal, ASignalIsHeededWithinOneStep) {
  for (const int signal : {SIGINT, SIGTERM}) {
    BackgroundProgram run(program_.folder(), command("model", 1'000'000, {{"validate-every", "1000000"}}));
    const int64_t before = newest_step("model");
    ASSERT_TRUE(wait_until([&] { return last_logged_step("model") > before + 3; })) << run.errors();
    run.send(SIGSTOP);  // so that no step passes between looking and sending
    const int64_t step = last_logged_step("model");
    run.send(signal);
    run.send(SIGCONT);
    EXPECT_EQ(run.wait(), 128 + signal) << run.errors();
    EXPECT_GE(newest_step("model"), step);
    EXPECT_LE(newest_step("model"), step + 1);
  }
}

TEST_F(TrainSignal, ASecondSignalEndsAtOnce) {
  for (int pause = 50;; pause *= 2) {
    // One update of a hundred thousand batches: minutes.
    BackgroundProgram run(program_.folder(), command("model", 10, {{"accumulate", "4096"}, {"batch-tokens", "3000"}}));
    ASSERT_TRUE(wait_until([&] { return is_ready(run); })) << run.errors();
    const auto begun = run.processor_time() + std::chrono::milliseconds(pause);
    ASSERT_TRUE(wait_until([&] { return run.processor_time() > begun; })) << run.errors();
    run.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // in which nothing must happen
    if (run.has_ended() && pause < 2000) {
      continue;  // perhaps the update had not begun
    }
    EXPECT_FALSE(run.has_ended()) << "the first signal waits for the step";
    const auto start = std::chrono::steady_clock::now();
    run.send(SIGTERM);
    EXPECT_EQ(run.wait(), kTerminated);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(newest_step("model"), 0) << "a half update was saved";
    return;
  }
}

/// Lines of random words: a sub-word model takes long to learn from them.
std::string random_words(int lines, uint64_t seed) {
  base::Random random(seed);
  std::string text;
  for (int line = 0; line < lines; ++line) {
    for (int letter = 0; letter < 60; ++letter) {
      text += letter % 7 == 6 ? ' ' : static_cast<char>('a' + random.below(26));
    }
    text += '\n';
  }
  return text;
}

TEST_F(TrainSignal, BeforeTheFirstUpdateASignalEndsAtOnceAndLeavesNothing) {
  program_.write("long.source", random_words(40'000, 1));
  program_.write("long.target", random_words(40'000, 2));
  const auto words =
      command("model", 1'000'000, {{"source", "long.source"}, {"target", "long.target"}, {"vocab-size", "8000"}});
  // Of processor time, from reading the text to learning the vocabulary.
  for (const int milliseconds : {0, 100, 300, 1000}) {
    const int signal = milliseconds % 200 == 0 ? SIGINT : SIGTERM;
    BackgroundProgram run(program_.folder(), words);
    ASSERT_TRUE(wait_until([&] { return run.catches_interrupts(); })) << run.errors();
    ASSERT_TRUE(wait_until([&] { return run.processor_time() >= std::chrono::milliseconds(milliseconds); }));
    EXPECT_FALSE(is_ready(run)) << "the text is too short for this test";
    const auto start = std::chrono::steady_clock::now();
    run.send(signal);
    EXPECT_EQ(run.wait(), 128 + signal);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    EXPECT_TRUE(run.errors().ends_with(
        "dragoman: train: stopped by a signal with no update under way; run the same command to go on\n"))
        << run.errors();
    if (std::filesystem::exists(path("model"))) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path("model"))) {
        EXPECT_EQ(entry.path().filename(), ".lock");
      }
    }
  }
}

}  // namespace
}  // namespace dragoman
