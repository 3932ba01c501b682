// Running text as examples of a language model.
#include "data/text_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <set>

#include "base/error.h"
#include "data/text/documents.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Ids 0, 1, 2 ..., so that a window shows where it lies; two documents.
TokenText counted_text(int32_t size, int32_t border) {
  TokenText text;
  text.ids.resize(static_cast<size_t>(size));
  std::iota(text.ids.begin(), text.ids.end(), 0);
  text.starts = {0, static_cast<uint64_t>(border), static_cast<uint64_t>(size)};
  text.bytes = static_cast<uint64_t>(size);
  return text;
}

std::vector<int32_t> tokens_of(const SentencePair& window) {
  std::vector<int32_t> all = {window.before_target};
  all.insert(all.end(), window.target.begin(), window.target.end());
  all.push_back(window.after_target);
  return all;
}

TEST(TextWindows, AnEpochReadsTheTextOnceInWindowsThatFollowEachOther) {
  const TextWindows windows(counted_text(103, 50), {.length = 10});
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    std::set<int32_t> predicted;
    for (uint64_t index = 0; index < windows.size(); ++index) {
      const std::vector<int32_t> tokens = tokens_of(windows.pair(index, epoch));
      ASSERT_EQ(tokens.size(), 11U);
      for (size_t i = 1; i < tokens.size(); ++i) {
        EXPECT_EQ(tokens[i], tokens[i - 1] + 1);
        EXPECT_TRUE(predicted.insert(tokens[i]).second) << "token " << tokens[i] << " is predicted twice";
      }
    }
    EXPECT_GE(predicted.size(), 103U - 20U);
  }
}

TEST(TextWindows, BordersFallElsewhereInAnotherEpochAndTheSameInEachRun) {
  const TextWindows windows(counted_text(103, 50), {.length = 10}), again(counted_text(103, 50), {.length = 10});
  std::set<int32_t> begins;
  for (uint64_t epoch = 0; epoch < 50; ++epoch) {
    begins.insert(windows.pair(0, epoch).before_target);
    EXPECT_EQ(windows.pair(0, epoch).before_target, again.pair(0, epoch).before_target);
  }
  EXPECT_GT(begins.size(), 8U);
}

TEST(TextWindows, WithinDocumentsNoWindowCrossesABorderAndEveryTokenIsPredicted) {
  const TextWindows windows(counted_text(40, 17), {.length = 10, .across_documents = false});
  std::set<int32_t> predicted;
  for (uint64_t index = 0; index < windows.size(); ++index) {
    const std::vector<int32_t> tokens = tokens_of(windows.pair(index, 0));
    EXPECT_LE(tokens.size(), 11U);
    EXPECT_EQ(tokens[1] < 17, tokens.back() < 17) << "window " << index;
    predicted.insert(tokens.begin() + 1, tokens.end());
  }
  EXPECT_EQ(predicted.size(), 39U);
}

TEST(TextWindows, AWindowLongerThanTheTextIsTheText) {
  const TextWindows windows(counted_text(5, 3), {.length = 100});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_THAT(tokens_of(windows.pair(0, 7)), ElementsAre(0, 1, 2, 3, 4));
}

TEST(TextWindows, SizesAreThoseOfTheWindows) {
  const TextWindows windows(counted_text(40, 17), {.length = 10, .across_documents = false});
  const std::vector<uint32_t> indices = {1, 3, 0};
  const Examples::Window sizes = windows.window(indices, 4);
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(sizes.sizes[i].target_tokens, windows.pair(indices[i], 4).target_tokens());
    EXPECT_EQ(sizes.sizes[i].source_tokens, 0);
  }
}

TEST(TextWindows, ATextOfOneTokenIsRefused) {
  EXPECT_THROW(TextWindows(counted_text(1, 1), {.length = 10}), base::Error);
}

TEST(AllWindows, PredictEachTokenButTheFirstOnce) {
  std::vector<int32_t> predicted;
  for (const Batch& batch : all_windows(counted_text(47, 20), {.length = 10}, 20)) {
    EXPECT_TRUE(batch.source.empty());
    predicted.insert(predicted.end(), batch.target_output.begin(), batch.target_output.end());
  }
  std::ranges::sort(predicted);
  std::vector<int32_t> expected(46);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(predicted, expected);
}

TextOptions cut_at(DocumentKind kind, const std::string& separator = "") {
  TextOptions options;
  options.documents = kind;
  options.document_separator = separator;
  return options;
}

class DocumentsTest : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& content, TextOptions options) {
    const auto file = folder_.path() / "text.txt";
    std::ofstream(file, std::ios::binary) << content;
    return read_documents({file}, options);
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(DocumentsTest, AreWholeFilesByDefault) {
  EXPECT_THAT(read("one\r\ntwo\n\nthree", {}), ElementsAre("one\ntwo\n\nthree"));
}

TEST_F(DocumentsTest, AreCutAtBlankLinesLinesOrASeparator) {
  const std::string content = "\none\ntwo\n\n \t\nthree\n";
  EXPECT_THAT(read(content, cut_at(DocumentKind::kBlankLine)), ElementsAre("one\ntwo\n", "three\n"));
  EXPECT_THAT(read(content, cut_at(DocumentKind::kLine)), ElementsAre("one\n", "two\n", "three\n"));
  EXPECT_THAT(read("a\n%\nb\n%\n%\n", cut_at(DocumentKind::kSeparator, "%")), ElementsAre("a\n", "b\n"));
}

TEST_F(DocumentsTest, InvalidBytesAreRepairedAndNoTextIsRefused) {
  EXPECT_THAT(read("a\xff", {}), ElementsAre("a\xEF\xBF\xBD"));
  EXPECT_THROW(read("", {}), base::Error);
  EXPECT_THROW(read("\n\n", cut_at(DocumentKind::kBlankLine)), base::Error);
  EXPECT_THROW(read("a", cut_at(DocumentKind::kSeparator)), base::Error);
}

TEST(Divide, CutsAtACharacterOfTheWholeText) {
  const DividedText divided = divide({"ab\xC3\xA4"
                                      "d",
                                      "efghij"},
                                     0.3);
  EXPECT_THAT(divided.training, ElementsAre("ab\xC3\xA4"
                                            "d",
                                            "efg"));
  EXPECT_THAT(divided.validation, ElementsAre("hij"));
  EXPECT_THROW(divide({"a"}, 0.5), base::Error);
}

TEST(EncodeDocuments, EndOfTextStandsBeforeBetweenAndBehind) {
  const Vocabulary vocabulary = character_tokenizer("ab", {.with_end_of_text = true});
  const TokenText text = encode_documents({"ab", "b"}, vocabulary, 2);
  EXPECT_THAT(text.ids, ElementsAre(2, 0, 1, 2, 1, 2));
  EXPECT_THAT(text.starts, ElementsAre(1, 4, 6));
  EXPECT_EQ(text.bytes, 3U);
  const TokenText plain = encode_documents({"ab", "b"}, character_tokenizer("ab"), 1);
  EXPECT_THAT(plain.ids, ElementsAre(0, 1, 1));
}

// As the tokenizer of Llama 3, which puts bos before each text.
TEST(EncodeDocuments, BosStandsBeforeEachDocumentWhereTheTokenizerPutsIt) {
  const Vocabulary vocabulary = Vocabulary::from_bytes(
      R"({"added_tokens":[{"id":2,"content":"<s>","special":true},{"id":3,"content":"</s>","special":true}],)"
      R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},)"
      R"({"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[2],"tokens":["<s>"]}}},)"
      R"("decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})",
      "tokenizer.json");
  const TokenText text = encode_documents({"ab", "b"}, vocabulary, 2);
  EXPECT_THAT(text.ids, ElementsAre(2, 0, 1, 3, 2, 1, 3));
  EXPECT_THAT(text.starts, ElementsAre(0, 4, 7));
  EXPECT_TRUE(text.has_bos);
  // Within documents bos is read and never predicted.
  const TextWindows windows(text, {.length = 8, .across_documents = false});
  ASSERT_EQ(windows.size(), 2U);
  for (uint64_t i = 0; i < 2; ++i) {
    const SentencePair pair = windows.pair(i, 1);
    EXPECT_EQ(pair.before_target, 2);
    EXPECT_EQ(pair.after_target, 3);
    EXPECT_EQ(pair.target.size(), i == 0 ? 2U : 1U);
  }
}

TEST(EncodeDocuments, BlocksOfALongTextGiveTheIdsOfTheWhole) {
  std::string text;
  for (int line = 0; text.size() < (size_t{3} << 20U); ++line) {
    text += "line " + std::to_string(line) + (line % 7 == 0 ? "\n\n  " : "\n");
  }
  const Vocabulary vocabulary = character_tokenizer(text);
  EXPECT_EQ(encode_documents({text}, vocabulary, 2).ids, vocabulary.encode(text));
}

TEST(EncodeDocuments, ACharacterThatTheVocabularyLacksIsNamed) {
  try {
    static_cast<void>(encode_documents({"abc"}, character_tokenizer("ab"), 2));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("U+0063 is not in the vocabulary of 2 characters"));
  }
}

}  // namespace
}  // namespace dragoman::data
