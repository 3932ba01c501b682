#include "data/text/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/utf8.h"
#include "data_test_support.h"
#include "support/compressed.h"
#include "support/corpora.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;

std::vector<std::string> lines_by_reader(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> lines_by_index(const std::filesystem::path& path) {
  const LineIndex index(path);
  std::vector<std::string> lines;
  for (uint64_t line = 0; line < index.size(); ++line) {
    lines.push_back(index.read(line).text);
  }
  return lines;
}

TEST(TextFile, OnlyLineFeedEndsALineAndOddCharactersStayInside) {
  const TemporaryFolder folder;
  using std::string_literals::operator""s;
  const std::string odd =
      "a\0b\r\nc\xC2\x85"
      "d\xE2\x80\xA8"
      "e\xE2\x80\xA9\v\f\n\nbad\xFF\xC3\n\r\r\nlast"s;
  const auto path = folder.write("odd.txt", odd);
  const std::vector<std::string> expected = {"a b",
                                             "c\xC2\x85"
                                             "d\xE2\x80\xA8"
                                             "e\xE2\x80\xA9\v\f",
                                             "",
                                             "bad\xEF\xBF\xBD\xEF\xBF\xBD",
                                             "\r",
                                             "last"};
  EXPECT_EQ(lines_by_reader(path), expected);
  EXPECT_EQ(lines_by_index(path), expected);
  EXPECT_EQ(read_lines(path), expected);
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
  }
  EXPECT_EQ(reader.lines_read(), 6u);
  EXPECT_EQ(reader.lines_repaired(), 2u);
}

TEST(TextFile, ReaderAndIndexAgreeOnRandomBytes) {
  const TemporaryFolder folder;
  base::Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    std::string bytes(1 + random.below(300), '\0');
    for (char& byte : bytes) {
      byte = "\n\n\r a\xC3\xA4\xFF\0z"[random.below(10)];
    }
    const auto path = folder.write("random.txt", bytes);
    const auto lines = lines_by_reader(path);
    ASSERT_EQ(lines, lines_by_index(path)) << testing::PrintToString(bytes);
    const auto feeds = static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    ASSERT_EQ(lines.size(), feeds + (bytes.back() == '\n' ? 0 : 1)) << testing::PrintToString(bytes);
  }
}

TEST(TextFile, LinesAcrossBufferEndsAreWhole) {
  const TemporaryFolder folder;
  std::string text;
  std::vector<std::string> expected;
  for (const size_t length : {(size_t{1} << 20) - 1, size_t{1} << 20, size_t{3} << 20, size_t{0}, size_t{5}}) {
    expected.emplace_back(length, static_cast<char>('a' + expected.size()));
    text += expected.back() + "\n";
  }
  const auto path = folder.write("long.txt", text);
  EXPECT_TRUE(lines_by_reader(path) == expected);
  EXPECT_TRUE(lines_by_index(path) == expected);
}

TEST(TextFile, RefusesWhatIsNotAReadableText) {
  const TemporaryFolder folder;
  const auto refusal = [](const std::filesystem::path& path) {
    return error_of(ErrorKind::kBadData, [&] { LineIndex index(path); });
  };
  EXPECT_THAT(refusal(folder.path()), testing::HasSubstr("is a directory"));
  EXPECT_THAT(refusal(folder.path() / "none.txt"), testing::HasSubstr("none.txt: cannot open"));
  EXPECT_THAT(refusal(folder.write("empty.txt", "")), testing::HasSubstr("empty.txt: is empty"));
  EXPECT_THAT(refusal("/dev/null"), testing::HasSubstr("not a regular file"));
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);  // nobody writes to it: it must not be waited for
  EXPECT_THAT(refusal(folder.path() / "pipe"), testing::HasSubstr("not a regular file"));
  EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { LineReader reader(folder.path()); }),
              testing::HasSubstr("is a directory"));
  if (geteuid() != 0) {
    const auto secret = folder.write("secret.txt", "x\n");
    std::filesystem::permissions(secret, std::filesystem::perms::none);
    EXPECT_THAT(refusal(secret), testing::HasSubstr("Permission denied"));
  }
}

TEST(TextFile, CompressedFilesHaveTheLinesOfTheirText) {
  const TemporaryFolder folder;
  base::Random random(5);
  std::string text = "\xEF\xBB\xBF";
  for (int line = 0; line < 20'000; ++line) {
    text += std::string(random.below(300), static_cast<char>('a' + line % 26)) + "\n";
  }
  text += "the last \xFF line";
  const auto plain = folder.write("plain", text);
  const std::vector<std::string> expected = lines_by_reader(plain);
  ASSERT_EQ(expected.size(), 20'001U);
  EXPECT_FALSE(expected.front().starts_with('\xEF'));
  EXPECT_TRUE(lines_by_index(plain) == expected);
  EXPECT_EQ(LineIndex(plain).sha256(), base::sha256_hex(text.substr(3)));
  for (const auto& [ending, compress] : test_support::compressors()) {
    const auto path = folder.write("packed", compress(text));
    EXPECT_TRUE(lines_by_reader(path) == expected) << ending;
    EXPECT_TRUE(lines_by_index(path) == expected) << ending;
    EXPECT_TRUE(read_lines(path) == expected) << ending;
    EXPECT_EQ(count_lines(path), expected.size()) << ending;
    EXPECT_EQ(LineIndex(path).sha256(), LineIndex(plain).sha256()) << ending << ": the text counts, not its form";
    EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { LineIndex index(folder.write("none", compress(""))); }),
                testing::HasSubstr("none: is empty"));
    EXPECT_THAT(
        error_of(ErrorKind::kBadData, [&] { LineIndex index(folder.write("cut", compress(text).substr(0, 1000))); }),
        testing::HasSubstr("cut: ends in the middle"));
  }
}

TEST(TextFile, RepairedLinesAreCountedAndTheFirstIsNamed) {
  const TemporaryFolder folder;
  std::string repairs = "before";
  EXPECT_EQ(read_lines(folder.write("good", "one\ntwo\n"), &repairs).size(), 2U);
  EXPECT_EQ(repairs, "");
  const auto bad = folder.write("bad", "one\ncaf\xE9\nthree\n\xFF\n");
  EXPECT_EQ(read_lines(bad, &repairs).size(), 4U);
  EXPECT_EQ(repairs, bad.string() + ": 2 lines held invalid UTF-8 or NUL and were repaired (first: line 2)");
}

TEST(TextFile, AFileThatShrinksIsAnError) {
  const TemporaryFolder folder;
  const auto path = folder.write("shrinks.txt", "one\ntwo\nthree\n");
  const LineIndex index(path);
  std::filesystem::resize_file(path, 6);
  EXPECT_EQ(index.read(0).text, "one");
  EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { static_cast<void>(index.read(2)); }), testing::HasSubstr("shrank"));
}

TEST(TextFile, PipesHandOutEachLineAtOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  LineReader reader(ends[0], "pipe");
  std::string line;
  ASSERT_EQ(write(ends[1], "one\ntw", 6), 6);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "one");
  ASSERT_EQ(write(ends[1], "o", 1), 1);
  close(ends[1]);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(fcntl(ends[0], F_GETFD), 0) << "the descriptor must stay open";
  close(ends[0]);
}

TEST(TextFile, CountsLinesOfRealTextAsWcDoes) {
  const std::string name = "wmt-news-en-de/newstest2009.de";
  if (const std::string missing = test_support::missing_corpora({name}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const auto path = test_support::corpus_file(name);
  FILE* const counter = popen(("wc -l < " + path.string()).c_str(), "r");
  unsigned long expected = 0;
  ASSERT_EQ(fscanf(counter, "%lu", &expected), 1);
  pclose(counter);
  EXPECT_EQ(LineIndex(path).size(), expected);
  EXPECT_EQ(read_lines(path).size(), expected);
}

}  // namespace
}  // namespace dragoman::data
