#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "data/vocabulary/bert_text.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/word_piece_model.h"
#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPieces =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\na\n.\n漢\nécole\necole\nÉcole\n";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (BertWord word = next_bert_word(text, 0); word.begin < word.end; word = next_bert_word(text, word.end)) {
    words.emplace_back(text.substr(word.begin, word.end - word.begin));
  }
  return words;
}

TEST(BertText, CleansAsTheAuthors) {
  const BertCleaning cleans{true, false, false, false};
  EXPECT_EQ(bert_cleaned("a\tb\u00A0c\u2028d\u200Be\x7F\uFFFD\x0B.", cleans), "a b c de.");
  EXPECT_EQ(bert_cleaned("a漢字b", {false, true, false, false}), "a 漢  字 b");
  EXPECT_EQ(bert_cleaned("École e\u0301", {false, false, true, false}), "Ecole e");
  EXPECT_EQ(bert_cleaned("École ΑΣ İ", {false, false, false, true}), "école ασ i\u0307");
  EXPECT_EQ(bert_cleaned("École", {}), "ecole");
  EXPECT_EQ(bert_cleaned("", {}), "");
}

TEST(BertText, EachMarkIsAWordAndWhiteSpaceIsNone) {
  EXPECT_THAT(words_of("  don't stop... $5\u3000“x”\n"),
              ElementsAre("don", "'", "t", "stop", ".", ".", ".", "$", "5", "“", "x", "”"));
  EXPECT_THAT(words_of(" \t"), ElementsAre());
}

TEST(WordPiece, TakesTheLongestPiecesOrUnk) {
  const Vocabulary vocabulary = from_vocab_txt(kPieces, {});
  EXPECT_THAT(vocabulary.encode("unaffable una"), ElementsAre(5, 6, 7, 5, 8));
  EXPECT_THAT(vocabulary.encode("unaffablex a."), ElementsAre(1, 9, 10));  // the whole word is unknown
  EXPECT_THAT(vocabulary.encode("École 漢a"), ElementsAre(13, 11, 9));
  EXPECT_THAT(vocabulary.encode("[MASK] [mask]"), testing::Contains(4).Times(1));
  EXPECT_THAT(vocabulary.encode("un" + std::string(98, 'a')).size(), 99);
  EXPECT_THAT(vocabulary.encode("un" + std::string(99, 'a')), ElementsAre(1));
  EXPECT_THAT(vocabulary.encode(""), ElementsAre());
  EXPECT_THAT(from_vocab_txt(kPieces, {true, true, false, false}).encode("École"), ElementsAre(14));
}

TEST(WordPiece, KnowsItsSpecialPieces) {
  const Vocabulary vocabulary = from_vocab_txt(kPieces, {});
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.pad = 0, .unk = 1, .bos = 2, .eos = {3}}));
  EXPECT_EQ(vocabulary.frame(), (TextFrame{.first = 2, .last = 3, .separators = 1}));
  EXPECT_EQ(vocabulary.id("[MASK]"), 4);
}

TEST(WordPiece, DecodesWithSpacesBetweenWords) {
  const Vocabulary vocabulary = from_vocab_txt(kPieces, {});
  const std::vector<int32_t> ids = {2, 5, 6, 7, 9, 10, 3};
  EXPECT_EQ(vocabulary.decode(ids), "unaffable a.");
}

TEST(WordPiece, ReloadsFromItsOwnBytes) {
  const Vocabulary vocabulary = from_vocab_txt(kPieces, {});
  const Vocabulary again = Vocabulary::from_bytes(vocabulary.bytes(), "again");
  EXPECT_EQ(again.encode("unaffable a. 漢"), vocabulary.encode("unaffable a. 漢"));
  EXPECT_EQ(again.frame(), vocabulary.frame());
}

TEST(WordPiece, RefusesOtherFiles) {
  const auto error = [](const std::string& text) {
    return error_of(ErrorKind::kBadData, [&] { from_vocab_txt(text, {}); });
  };
  EXPECT_THAT(error("a\nb\n"), HasSubstr("vocab.txt: no piece [PAD]"));
  EXPECT_THAT(error("[PAD]\n\nb\n"), HasSubstr("vocab.txt: line 2 is empty"));
  EXPECT_THAT(error("[PAD]\n\xFF\n"), HasSubstr("line 2 is no valid UTF-8"));
  EXPECT_THAT(error("[PAD]\na\na\n"), HasSubstr("line 3 repeats the piece \"a\""));
}

TEST(WordPiece, RefusesFilesThatContradictThemselves) {
  const nlohmann::json good = nlohmann::json::parse(from_vocab_txt(kPieces, {}).bytes());
  const auto refusal = [&](const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json file = good;
    file[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(ErrorKind::kBadData, [&] { Vocabulary::from_bytes(file.dump(), "t.json"); });
  };
  EXPECT_THAT(refusal("/model/unk_token", nullptr), HasSubstr("WordPiece needs one"));
  EXPECT_THAT(refusal("/model/unk_token", "x"), HasSubstr("no piece of model.vocab"));
  EXPECT_THAT(refusal("/model/continuing_subword_prefix", "@@"), HasSubstr("they must be equal"));
  EXPECT_THAT(refusal("/model/max_input_chars_per_word", 0), HasSubstr("max_input_chars_per_word"));
  EXPECT_THAT(refusal("/model/merges", nlohmann::json::array()), HasSubstr("merges"));
  EXPECT_THAT(refusal("/post_processor/special_tokens/[CLS]/ids/0", 99), HasSubstr("ids are 0 to 14"));
}

}  // namespace
}  // namespace dragoman::data
