// Phrases as text: however pieces cut them, and in scripts without spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "decoding/search/phrase_constraints.h"
#include "decoding/search/scripts.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using Ids = std::vector<int32_t>;

// Sentences of words of one to three Chinese characters, without spaces.
data::Vocabulary learn_chinese(bool byte_fallback) {
  const std::vector<std::string> words = {"国王", "王后", "国", "人",   "老人", "来了",
                                          "看见", "我们", "红", "苹果", "吃"};
  base::Random random(2);
  std::vector<std::string> lines;
  for (int line = 0; line < 400; ++line) {
    std::string text;
    for (uint64_t word = 0; word < 2 + random.below(8); ++word) {
      text += words[random.below(words.size())];
    }
    lines.push_back(text + (random.below(2) == 0 ? "。" : "，"));
  }
  data::VocabularyOptions options;
  options.size = byte_fallback ? 60 + 256 : 60;
  options.byte_fallback = byte_fallback;
  options.normalization = "identity";
  return learn_from(lines, options);
}

const data::Vocabulary& chinese() {
  static const data::Vocabulary learned = learn_chinese(false);
  return learned;
}

Phrase phrase_of(const data::Vocabulary& vocabulary, const std::string& text) {
  return make_phrase(vocabulary, vocabulary.encode(text));
}

PhraseConstraints demanding(const data::Vocabulary& vocabulary, const std::vector<std::string>& texts) {
  Phrases phrases{{}, [vocabulary](int32_t id) { return piece_text(vocabulary, id); }};
  for (const std::string& text : texts) {
    phrases.all.push_back(phrase_of(vocabulary, text));
  }
  return PhraseConstraints(phrases);
}

PhraseProgress after(const PhraseConstraints& phrases, const Ids& ids) {
  PhraseProgress progress;
  for (const int32_t id : ids) {
    progress = phrases.extend(progress, id);
  }
  return progress;
}

// The text cut into its single characters; the first behind a piece that is a space.
Ids letter_by_letter(const data::Vocabulary& vocabulary, const std::string& text) {
  Ids ids;
  for (const char32_t c : base::decode_utf8(" " + text)) {
    ids.push_back(vocabulary.id(c == U' ' ? "\u2581" : base::encode_utf8(std::u32string(1, c))));
    EXPECT_NE(ids.back(), data::kUnkId) << "a letter of " << text << " is no piece; the test needs it";
  }
  return ids;
}

// Writes what is wanted, the first where there is a choice.
Ids written(const PhraseConstraints& phrases, Ids ids) {
  for (PhraseProgress progress = after(phrases, ids); !phrases.complete(progress); progress = after(phrases, ids)) {
    Ids wanted;
    phrases.append_wanted(progress, wanted);
    if (wanted.empty() || ids.size() > 100) {
      ADD_FAILURE() << "nothing is wanted after " << ids.size() << " pieces, but phrases are missing";
      break;
    }
    ids.push_back(wanted.front());
  }
  return ids;
}

TEST(Phrase, BeginsAWordWhereWordsHaveSpaces) {
  EXPECT_EQ(phrase_of(vocabulary(), "house").text, " house");
  EXPECT_EQ(phrase_of(vocabulary(), "  red   mouse ").text, " red mouse");
  EXPECT_EQ(phrase_of(vocabulary(), " ").text, "");
}

TEST(Phrase, BeginsAnywhereInScriptsWithoutSpaces) {
  EXPECT_EQ(phrase_of(chinese(), "国王").text, "国王");
  EXPECT_EQ(phrase_of(chinese(), "我们看见国王").text, "我们看见国王");
}

TEST(Phrase, WhatIsWrittenNextFitsAndBeginsWithTheBestCut) {
  const data::Vocabulary with_bytes = learn_vocabulary(true), chinese_bytes = learn_chinese(true);
  base::Random random(3);
  const auto check = [&](const data::Vocabulary& vocabulary, const std::string& text) {
    const Ids ids = vocabulary.encode(text);
    const Phrase phrase = make_phrase(vocabulary, ids);
    ASSERT_EQ(phrase.next.size(), phrase.text.size()) << text;
    size_t n_pieces = 0;
    for (size_t at = 0; at < phrase.text.size(); ++at) {
      if (phrase.next[at] >= 0) {
        const std::string piece = piece_text(vocabulary, phrase.next[at]);
        EXPECT_FALSE(piece.empty()) << "at byte " << at << " of " << text;
        EXPECT_EQ(phrase.text.substr(at, piece.size()), piece) << "at byte " << at << " of " << text;
        ++n_pieces;
      }
    }
    EXPECT_GE(n_pieces + 1, ids.size()) << text;
    if (phrase.text.starts_with(' ')) {
      EXPECT_EQ(phrase.next[0], ids[0]) << text;
    }
  };
  for (int round = 0; round < 100; ++round) {
    const std::string line = random_line(random, 1 + random.below(4));
    check(vocabulary(), line);
    check(with_bytes, line + " \xC3\xA9t\xC3\xA9 <0x41> </s>");
  }
  for (const char* text : {"国王", "老人，苹果。", "们", "来了红"}) {
    check(chinese(), text);
    check(chinese_bytes, std::string(text) + "雪");
  }
}

TEST(PhraseText, CountsHoweverItIsCut) {
  const PhraseConstraints phrases = demanding(vocabulary(), {"house", "red mouse"});
  EXPECT_TRUE(phrases.complete(after(phrases, vocabulary().encode("the red mouse, the house runs"))));
  EXPECT_TRUE(phrases.complete(after(phrases, letter_by_letter(vocabulary(), "the red mouse, the house"))));
  EXPECT_FALSE(phrases.complete(after(phrases, letter_by_letter(vocabulary(), "the red mouse, thehouse"))))
      << "inside a word";
  EXPECT_FALSE(phrases.complete(after(phrases, vocabulary().encode("the mouse red house"))));
  EXPECT_TRUE(phrases.complete(after(phrases, letter_by_letter(vocabulary(), "houses red mousered"))))
      << "a word may go on";
}

TEST(PhraseText, ALongerPieceHoldsIt) {
  const PhraseConstraints phrases = demanding(chinese(), {"人"});
  const Ids longer = chinese().encode("老人来了");
  ASSERT_EQ(std::ranges::find(longer, chinese().id("人")), longer.end()) << "the test needs a piece that holds more";
  EXPECT_TRUE(phrases.complete(after(phrases, longer)));
}

TEST(PhraseText, IsGoneOnWithFromWhereverItStands) {
  const PhraseConstraints phrases = demanding(vocabulary(), {"house"});
  for (const std::string begun : {"h", "ho", "hou", "hous"}) {
    const Ids ids = written(phrases, letter_by_letter(vocabulary(), "the " + begun));
    EXPECT_EQ(vocabulary().decode(ids), "the house") << "after " << begun;
  }
}

TEST(PhraseText, NoSpaceIsWrittenBeforeItInChinese) {
  const PhraseConstraints phrases = demanding(chinese(), {"国王", "苹果"});
  const std::string text = chinese().decode(written(phrases, chinese().encode("我们看见")));
  EXPECT_THAT(text, testing::StartsWith("我们看见"));
  EXPECT_THAT(text, testing::HasSubstr("国王"));
  EXPECT_THAT(text, testing::HasSubstr("苹果"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(" ")));
}

TEST(PhraseText, OneTextMayHoldSeveral) {
  const PhraseConstraints phrases = demanding(chinese(), {"国王", "王后"});
  EXPECT_TRUE(phrases.complete(after(phrases, letter_by_letter(chinese(), "国王后"))));
}

void expect_holds_for(bool (*property)(char32_t), std::u32string_view yes, std::u32string_view no) {
  for (const char32_t c : yes) {
    EXPECT_TRUE(property(c)) << static_cast<uint32_t>(c);
  }
  for (const char32_t c : no) {
    EXPECT_FALSE(property(c)) << static_cast<uint32_t>(c);
  }
}

TEST(Scripts, WithoutSpacesAreThoseOfEastAndSouthEastAsia) {
  expect_holds_for(written_without_spaces, U"国ねカ。ก၁ក㐀𠀀", U"aéжאا한ᄀ9 \"—");
}

TEST(Scripts, WordCharacters) {
  expect_holds_for(is_word_character, U"aZ9éжאا", U" -.—“国한ก");
}

}  // namespace
}  // namespace dragoman::decoding
