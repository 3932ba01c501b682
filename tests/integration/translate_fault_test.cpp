// `dragoman translate` when memory is refused: the k-th time, for k = 1, 2, 3, ... until no fault fires.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

std::string line_of(int number) {
  return fmt::format("the cat runs and the dog sleeps and the mouse runs {}", number);
}

// GetParam(): the memory is refused from then on, not once.
class TranslateFault : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OnceOrForEver, TranslateFault, testing::Bool(),
                         [](const auto& parameter) { return std::string(parameter.param ? "ForEver" : "Once"); });

TEST_P(TranslateFault, RefusedMemoryFailsItsLinesAlone) {
  constexpr int kLines = 600;
  const test_support::Program program;
  test_support::write_tiny_model(program.folder() / "model");
  std::string text;
  for (int number = 0; number < kLines; ++number) {
    text += line_of(number) + "\n";
  }
  program.write("in", text);
  const std::string words =
      "translate --model model --input in --output out --workers 2 --batch-tokens 8000 --min-length 8";
  ASSERT_EQ(program.run(words).status, 0);
  const std::vector<std::string> expected = base::split_lines(program.read("out"));
  ASSERT_EQ(expected.size(), static_cast<size_t>(kLines));

  int k = 0, runs_that_failed = 0, runs_that_lost_nothing = 0, lines_that_failed = 0;
  for (bool fired = true; fired; ++k) {
    ASSERT_LT(k, 1000);
    std::filesystem::remove(program.folder() / "out");
    const std::string log = fmt::format("fired{}", k);
    const test_support::Outcome outcome = program.run(
        words, fmt::format("LD_PRELOAD='{}' ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 FAIL_IO_CALL=mmap "
                           "FAIL_IO_ERRNO=12 FAIL_IO_AT={} FAIL_IO_KEEP={} FAIL_IO_LOG='{}'",
                           DRAGOMAN_FAIL_IO, k + 1, GetParam() ? 1 : 0, log));
    fired = std::filesystem::exists(program.folder() / log);
    if (!std::filesystem::exists(program.folder() / "out")) {
      EXPECT_TRUE(fired) << k << ": " << outcome.err;
      EXPECT_THAT(outcome.status, testing::AnyOf(1, 3)) << k << ": " << outcome.err;
      ++runs_that_failed;
      continue;
    }
    const std::vector<std::string> lines = base::split_lines(program.read("out"));
    ASSERT_EQ(lines.size(), expected.size()) << k;
    int failed = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool named = outcome.err.find(fmt::format("in line {} is not translated: ", i + 1)) != std::string::npos;
      EXPECT_EQ(lines[i], named ? "" : expected[i]) << k << ": line " << i + 1;
      failed += named ? 1 : 0;
    }
    EXPECT_EQ(outcome.status, failed > 0 ? 1 : 0) << k << ": " << outcome.err;
    EXPECT_TRUE(fired || failed == 0) << k;
    lines_that_failed += failed;
    runs_that_lost_nothing += fired && failed == 0 ? 1 : 0;
  }
  EXPECT_GT(runs_that_failed, 0) << "a model that cannot be read";
  if (GetParam()) {
    EXPECT_GT(lines_that_failed, 0) << "no fault hit a line in " << k << " trials";
  } else {
    EXPECT_GT(runs_that_lost_nothing, 0) << "lines that the encoder refused together were not tried alone";
  }
}

}  // namespace
}  // namespace dragoman
