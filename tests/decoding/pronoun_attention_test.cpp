// Which head names what "it" stands for: the rule by hand, and its laws for a random model.
#include "decoding/inspection/pronoun_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "decoding/tiny_model.h"
#include "decoding/tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using data::PronounRow;
using testing::ElementsAre;
using testing::HasSubstr;

PronounRow row_of(int64_t line, const std::string& antecedent, const std::string& rival,
                  const std::string& pattern = "cross") {
  PronounRow row;
  row.line = line;
  row.it_word = 5;
  row.antecedent_english = antecedent;
  row.rival_english = rival;
  row.pattern = pattern;
  return row;
}

TEST(PronounTwins, AreNeighboursWhoseNounsAreExchanged) {
  const std::vector<PronounRow> rows = {row_of(1, "animal", "street"), row_of(2, "street", "animal"),
                                        row_of(3, "animal", "street"),  // its twin would be line 2, which has one
                                        row_of(5, "cow", "car"),       row_of(7, "car", "cow"),
                                        row_of(8, "pie", "box", "a"),  row_of(9, "box", "pie", "b")};
  const std::vector<data::PronounTwins> twins = data::pronoun_twins(rows);
  ASSERT_EQ(twins.size(), 1U);
  EXPECT_EQ(twins[0].first.line, 1);
  EXPECT_EQ(twins[0].second.line, 2);
}

TEST(SentenceWords, JoinPiecesAndLeaveSignsOut) {
  const std::vector<std::string> pieces = {"\u2581The", "\u2581ani", "mal",      "\u2581did", "n",   "'",
                                           "t",         ",",         "\u2581it", ".",         "</s>"};
  const SentenceWords words = sentence_words("The animal didn't, it.", pieces);
  EXPECT_THAT(words.texts, ElementsAre("The", "animal", "didn't", "it"));
  EXPECT_THAT(words.pieces, ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3, 4, 6), ElementsAre(8)));
  EXPECT_THROW(sentence_words("Thean imal", std::vector<std::string>{"\u2581Theanimal"}), base::Error);
}

TEST(AttentionMovement, IsBetweenWordsOfBothSentences) {
  const SentenceWords tired{{"the", "animal", "the", "street", "it", "tired"}, {}};
  const SentenceWords wide{{"the", "animal", "and", "the", "street", "it", "wide"}, {}};
  const std::vector<float> first = {0.10F, 0.50F, 0.05F, 0.10F, 0.0F, 0.25F};
  const std::vector<float> second = {0.10F, 0.10F, 0.0F, 0.05F, 0.45F, 0.0F, 0.30F};
  const auto movement = attention_movement(tired, first, wide, second);
  ASSERT_TRUE(movement.has_value());
  EXPECT_EQ(tired.texts[movement->gain], "animal");
  EXPECT_EQ(tired.texts[movement->loss], "street");
  EXPECT_FALSE(attention_movement({{"it"}, {}}, std::vector<float>{1.0F}, {{"it"}, {}}, std::vector<float>{0.0F}))
      << "words of two letters are not looked at";
}

class OfARandomModel : public testing::Test {
 protected:
  PronounAttention measure(const std::vector<data::PronounTwins>& twins) const {
    return measure_pronoun_attention(translator_, twins, english_, german_);
  }

  Translator translator_{tiny_model(nn::NormOrder::kPre, 3, vocabulary().size()), vocabulary(), vocabulary()};
  // "dog" is the word number 5 and stands for "it".
  std::vector<std::string> english_ = {"the cat and the house dog red", "the cat and the house dog green"};
  std::vector<std::string> german_ = {"the cat runs red", "the cat sleeps green"};
  data::PronounTwins twins_{row_of(1, "cat", "house"), row_of(2, "house", "cat")};
};

TEST_F(OfARandomModel, EveryHeadIsCountedAndTheOrderOfTwinsDoesNotMatter) {
  const PronounAttention once = measure({twins_}), turned = measure({{twins_.second, twins_.first}});
  const PronounAttention often = measure({twins_, twins_, twins_});
  ASSERT_EQ(once.heads.size(), 16U) << "4 heads of 2 encoder and 2 decoder layers";
  EXPECT_EQ(once.sentences(), 2);
  for (size_t i = 0; i < once.heads.size(); ++i) {
    EXPECT_LE(once.heads[i].named, 2);
    EXPECT_EQ(once.heads[i].named, turned.heads[i].named) << once.heads[i].attention;
    EXPECT_EQ(often.heads[i].named, 3 * once.heads[i].named);
    EXPECT_EQ(often.heads[i].named_of_even, 2 * once.heads[i].named);
  }
}

TEST_F(OfARandomModel, ErrorsNameTheLine) {
  const auto error_of = [&](const data::PronounTwins& twins) -> std::string {
    try {
      (void)measure({twins});
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of({row_of(1, "cat", "house"), row_of(9, "house", "cat")}), HasSubstr("line 9"));
  EXPECT_THAT(error_of({row_of(1, "mouse", "house"), row_of(2, "house", "mouse")}), HasSubstr("\"mouse\""));
  german_[1] = german_[0];
  EXPECT_THAT(error_of(twins_), HasSubstr("the same translation"));
}

TEST(PronounAttentionReport, OrdersHeadsAndMeasuresTheChosenOneOnTheOtherHalf) {
  const PronounAttention attention{
      {{"encoder.layers.0.self_attention", 0, 2, 2}, {"decoder.layers.1.cross_attention", 1, 6, 3}}, 4};
  const std::string text = pronoun_attention_report(attention);
  EXPECT_LT(text.find("decoder.layers.1.cross_attention, head 2"),
            text.find("encoder.layers.0.self_attention, head 1"));
  EXPECT_THAT(text, HasSubstr("75.00 % (6 of 8)"));
  EXPECT_THAT(text, HasSubstr("names the noun in 75.00 % of the other half"));
  EXPECT_THAT(pronoun_attention_report({}), HasSubstr("no two sentences"));
}

}  // namespace
}  // namespace dragoman::decoding
