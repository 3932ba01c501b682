#include "data/vocabulary/piece_list.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/protobuf.h"
#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;

// The pieces of a vocabulary in another order, some missing, some added: as if another program had numbered them.
std::vector<std::string> renumbered(const Vocabulary& vocabulary) {
  std::vector<std::string> pieces;
  for (int32_t id = kEosId + 1; id < vocabulary.size(); ++id) {
    pieces.push_back(vocabulary.piece(id));
  }
  std::ranges::reverse(pieces);
  pieces.erase(std::ranges::find(pieces, "\xE2\x96\x81haus"));
  pieces.insert(pieces.begin() + 3, "Z");
  pieces.push_back(">>fra<<");
  const std::vector<std::string> special = {"<pad>", "<unk>", "<s>", "</s>"};
  pieces.insert(pieces.begin(), special.begin(), special.end());
  return pieces;
}

class PieceList : public testing::TestWithParam<VocabularyOptions::Type> {
 protected:
  PieceList()
      : plain_(toy_vocabulary(GetParam())),
        pieces_(renumbered(plain_)),
        listed_(Vocabulary::from_bytes(with_piece_list(plain_.bytes(), pieces_, "x.spm"), "x.spm")) {}

  Vocabulary plain_;
  std::vector<std::string> pieces_;
  Vocabulary listed_;
};
INSTANTIATE_TEST_SUITE_P(Types, PieceList,
                         testing::Values(VocabularyOptions::Type::kUnigram, VocabularyOptions::Type::kBpe));

TEST_P(PieceList, TextIsCutAsBeforeAndNumberedByTheList) {
  base::Random random(3);
  const std::string text = toy_text(200, 5);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    const std::vector<int32_t> before = plain_.encode(line), after = listed_.encode(line);
    ASSERT_EQ(before.size(), after.size()) << line;
    for (size_t i = 0; i < before.size(); ++i) {
      const std::string& piece = plain_.piece(before[i]);
      const auto place = std::ranges::find(pieces_, piece);
      ASSERT_EQ(after[i], place == pieces_.end() ? kUnkId : place - pieces_.begin()) << piece << " in " << line;
    }
  }
}

TEST_P(PieceList, IdsAndPiecesAreThoseOfTheList) {
  EXPECT_TRUE(listed_.has_piece_list());
  EXPECT_FALSE(plain_.has_piece_list());
  ASSERT_EQ(static_cast<size_t>(listed_.size()), pieces_.size());
  for (int32_t id = 0; id < listed_.size(); ++id) {
    EXPECT_EQ(listed_.piece(id), pieces_[static_cast<size_t>(id)]);
    EXPECT_EQ(listed_.id(pieces_[static_cast<size_t>(id)]), id);
  }
  EXPECT_EQ(listed_.id("nowhere"), kUnkId);
  EXPECT_THROW(static_cast<void>(listed_.piece(listed_.size())), base::Error);
}

TEST_P(PieceList, LettersThatOnlyTheListKnowsAreRead) {
  EXPECT_EQ(plain_.encode("Z").back(), kUnkId);
  EXPECT_EQ(listed_.encode("Z").back(), listed_.id("Z"));
}

TEST_P(PieceList, ALanguageCodeOfTheListComesFirst) {
  std::vector<int32_t> expected = listed_.encode("der hund");
  expected.insert(expected.begin(), listed_.id(">>fra<<"));
  EXPECT_EQ(listed_.encode(">>fra<< der hund"), expected);
  EXPECT_NE(listed_.encode(">>eng<< der hund").front(), listed_.id(">>fra<<"));
  EXPECT_EQ(listed_.encode("der >>fra<< hund").front(), listed_.encode("der").front());
}

TEST_P(PieceList, TextsOfSpecialPiecesAreTextOnly) {
  for (const char* text : {"</s>", "<pad>", "<s>", "der </s> hund"}) {
    for (const int32_t id : listed_.encode(text)) {
      EXPECT_TRUE(id == kUnkId || id > kEosId) << text;
    }
  }
}

TEST_P(PieceList, DecodingJoinsPiecesOfTheListWithoutOuterSpaces) {
  EXPECT_EQ(listed_.decode(listed_.encode("der hund und die katze")), "der hund und die katze");
  std::vector<int32_t> ids = listed_.encode("katze");
  ids.insert(ids.end(), {kPadId, listed_.id("Z"), kBosId, kEosId});
  EXPECT_EQ(listed_.decode(ids), "katzeZ");
  EXPECT_EQ(listed_.decode({}), "");
}

TEST_P(PieceList, WithoutItTheFileIsWhatItWas) {
  EXPECT_EQ(without_piece_list(listed_.bytes(), "x.spm"), plain_.bytes());
  EXPECT_EQ(without_piece_list(plain_.bytes(), "x.spm"), plain_.bytes());
  EXPECT_EQ(read_piece_list(listed_.bytes(), "x.spm"), pieces_);
}

TEST_P(PieceList, BadListsAreRefusedWithFileAndPiece) {
  const auto refusal = [&](std::vector<std::string> pieces) {
    return error_of(ErrorKind::kBadData, [&] { with_piece_list(plain_.bytes(), pieces, "x.spm"); });
  };
  std::vector<std::string> bad = pieces_;
  bad[9] = bad[6];
  EXPECT_THAT(refusal(bad),
              testing::AllOf(testing::HasSubstr("x.spm: piece list: piece 9 is"), testing::HasSubstr("as is piece 6")));
  bad = pieces_;
  bad[3] = "<eos>";
  EXPECT_THAT(refusal(bad), testing::HasSubstr("piece 3 is '<eos>', must be </s>"));
  bad = pieces_;
  bad[7] = "";
  EXPECT_THAT(refusal(bad), testing::HasSubstr("piece 7 has 0 bytes"));
  bad[7] = std::string(5000, 'x');
  EXPECT_THAT(refusal(bad), testing::HasSubstr("piece 7 has 5000 bytes"));
  bad[7] = "\xFF";
  EXPECT_THAT(refusal(bad), testing::HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal({"<pad>", "<unk>", "<s>", "</s>"}), testing::HasSubstr("has 4 pieces"));
  const auto read = [](const std::string& bytes) {
    return error_of(ErrorKind::kBadData, [&] { Vocabulary::from_bytes(bytes, "x.spm"); });
  };
  EXPECT_THAT(read(listed_.bytes() + base::ProtobufMessage().add_bytes(7, "more").bytes()),
              testing::HasSubstr("not at the end"));
  EXPECT_THAT(read(listed_.bytes().substr(0, listed_.bytes().size() - 1)), testing::HasSubstr("cut short"));
  EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { with_piece_list(listed_.bytes(), pieces_, "x.spm"); }),
              testing::HasSubstr("has a piece list already"));
}

}  // namespace
}  // namespace dragoman::data
