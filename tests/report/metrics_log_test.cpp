#include "report/metrics_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::report {
namespace {

using testing::HasSubstr;

class MetricsLogTest : public testing::Test {
 protected:
  std::string text() const { return base::read_file(path_); }
  void add_raw(const std::string& bytes) { std::ofstream(path_, std::ios::app | std::ios::binary) << bytes; }

  test_support::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "metrics.jsonl";
};

/// The rows that a run writes from step `first` to step `last`.
void write_run(MetricsLog& log, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) {
    const auto x = static_cast<double>(step);
    log.append(TrainRow{step, x / 8, 9.0 / x, 1e-4 * x, 4000, 1.5, x, step % 2 == 0 ? x / 3 : kNotMeasured});
    if (step % 5 == 0) {
      log.append(ValidationRow{step, x / 8, 8.0 / x, std::exp(8.0 / x), x, 2 * x, true, x});
      log.append(CheckpointRow{step, "checkpoints/step-" + std::to_string(step), x});
    }
  }
}

TEST_F(MetricsLogTest, ReadsBackWhatItWrote) {
  {
    MetricsLog log(path_, 0);
    write_run(log, 1, 10);
    log.append(EventRow{10, "finish", "done \"well\"\n\u00fc", 3.5});
    log.append(MemoryRow{10, 8192, 3, {{"weights", uint64_t{5} << 40}, {"peak", 7}}, 4.5});
  }
  const MetricsHistory history = read_metrics(path_);
  ASSERT_EQ(history.train.size(), 10U);
  EXPECT_EQ(history.train[2].step, 3);
  EXPECT_EQ(history.train[2].loss, 3.0) << "doubles survive the text exactly";
  EXPECT_EQ(history.train[6].learning_rate, 1e-4 * 7);
  EXPECT_EQ(history.train[5].kl, 6.0 / 3);
  EXPECT_TRUE(std::isnan(history.train[6].kl));
  ASSERT_EQ(history.validation.size(), 2U);
  EXPECT_EQ(history.validation[1].chrf, 20.0);
  EXPECT_TRUE(history.validation[1].is_best);
  ASSERT_EQ(history.checkpoints.size(), 2U);
  EXPECT_EQ(history.checkpoints[0].folder, "checkpoints/step-5");
  ASSERT_EQ(history.events.size(), 1U);
  EXPECT_EQ(history.events[0].text, "done \"well\"\n\u00fc");
  ASSERT_EQ(history.memory.size(), 1U);
  EXPECT_EQ(history.memory[0].batch_tokens, 8192);
  EXPECT_EQ(history.memory[0].accumulate, 3);
  EXPECT_EQ(std::map(history.memory[0].bytes.begin(), history.memory[0].bytes.end()),
            (std::map<std::string, uint64_t>{{"weights", uint64_t{5} << 40}, {"peak", 7}}));
  EXPECT_EQ(history.memory[0].seconds, 4.5);
  EXPECT_EQ(history.damaged_lines, 0);
}

TEST_F(MetricsLogTest, EveryLineIsAJsonObjectWithKindAndStep) {
  MetricsLog log(path_, 0);
  write_run(log, 1, 5);
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_TRUE(row.at("kind").is_string()) << line;
    EXPECT_TRUE(row.at("step").is_number_integer()) << line;
  }
}

TEST_F(MetricsLogTest, NumbersThatAreNotFiniteBecomeNullAndNan) {
  MetricsLog log(path_, 0);
  log.append(TrainRow{1, 0, kNotMeasured, std::numeric_limits<double>::infinity(), 1, 1, 1});
  EXPECT_THAT(text(), HasSubstr("\"loss\":null,\"learning_rate\":null"));
  EXPECT_TRUE(std::isnan(read_metrics(path_).train.at(0).loss));
}

TEST_F(MetricsLogTest, TextThatIsNotUtf8IsRepaired) {
  MetricsLog log(path_, 0);
  log.append(EventRow{1, "warning", "bad \xff byte", 0});
  EXPECT_EQ(read_metrics(path_).events.at(0).text, "bad \uFFFD byte");
}

TEST_F(MetricsLogTest, AResumedRunReadsAsOneThatNeverStopped) {
  {
    MetricsLog log(path_, 0);
    write_run(log, 1, 20);
  }
  const std::string never_stopped = text();
  for (const int64_t resume_step : {0, 1, 5, 19, 20}) {
    std::filesystem::remove(path_);
    {
      MetricsLog log(path_, 0);
      write_run(log, 1, 20);
    }
    MetricsLog log(path_, resume_step);
    write_run(log, resume_step + 1, 20);
    EXPECT_EQ(text(), never_stopped) << "resumed after step " << resume_step;
  }
}

TEST_F(MetricsLogTest, ATornLastLineIsDroppedAtEveryCut) {
  {
    MetricsLog log(path_, 0);
    write_run(log, 1, 2);
  }
  const std::string whole = text();
  const size_t first_line = whole.find('\n') + 1;
  for (size_t cut = first_line; cut < whole.size(); ++cut) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, cut);
    EXPECT_EQ(read_metrics(path_).train.size(), 1U) << "cut at byte " << cut;
    EXPECT_EQ(read_metrics(path_).damaged_lines, cut == first_line ? 0 : 1) << "cut at byte " << cut;
    MetricsLog log(path_, 1);
    write_run(log, 2, 2);
    EXPECT_EQ(text(), whole) << "cut at byte " << cut;
  }
}

TEST_F(MetricsLogTest, LinesOfNoKnownKindAreLeftOutAndCounted) {
  {
    MetricsLog log(path_, 0);
    write_run(log, 1, 1);
  }
  add_raw("\n[1]\n{\"kind\":\"train\"}\n{\"kind\":\"other\",\"step\":1}\n{\"kind\":7,\"step\":1}\nnull\n{{{\n");
  EXPECT_EQ(read_metrics(path_).damaged_lines, 7);
  EXPECT_EQ(read_metrics(path_).train.size(), 1U);
  const MetricsLog log(path_, 1);
  EXPECT_EQ(read_metrics(path_).damaged_lines, 0);
}

TEST_F(MetricsLogTest, AMissingFileIsAnEmptyHistory) {
  EXPECT_TRUE(read_metrics(path_).train.empty());
}

TEST_F(MetricsLogTest, EachLineIsInTheFileBeforeAppendReturns) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    MetricsLog log(path_, 0);
    write_run(log, 1, 4);
    [[maybe_unused]] const ssize_t sent = write(ready[1], "x", 1);
    pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(read_metrics(path_).train.size(), 4U);
}

TEST_F(MetricsLogTest, AFullDiskIsAnErrorThatNamesTheFile) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  AppendFile full("/dev/full");
  test_support::expect_error(base::ErrorKind::kCannotWrite, {"/dev/full: cannot write: No space left"},
                             [&] { full.append("line\n"); });
}

TEST_F(MetricsLogTest, AFolderThatIsMissingIsAnErrorThatNamesTheFile) {
  test_support::expect_error(base::ErrorKind::kCannotWrite, {"metrics.jsonl: cannot open for appending: No such file"},
                             [&] { MetricsLog log(folder_.path() / "none" / "metrics.jsonl", 0); });
}

}  // namespace
}  // namespace dragoman::report
