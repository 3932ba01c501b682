#include "base/text_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/random.h"
#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::base {
namespace {

using std::string_literals::operator""s;
using test_support::compressors;

class TextInputTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return folder_.path() / name;
  }
  std::string read(const std::string& bytes, ByteOrderMark mark = ByteOrderMark::kSkip) const {
    return read_text_file(write("text", bytes), mark);
  }
  std::string refusal(const std::string& bytes) const {
    return test_support::expect_error(ErrorKind::kBadData, {"text: "}, [&] { read(bytes); });
  }

  test_support::TemporaryFolder folder_;
};

std::string random_text(size_t size, base::Random& random) {
  std::string text(size, '\0');
  for (char& byte : text) {
    byte = "abcdefgh \n"[random.below(10)];
  }
  return text;
}

TEST_F(TextInputTest, CompressedTextIsReadAsTheTextItIs) {
  base::Random random(1);
  for (const auto& [ending, compress] : compressors()) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}, size_t{3'000'000}}) {
      const std::string text = random_text(size, random);
      EXPECT_TRUE(read(compress(text)) == text) << ending << ", " << size << " bytes";
    }
    const std::string first = random_text(1000, random), second = random_text(2'000'000, random);
    EXPECT_TRUE(read(compress(first) + compress(second)) == first + second) << ending << ": one behind the other";
  }
}

TEST_F(TextInputTest, BuffersOfAnySizeGetTheSameBytes) {
  base::Random random(2);
  const std::string text = random_text(10'000, random);
  for (const auto& [ending, compress] : compressors()) {
    const auto path = write("text", compress(text));
    TextInput input(open_text(path), path.string());
    std::string seen;
    for (std::string buffer(1, '\0');; buffer.resize(1 + random.below(700))) {
      const size_t got = input.read(buffer);
      if (got == 0) {
        break;
      }
      seen.append(buffer, 0, got);
    }
    EXPECT_TRUE(seen == text) << ending;
    EXPECT_TRUE(input.is_compressed());
  }
}

TEST_F(TextInputTest, WhatIsCutOffIsAnError) {
  base::Random random(3);
  for (const auto& [ending, compress] : compressors()) {
    const std::string packed = compress(random_text(300, random));
    for (size_t size = 6; size < packed.size(); ++size) {
      EXPECT_THAT(refusal(packed.substr(0, size)), testing::HasSubstr("ends in the middle")) << ending << " " << size;
    }
  }
}

TEST_F(TextInputTest, WhatIsDamagedIsNeverAnotherText) {
  base::Random random(4);
  for (const auto& [ending, compress] : compressors()) {
    const std::string text = random_text(300, random), packed = compress(text);
    int refused = 0;
    for (size_t at = 6; at < packed.size(); ++at) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      try {
        EXPECT_TRUE(read(damaged) == text) << ending << ", byte " << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
        EXPECT_THAT(error.what(), testing::HasSubstr("take the file from a copy"));
        ++refused;
      }
    }
    EXPECT_GT(refused, static_cast<int>(packed.size()) * 8 / 10) << ending;
    EXPECT_THAT(refusal(packed + "what is this"), testing::HasSubstr("damaged")) << ending;
  }
}

TEST_F(TextInputTest, AByteOrderMarkIsNoText) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(read(mark + "cat\n"), "cat\n");
  EXPECT_EQ(read(mark), "");
  EXPECT_EQ(read(mark + mark + "cat"), mark + "cat") << "the second is a character";
  EXPECT_EQ(read("cat" + mark), "cat" + mark);
  EXPECT_EQ(read("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(read(mark + "cat\n", ByteOrderMark::kKeep), mark + "cat\n");
  for (const auto& [ending, compress] : compressors()) {
    EXPECT_EQ(read(compress(mark + "cat\n")), "cat\n") << ending;
  }
}

TEST_F(TextInputTest, OtherEncodingsAreRefusedWithTheRemedy) {
  for (const auto& [bytes, name] : {std::pair{"\xFF\xFE"s, "UTF-16"},
                                    std::pair{"\xFF\xFE"
                                              "c\0"s,
                                              "UTF-16"},
                                    std::pair{"\xFE\xFF\0c"s, "UTF-16"}, std::pair{"\xFF\xFE\0\0c\0\0\0"s, "UTF-32"},
                                    std::pair{"\0\0\xFE\xFF\0\0\0c"s, "UTF-32"}}) {
    const std::string remedy = "iconv -f " + std::string(name) + " -t UTF-8";
    EXPECT_THAT(refusal(bytes), testing::HasSubstr(remedy));
    EXPECT_THAT(refusal(test_support::gzip(bytes)), testing::HasSubstr(remedy));
  }
  EXPECT_EQ(read("\xFF"), "\xFF") << "what a text of one wrong byte becomes is decided elsewhere";
  EXPECT_EQ(read("\0\0"s), "\0\0"s);
}

TEST_F(TextInputTest, ALineOfAPipeIsNotHeldBack) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  TextInput input{FileDescriptor(ends[0]), "pipe"};
  EXPECT_FALSE(input.ready());
  std::string buffer(100, '\0');
  for (const std::string& line : {"(\n"s, "\n"s, "\xEF\n"s}) {
    ASSERT_EQ(::write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    EXPECT_TRUE(input.ready());
    EXPECT_EQ(buffer.substr(0, input.read(buffer)), line);
  }
  ::close(ends[1]);
  EXPECT_EQ(input.read(buffer), 0U);
}

}  // namespace
}  // namespace dragoman::base
