// 100,000 lines of whatever text there is come out as 100,000 lines in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/program.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

constexpr size_t kLines = 100000;

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

// Blank ones, emoji, bytes that are no text, carriage returns, zeros, and twice a line of 100,000 words.
std::string line_of(size_t number) {
  if (number == 20000 || number == 99999) {
    return repeated("the red cat runs ", 25000);
  }
  switch (number % 10) {
    case 0:
      return "";
    case 1:
      return "  \t ";
    case 2:
      return "the \xF0\x9F\x98\x80\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9 sleeps";
    case 3:
      return "red \xFF\xFE\xC3 mouse \xED\xA0\x80";
    case 4:
      return std::string("the\0 dog\x01\x7F", 11);
    case 5:
      return "the green house\r";
    case 6:
      return "\xE2\x80\xA8\xE2\x80\xA9\xC2\x85 cat";
    default:
      return "the dog and the cat " + std::to_string(number % 97);
  }
}

TEST(ManyLines, ComeOutInOrder) {
  test_support::Program program;
  const auto model = tiny_model(nn::NormOrder::kPre, 1, vocabulary().size());
  models::publish_model_folder(program.folder() / "model",
                               {.config = models::to_json(model->config()),
                                .tensors = models::named_tensors(model->parameters()),
                                .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}}});
  std::string text;
  for (size_t number = 0; number < kLines; ++number) {
    text += line_of(number) + "\n";
  }
  program.write("in", text);
  const std::string flags = "translate --model model --beam-size 1 --max-length-ratio 0 --max-length-extra 4 ";
  const auto outcome = program.run(flags + "--input in --output out");
  ASSERT_EQ(outcome.status, 0) << outcome.err.substr(0, 2000);
  EXPECT_NE(outcome.err.find("in line 20001: "), std::string::npos) << "a line that was split is named";
  const std::string all = program.read("out");
  ASSERT_EQ(static_cast<size_t>(std::ranges::count(all, '\n')), kLines);

  // Kinds of lines repeat, and so do their translations; one of each is translated alone.
  std::vector<std::string> seen;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = all.find('\n', begin);
    seen.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  for (size_t kind = 0; kind < 10; ++kind) {
    program.write("one", line_of(kind) + "\n");
    const std::string alone = program.run(flags + "--input one").out;
    for (size_t number = kind; number < kLines; number += 970) {
      ASSERT_EQ(seen[number] + "\n", alone) << "line " << number + 1 << ", " << line_of(number);
    }
    if (kind < 2) {
      EXPECT_EQ(alone, "\n") << "a blank line";
    }
  }
}

}  // namespace
}  // namespace dragoman::decoding
