#include "data/vocabulary/sentencepiece_check.h"

#include <gmock/gmock.h>

#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;

std::string refusal(const std::string& bytes) {
  return error_of(ErrorKind::kBadData, [&] { Vocabulary::from_bytes(bytes, "bad.spm"); });
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
  return out;
}

std::string message(int number, const std::string& content) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}

TEST(SentencePieceCheck, FindsPiecesAndType) {
  const Vocabulary vocabulary = toy_vocabulary(VocabularyOptions::Type::kBpe, true);
  const SentencePieceSummary summary = check_sentencepiece_model(vocabulary.bytes(), "x.spm");
  EXPECT_EQ(summary.pieces, vocabulary.size());
  EXPECT_TRUE(summary.is_bpe);
  EXPECT_TRUE(summary.byte_fallback);
}

TEST(SentencePieceCheck, RefusesForeignAndEmptyFiles) {
  EXPECT_THAT(refusal(""), testing::HasSubstr("bad.spm"));
  EXPECT_THAT(refusal("a plain text file\n"), testing::HasSubstr("bad.spm"));
  EXPECT_THAT(refusal(std::string(1000, '\0')), testing::HasSubstr("bad.spm"));
  EXPECT_THAT(refusal(std::string(1000, '\xFF')), testing::HasSubstr("bad.spm"));
}

TEST(SentencePieceCheck, RefusesHostilePieces) {
  const std::string good = toy_vocabulary().bytes();
  EXPECT_THAT(refusal(good + message(1, message(1, std::string(500000, 'x')))), testing::HasSubstr("500000 bytes"));
  EXPECT_THAT(refusal(good + message(1, message(1, ""))), testing::HasSubstr("0 bytes"));
  EXPECT_THAT(refusal(good + message(1, message(1, "\xFF"))), testing::HasSubstr("not UTF-8"));
  const std::string not_a_number = message(1, "nan") + "\x15" + std::string("\x00\x00\xC0\x7F", 4);
  EXPECT_THAT(refusal(good + message(1, not_a_number)), testing::ContainsRegex("score of piece [0-9]+ is nan"));
}

TEST(SentencePieceCheck, RefusesATrieThatLeadsOutside) {
  const std::string good = toy_vocabulary().bytes();
  std::string map = std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\0') + std::string("x\0", 2);
  const auto put = [](std::string& changed, size_t index, uint32_t unit) {
    for (size_t i = 0; i < 4; ++i) {
      changed[4 + 4 * index + i] = static_cast<char>(unit >> (8 * i));
    }
  };
  const auto with_root = [&](uint32_t unit) {
    std::string changed = map;
    put(changed, 0, unit);
    return good + message(3, message(2, changed));
  };
  const auto with_step = [&](uint32_t label) {  // from base 1, to a unit whose own step leads far away
    std::string changed = map;
    put(changed, 0, 1 << 10);
    put(changed, 1 ^ 'a', 0x7FFFFC00 | label);
    return good + message(3, message(2, changed));
  };
  EXPECT_THAT(refusal(with_root(0xFFFFFC00)), testing::HasSubstr("a step leads outside"));
  EXPECT_THAT(refusal(with_root(0x00000400 | 0x200)), testing::HasSubstr("a step leads outside"));
  EXPECT_THAT(refusal(with_step('a')), testing::HasSubstr("a step leads outside"));
  EXPECT_NO_THROW(check_sentencepiece_model(with_step('b'), "x.spm")) << "no text comes there";
  EXPECT_THAT(refusal(good + message(3, message(2, "abc"))), testing::HasSubstr("cut short"));
  EXPECT_THAT(refusal(good + message(3, message(2, map.substr(0, 500)))), testing::HasSubstr("impossible size"));
}

TEST(SentencePieceCheck, CutsAtEveryPlaceAndFlippedBitsNeverCrash) {
  const std::string good = toy_vocabulary().bytes();
  base::Random random(19);
  int refused = 0;
  const auto survive = [&](const std::string& bytes) {
    try {
      const Vocabulary vocabulary = Vocabulary::from_bytes(bytes, "bad.spm");
      static_cast<void>(vocabulary.decode(vocabulary.encode("der hund läuft \xEF\xBC\xA1 nicht")));
    } catch (const base::Error& error) {
      ++refused;
      EXPECT_THAT(error.what(), testing::HasSubstr(error.kind() == ErrorKind::kBadData ? "bad.spm" : "vocabulary"));
    }
  };
  for (int trial = 0; trial < 300; ++trial) {
    survive(good.substr(0, random.below(good.size())));
  }
  EXPECT_GT(refused, 250);
  for (int trial = 0; trial < 700; ++trial) {
    std::string bytes = good;
    for (uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    }
    survive(bytes);
  }
}

}  // namespace
}  // namespace dragoman::data
