#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/checked_folder.h"
#include "base/random.h"
#include "base/sha256.h"
#include "report/metrics_log.h"
#include "support/background_program.h"
#include "support/program.h"
#include "training/checkpoint.h"

namespace dragoman::test_support {

/// Pairs of different digit strings and their reverse: "3 1 4" and "4 1 3", one a line.
struct DigitTexts {
  std::string source;
  std::string target;
};

/// @param seen  strings that must not come again; grows by those made
inline DigitTexts reversed_digits(int pairs, int max_digits, base::Random& random, std::set<std::string>& seen) {
  DigitTexts texts;
  for (int made = 0; made < pairs;) {
    std::string digits;
    for (uint64_t left = 3 + random.below(static_cast<uint64_t>(max_digits) - 2); left > 0; --left) {
      digits += (digits.empty() ? "" : " ") + std::to_string(random.below(10));
    }
    if (seen.insert(digits).second) {
      texts.source += digits + "\n";
      texts.target += std::string(digits.rbegin(), digits.rend()) + "\n";
      ++made;
    }
  }
  return texts;
}

/// Runs of `dragoman train` on a small text with a model of some ten thousand weights, in a folder of their own.
class TrainingRuns : public testing::Test {
 protected:
  // Hundreds of checkpoints with some twenty fsyncs each: memory answers them at once.
  static void SetUpTestSuite() {
    if (std::filesystem::is_directory("/dev/shm")) {
      ::setenv("TMPDIR", "/dev/shm", 0);
    }
  }

  TrainingRuns() {
    base::Random random(17);
    std::set<std::string> seen;
    const DigitTexts train = reversed_digits(300, 8, random, seen), valid = reversed_digits(8, 8, random, seen);
    program_.write("train.source", train.source);
    program_.write("train.target", train.target);
    program_.write("valid.source", valid.source);
    program_.write("valid.target", valid.target);
  }

  /// The command as words; an option in `changes` replaces or follows the ones here.
  static std::vector<std::string> command(const std::string& model, int64_t steps,
                                          const std::map<std::string, std::string>& changes = {}) {
    std::map<std::string, std::string> options = {{"model", model},
                                                  {"max-steps", std::to_string(steps)},
                                                  {"source", "train.source"},
                                                  {"target", "train.target"},
                                                  {"vocab-size", "20"},
                                                  {"encoder-layers", "1"},
                                                  {"decoder-layers", "1"},
                                                  {"d-model", "32"},
                                                  {"d-ff", "64"},
                                                  {"n-heads", "2"},
                                                  {"validate-every", "1"},
                                                  {"log-every", "1"},
                                                  {"workers", "1"},
                                                  {"average", "0"},
                                                  {"keep-last", "2"},
                                                  {"batch-tokens", "300"},
                                                  {"schedule", "constant"},
                                                  {"warmup-steps", "1"},
                                                  {"learning-rate", "1e-3"},
                                                  {"patience", "0"},
                                                  {"window-sentences", "64"}};
    for (const auto& [name, value] : changes) {
      options[name] = value;
    }
    std::vector<std::string> words = {"train"};
    for (const auto& [name, value] : options) {
      words.insert(words.end(), {"--" + name, value});
    }
    return words;
  }

  std::filesystem::path path(const std::string& name) const { return program_.folder() / name; }

  /// Runs the command to its end and expects success.
  void train(const std::vector<std::string>& words) const {
    BackgroundProgram run(program_.folder(), words);
    ASSERT_EQ(run.wait(), 0) << run.errors();
  }

  /// Step of the newest whole checkpoint; 0 = none.
  int64_t newest_step(const std::string& model) const {
    const auto newest = base::newest_valid_folder(path(model) / "checkpoints", "step-");
    return newest ? newest->number : 0;
  }

  /// Loss of each row of metrics.jsonl, as hexadecimal floats.
  std::vector<std::string> losses(const std::string& model) const {
    std::vector<std::string> texts;
    for (const report::TrainRow& row : report::read_metrics(path(model) / "metrics.jsonl").train) {
      texts.push_back(fmt::format("{}: {:a}", row.step, row.loss));
    }
    return texts;
  }

  /// Every bit of the last checkpoint, of the model at the top and of the losses must be the same.
  void expect_same_run(const std::string& seen, const std::string& expected, int64_t step) const {
    EXPECT_EQ(losses(seen), losses(expected));
    const std::filesystem::path last = training::checkpoint_folder("", step);
    for (const auto& file :
         {last / "model.safetensors", last / "optimizer.safetensors", std::filesystem::path("model.safetensors")}) {
      EXPECT_EQ(base::sha256_file(path(seen) / file), base::sha256_file(path(expected) / file)) << file;
    }
  }

  /// Folders and files that a killed writer left under a name of its own.
  std::vector<std::string> leftovers(const std::string& model) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(model))) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".tmp") || name.ends_with(".replaced") || name == ".next") {
        found.push_back(name);
      }
    }
    return found;
  }

  Program program_;
};

}  // namespace dragoman::test_support
