#include "data/vocabulary/tokenizer_vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/text_input.h"
#include "base/utf8.h"
#include "data/vocabulary/byte_bpe_trainer.h"
#include "data/vocabulary/byte_level.h"
#include "data/vocabulary/shown_pieces.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data_test_support.h"
#include "support/corpora.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr BpeSplit kSplits[] = {BpeSplit::kGpt2, BpeSplit::kLlama3, BpeSplit::kQwen2};

// Characters of all kinds, among them many that the splits treat in their own way.
std::string random_text(base::Random& random) {
  static const std::vector<std::string> parts = {" ",
                                                 "  ",
                                                 "\t",
                                                 "\n",
                                                 "\r\n",
                                                 "\n\n",
                                                 "a",
                                                 "the",
                                                 "'s",
                                                 "'LL",
                                                 "'\u017F",
                                                 "'",
                                                 "12345",
                                                 "²Ⅷ",
                                                 "\u0661",
                                                 "é",
                                                 "e\u0301",
                                                 "漢字",
                                                 "\u00A0",
                                                 "\u3000",
                                                 "\u2028",
                                                 "\U0001F600",
                                                 "!!",
                                                 "…",
                                                 "_a",
                                                 "<|endoftext|>",
                                                 "Ġ",
                                                 "▁",
                                                 std::string(1, '\0')};
  std::string text;
  for (uint64_t i = random.below(14); i > 0; --i) {
    if (random.below(4) == 0) {
      const auto c = static_cast<char32_t>(1 + random.below(0x2FFFF));
      text += base::encode_utf8(std::u32string(1, c));
    } else {
      text += parts[random.below(parts.size())];
    }
  }
  return text;
}

std::string random_bytes(base::Random& random) {
  std::string bytes;
  for (uint64_t i = random.below(30); i > 0; --i) {
    bytes.push_back(static_cast<char>(random.below(256)));
  }
  return bytes;
}

Vocabulary trained(BpeSplit split, int32_t size = 400, int threads = 1) {
  const std::string text = toy_text(400, 3) + "it's 2024, they'll pay 1,234 €\n\n  if (x == 1) {\n}\n";
  const std::string_view view = text;
  return train_byte_bpe(std::span(&view, 1), {.size = size, .split = split, .threads = threads});
}

TEST(ByteLevel, IsOneCharacterForEachByteAndBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(from_byte_level(to_byte_level(bytes)), bytes) << byte;
    EXPECT_EQ(base::decode_utf8(to_byte_level(bytes)).size(), 1u) << byte;
  }
  EXPECT_EQ(to_byte_level(" \n\xFF"), "ĠĊÿ");
  EXPECT_EQ(from_byte_level("a b"), std::nullopt);
  EXPECT_EQ(from_byte_level("漢"), std::nullopt);
}

std::vector<std::string> words_of(BpeSplit split, const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = word_end(split, text, at);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

TEST(BpeSplitting, WordsJoinedAreTheText) {
  base::Random random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::string text = random_text(random);
    for (const BpeSplit split : kSplits) {
      std::string joined;
      for (const std::string& word : words_of(split, text)) {
        ASSERT_FALSE(word.empty());
        ASSERT_TRUE(base::is_valid_utf8(word));
        joined += word;
      }
      ASSERT_EQ(joined, text);
    }
  }
}

TEST(BpeSplitting, EachRuleOfTheExpressions) {
  EXPECT_THAT(words_of(BpeSplit::kGpt2, "It's  I'LL\t\n x 123!"),
              ElementsAre("It", "'s", " ", " I", "'", "LL", "\t\n", " x", " 123", "!"));
  EXPECT_THAT(words_of(BpeSplit::kLlama3, "It'S x1234\t\n\n  y!\n\n?"),
              ElementsAre("It", "'S", " x", "123", "4", "\t\n\n", " ", " y", "!\n\n", "?"));
  EXPECT_THAT(words_of(BpeSplit::kQwen2, "a12'ſt\r\n"), ElementsAre("a", "1", "2", "'ſ", "t", "\r\n"));
  EXPECT_THAT(words_of(BpeSplit::kNone, "a b\nc"), ElementsAre("a b\nc"));
}

TEST(TokenizerVocabulary, DecodeUndoesEncodeOnAnyText) {
  for (const BpeSplit split : kSplits) {
    const Vocabulary vocabulary = trained(split);
    base::Random random(2);
    for (int trial = 0; trial < 3000; ++trial) {
      std::string text = random_text(random);
      while (text.find(kEndOfText) != std::string::npos) {
        text.erase(text.find(kEndOfText), kEndOfText.size());
      }
      const std::vector<int32_t> ids = vocabulary.encode(text);
      ASSERT_EQ(vocabulary.decode(ids), text);
      ASSERT_EQ(vocabulary.decode_bytes(ids), text);
      ASSERT_EQ(vocabulary.normalize(text), text);
      ASSERT_EQ(vocabulary.encode_checked(text, "text"), ids);
      for (const int32_t id : ids) {
        ASSERT_TRUE(id >= 0 && id < vocabulary.size());
      }
    }
  }
}

TEST(TokenizerVocabulary, BrokenBytesAreRepairedOnBothWays) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  base::Random random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string bytes = random_bytes(random);
    const std::string text = base::encode_utf8(base::decode_utf8(bytes));
    ASSERT_EQ(vocabulary.decode(vocabulary.encode(bytes)), text);
    std::vector<int32_t> ids;
    for (uint64_t i = random.below(20); i > 0; --i) {
      ids.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary.size()))));
    }
    ASSERT_TRUE(base::is_valid_utf8(vocabulary.decode(ids)));
    ASSERT_EQ(vocabulary.decode(ids), base::encode_utf8(base::decode_utf8(vocabulary.decode_bytes(ids))));
  }
}

TEST(TokenizerVocabulary, AnIdWithoutAPieceIsShownAsANumber) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  const std::vector<int32_t> ids = {vocabulary.encode("a").front(), vocabulary.size(), vocabulary.size() + 7};
  EXPECT_THAT(shown_pieces(vocabulary, ids),
              ElementsAre("a", fmt::format("<{}>", ids[1]), fmt::format("<{}>", ids[2])));
}

TEST(TokenizerVocabulary, PartsOfACharacterAreBytes) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  const std::vector<int32_t> ids = vocabulary.encode("漢");
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(vocabulary.piece_bytes(ids[0]), "\xE6");
  EXPECT_EQ(vocabulary.decode(std::span(ids).first(2)), "\uFFFD");
}

TEST(TokenizerVocabulary, SpecialPiecesAreFoundInTextAndLeftOutOfIt) {
  const Vocabulary vocabulary = trained(BpeSplit::kLlama3);
  const int32_t end = vocabulary.size() - 1;
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.bos = end, .eos = {end}}));
  EXPECT_EQ(vocabulary.piece(end), kEndOfText);
  const std::vector<int32_t> ids = vocabulary.encode("a<|endoftext|>");
  EXPECT_EQ(ids.back(), end);
  EXPECT_EQ(vocabulary.decode(ids), "a");
  EXPECT_EQ(vocabulary.piece_bytes(end), "");
  EXPECT_FALSE(vocabulary.adds_bos());
  EXPECT_EQ(vocabulary.id("no such piece"), -1);
}

TEST(TokenizerVocabulary, IdsOfAConfigurationStayInTheFile) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  const SpecialIds special{.pad = 3, .unk = -1, .bos = 1, .eos = {7, 5}};
  const Vocabulary changed = vocabulary.with_special(special);
  EXPECT_EQ(changed.special(), special);
  EXPECT_EQ(Vocabulary::from_bytes(changed.bytes(), "again").special(), special);
  EXPECT_EQ(changed.encode("der hund, läuft"), vocabulary.encode("der hund, läuft"));
  EXPECT_EQ(vocabulary.with_special(vocabulary.special()).bytes(), vocabulary.bytes());
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { (void)vocabulary.with_special({.pad = 100000}); }),
              HasSubstr("100000"));
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { (void)vocabulary.with_special({.eos = {-1}}); }), HasSubstr("-1"));
  const Vocabulary pieces = toy_vocabulary();
  EXPECT_EQ(pieces.special(), (SpecialIds{.pad = 0, .unk = 1, .bos = 2, .eos = {3}}));
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { (void)pieces.with_special(special); }), HasSubstr("0, 1, 2 and 3"));
}

TEST(TokenizerVocabulary, IsUsedLikeAnyVocabulary) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  EXPECT_EQ(vocabulary.format(), Vocabulary::Format::kTokenizerJson);
  EXPECT_EQ(toy_vocabulary().format(), Vocabulary::Format::kSentencePiece);
  EXPECT_TRUE(vocabulary.is_bpe());
  EXPECT_FALSE(vocabulary.has_piece_list());
  base::Random random(4);
  EXPECT_EQ(vocabulary.encode_sampled("der hund", 0.0, random), vocabulary.encode("der hund"));
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { (void)vocabulary.encode_sampled("x", 0.1, random); }),
              HasSubstr("0.1"));
  EXPECT_THAT(error_of(ErrorKind::kRuntime, [&] { (void)vocabulary.decode(std::vector<int32_t>{9999}); }),
              HasSubstr("9999"));
  std::vector<int32_t> with_end = vocabulary.encode("der hund");
  with_end.push_back(vocabulary.special().eos.front());
  EXPECT_EQ(encode_source(vocabulary, "der hund"), with_end);
}

TEST(TokenizerVocabulary, PiecesOfSentencePieceHaveBytesToo) {
  const Vocabulary vocabulary = toy_vocabulary(VocabularyOptions::Type::kBpe, true);
  const std::vector<int32_t> ids = vocabulary.encode("der hund 漢");
  EXPECT_EQ(vocabulary.decode_bytes(ids), " " + vocabulary.decode(ids));
  EXPECT_EQ(vocabulary.piece_bytes(kEosId), "");
}

TEST(TokenizerVocabulary, ThreadsShareIt) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  const std::string text = toy_text(50, 9);
  const std::vector<int32_t> expected = vocabulary.encode(text);
  std::vector<std::vector<int32_t>> seen(4);
  std::vector<std::thread> threads;
  for (auto& result : seen) {
    threads.emplace_back([&] { result = vocabulary.encode(text); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(seen, testing::Each(expected));
}

// A word of 300,000 letters, which a list searched for each merge would keep busy for minutes.
TEST(TokenizerVocabulary, ALongWordIsNoTrap) {
  const Vocabulary vocabulary = trained(BpeSplit::kGpt2);
  for (const std::string part : {"a", "hund", "läuftschläft"}) {
    std::string text;
    while (text.size() < 300'000) {
      text += part;
    }
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(vocabulary.decode(vocabulary.encode(text)), text);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << part;
  }
}

// The same merges by the definition: the pair with the lowest rank, its leftmost occurrence first.
std::vector<int32_t> merged_slowly(const std::vector<BpeMerge>& merges, std::vector<int32_t> symbols) {
  for (;;) {
    size_t best = merges.size(), place = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (size_t rank = 0; rank < best; ++rank) {
        if (merges[rank].left == symbols[i] && merges[rank].right == symbols[i + 1]) {
          best = rank;
          place = i;
        }
      }
    }
    if (best == merges.size()) {
      return symbols;
    }
    symbols[place] = merges[best].result;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(BpeModel, MergesAsByDefinitionWhateverTheLength) {
  base::Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::string> pieces = {"a", "b", "c"};
    std::vector<BpeMerge> merges;
    while (merges.size() < 12) {
      const auto left = static_cast<int32_t>(random.below(pieces.size()));
      const auto right = static_cast<int32_t>(random.below(pieces.size()));
      const std::string text = pieces[static_cast<size_t>(left)] + pieces[static_cast<size_t>(right)];
      if (std::ranges::count(pieces, text) == 0) {
        merges.push_back({left, right, static_cast<int32_t>(pieces.size())});
        pieces.push_back(text);
      }
    }
    base::shuffle(merges.begin(), merges.end(), random);
    const BpeModel model(pieces, merges, {});
    for (const uint64_t length : {1, 5, 47, 48, 49, 50, 200}) {
      std::string word;
      std::vector<int32_t> symbols, ids;
      for (uint64_t i = 0; i < length; ++i) {
        symbols.push_back(static_cast<int32_t>(random.below(3)));
        word += pieces[static_cast<size_t>(symbols.back())];
      }
      model.encode(word, ids);
      ASSERT_EQ(ids, merged_slowly(merges, symbols)) << word;
    }
  }
}

TEST(CharacterTokenizer, NumbersTheCharactersOfTheText) {
  const Vocabulary vocabulary = character_tokenizer("banana\né\n");
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_THAT(vocabulary.pieces(std::vector<int32_t>{0, 1, 2, 3, 4}), ElementsAre("\n", "a", "b", "n", "é"));
  EXPECT_THAT(vocabulary.encode("né\n"), ElementsAre(3, 4, 0));
  EXPECT_EQ(vocabulary.decode(std::vector<int32_t>{2, 1, 0, 4}), "ba\né");
  EXPECT_EQ(vocabulary.special(), SpecialIds{});
  EXPECT_EQ(error_of(ErrorKind::kBadData, [&] { (void)vocabulary.encode_checked("ban中", "prompt"); }),
            "prompt: U+4E2D is not in the vocabulary of 5 characters; leave it out, or train with a text that has it");
  EXPECT_THAT(error_of(ErrorKind::kBadData, [] { character_tokenizer(""); }), HasSubstr("empty"));
}

TEST(CharacterTokenizer, MayHaveAnUnkAndAnEnd) {
  const Vocabulary vocabulary = character_tokenizer("ab", {.with_unk = true, .with_end_of_text = true});
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.unk = 2, .bos = 3, .eos = {3}}));
  EXPECT_THAT(vocabulary.encode_checked("a中b<|endoftext|>", "prompt"), ElementsAre(0, 2, 1, 3));
}

TEST(CharacterTokenizer, OfAnEncoderHasWhatStandsAroundTextsAndAMask) {
  const Vocabulary vocabulary = character_tokenizer("ba\n", {.of_encoder = true});
  EXPECT_THAT(vocabulary.pieces(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}),
              ElementsAre("\n", "a", "b", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"));
  EXPECT_EQ(vocabulary.frame(), (TextFrame{.first = 5, .last = 6}));
  EXPECT_THAT(vocabulary.encode("a[MASK]中\n"), ElementsAre(1, 7, 3, 0));
  EXPECT_EQ(vocabulary.decode(std::vector<int32_t>{5, 1, 2, 7, 0, 6}), "ab\n");
  EXPECT_EQ(Vocabulary::from_bytes(vocabulary.bytes(), "again").frame(), vocabulary.frame());
}

TEST(CharacterTokenizer, TinyShakespeareHas65) {
  if (const std::string missing = test_support::missing_corpora({"lm/tinyshakespeare.txt"}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const std::string text = base::read_text_file(test_support::corpus_file("lm/tinyshakespeare.txt"));
  const Vocabulary vocabulary = character_tokenizer(text);
  EXPECT_EQ(vocabulary.size(), 65);
  const std::vector<int32_t> ids = vocabulary.encode(text);
  EXPECT_EQ(ids.size(), text.size());
  EXPECT_EQ(vocabulary.decode(ids), text);
}

TEST(ByteBpeTrainer, GivesTheSameBytesForAnyNumberOfThreadsAndChunks) {
  std::string text;
  while (text.size() < 2'500'000) {
    text += toy_text(2000, text.size());
  }
  const std::string_view view = text;
  const auto bytes = [&](int threads) {
    return train_byte_bpe(std::span(&view, 1), {.size = 320, .split = BpeSplit::kLlama3, .threads = threads}).bytes();
  };
  const std::string expected = bytes(1);
  EXPECT_EQ(bytes(3), expected);
}

TEST(ByteBpeTrainer, TakesTheMostFrequentPairAndOfEqualOnesTheSmallest) {
  const std::string_view text = "xyxy xyxy abab abab";
  // "ab" and "xy" occur four times. Then three pairs occur twice, and a space is the smallest left piece.
  const Vocabulary vocabulary =
      train_byte_bpe(std::span(&text, 1), {.size = 262, .split = BpeSplit::kGpt2, .with_end_of_text = false});
  EXPECT_EQ(vocabulary.piece(256), "ab");
  EXPECT_EQ(vocabulary.piece(257), "xy");
  EXPECT_EQ(vocabulary.piece(258), "Ġab");
  EXPECT_EQ(vocabulary.piece(259), "Ġabab");
  EXPECT_EQ(vocabulary.piece(260), "xyxy");
  EXPECT_EQ(vocabulary.size(), 261);  // no other pair occurs twice
}

TEST(ByteBpeTrainer, RefusesWhatCannotBeLearned) {
  const std::string_view text = "text", nothing;
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { train_byte_bpe(std::span(&text, 1), {.size = 256}); }),
              HasSubstr("257 to 1000000"));
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { train_byte_bpe(std::span(&text, 1), {.split = BpeSplit::kNone}); }),
              HasSubstr("gpt2, llama3 or qwen2"));
  EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { train_byte_bpe(std::span(&nothing, 1), {}); }), HasSubstr("empty"));
}

}  // namespace
}  // namespace dragoman::data
