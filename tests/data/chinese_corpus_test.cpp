// The sample corpora with Chinese: laws of the grammar, and the check of the pronouns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/sample/chinese.h"
#include "data/sample/sample_corpus.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using sample::SamplePair;
using ::testing::HasSubstr;
using ::testing::Not;

SampleCorpusOptions options_of(const std::string& pair, int64_t size = 30'000) {
  SampleCorpusOptions options;
  options.pair = pair;
  options.size = size;
  return options;
}

const SampleCorpus& corpus_of(const std::string& pair) {
  static const std::map<std::string, SampleCorpus> corpora = {{"en-zh", make_sample_corpus(options_of("en-zh"))},
                                                              {"zh-en", make_sample_corpus(options_of("zh-en"))}};
  return corpora.at(pair);
}

std::vector<const SamplePair*> all_pairs(const SampleCorpus& corpus) {
  std::vector<const SamplePair*> pairs;
  for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test}) {
    for (const SamplePair& pair : *part) {
      pairs.push_back(&pair);
    }
  }
  return pairs;
}

// The text of the clause with the pronoun, in lower case letters or Chinese.
std::string after(const std::string& sentence, const std::vector<std::string>& connectives) {
  size_t at = std::string::npos;
  for (const std::string& connective : connectives) {
    at = std::min(at, sentence.find(connective));
  }
  const std::string rest = at == std::string::npos ? "" : sentence.substr(at);
  return rest.substr(0, std::min(rest.find(", "), rest.find("，")));
}

class ChineseCorpus : public ::testing::TestWithParam<std::string> {
 protected:
  const SampleCorpus& corpus() const { return corpus_of(GetParam()); }
  bool from_chinese() const { return GetParam() == "zh-en"; }
};

INSTANTIATE_TEST_SUITE_P(BothDirections, ChineseCorpus, ::testing::Values("en-zh", "zh-en"),
                         [](const auto& test) { return test.param == "en-zh" ? "ToChinese" : "FromChinese"; });

TEST_P(ChineseCorpus, NoSentenceOccursTwiceAndPartsShareNoKey) {
  std::set<std::string> english, chinese, keys;
  for (const SamplePair* pair : all_pairs(corpus())) {
    EXPECT_TRUE(english.insert(pair->english).second) << "twice: " << pair->english;
    EXPECT_TRUE(chinese.insert(pair->other).second) << "twice: " << pair->other;
  }
  for (const SamplePair& pair : corpus().train) {
    keys.insert(pair.key);
  }
  for (const auto* part : {&corpus().valid, &corpus().test}) {
    for (const SamplePair& pair : *part) {
      EXPECT_FALSE(keys.contains(pair.key)) << pair.english << " has the key " << pair.key << " of a training sentence";
    }
  }
}

TEST_P(ChineseCorpus, PartsHaveTheirSizesAlsoForFewSentences) {
  for (const int64_t size : {100, 2'000, 30'000}) {
    const SampleCorpus made = make_sample_corpus(options_of(GetParam(), size));
    EXPECT_EQ(static_cast<int64_t>(all_pairs(made).size()), size);
    EXPECT_GE(made.test.size(), 10U);
  }
}

TEST_P(ChineseCorpus, EverySlotIsFilledAndTheVerbAgrees) {
  for (const SamplePair* pair : all_pairs(corpus())) {
    for (const std::string& sentence : {pair->english, pair->other}) {
      EXPECT_EQ(sentence.find_first_of("{}<>*|=@"), std::string::npos) << sentence;
    }
    EXPECT_TRUE(base::is_valid_utf8(pair->other));
    EXPECT_EQ(pair->other.find(' '), std::string::npos) << pair->other;
    EXPECT_TRUE(pair->other.ends_with("。") || pair->other.ends_with("？")) << pair->other;
    for (const char* wrong : {"they was", "it were", "he were", "she were", "  "}) {
      EXPECT_THAT(pair->english, Not(HasSubstr(wrong)));
    }
  }
}

TEST_P(ChineseCorpus, TheWellKnownExampleIsInTheTestPartBothWays) {
  const std::vector<SamplePair>& test = corpus().test;
  ASSERT_GE(test.size(), 2U);
  if (from_chinese()) {
    EXPECT_EQ(test[0].english, "The animals didn't cross the street because they were too tired.");
    EXPECT_EQ(test[0].other, "那些动物没有穿过那条街道，因为太累了。");
    EXPECT_EQ(test[1].english, "The animals didn't cross the street because it was too wide.");
    EXPECT_EQ(test[1].other, "那些动物没有穿过那条街道，因为太宽了。");
  } else {
    EXPECT_EQ(test[0].english, "The animal didn't cross the street because it was too tired.");
    EXPECT_EQ(test[0].other, "那只动物没有穿过那条街道，因为那只动物太累了。");
    EXPECT_EQ(test[1].english, "The animal didn't cross the street because it was too wide.");
    EXPECT_EQ(test[1].other, "那只动物没有穿过那条街道，因为那条街道太宽了。");
  }
}

TEST_P(ChineseCorpus, TheTargetAloneSaysWhichNounIsMeant) {
  int seen = 0;
  for (const SamplePair* pair : all_pairs(corpus())) {
    if (!pair->coreference.has_value()) {
      continue;
    }
    ++seen;
    const sample::Coreference& meant = *pair->coreference;
    EXPECT_THAT(pair->other, HasSubstr(meant.antecedent_other));
    EXPECT_THAT(pair->other, HasSubstr(meant.rival_other));
    const std::string clause = after(pair->other, {"因为", "由于", "尽管", "直到", "但是", "并且"});
    EXPECT_EQ(clause.find(meant.rival_other), std::string::npos) << clause;
    if (from_chinese()) {
      EXPECT_EQ(clause.find(meant.antecedent_other), std::string::npos) << clause;
    } else {
      EXPECT_THAT(clause, HasSubstr(meant.pronoun + meant.antecedent_other));
    }
  }
  EXPECT_GT(seen, 10'000);
}

TEST_P(ChineseCorpus, MostMainClausesOccurWithBothResolutions) {
  std::map<std::string, std::set<std::string>> antecedents_of_key;
  for (const SamplePair& pair : corpus().train) {
    if (pair.coreference.has_value()) {
      antecedents_of_key[pair.key].insert(pair.coreference->antecedent_english);
    }
  }
  const auto both =
      std::ranges::count_if(antecedents_of_key, [](const auto& entry) { return entry.second.size() == 2; });
  EXPECT_GT(both * 100, static_cast<int64_t>(antecedents_of_key.size()) * 80);
}

TEST_P(ChineseCorpus, GuessingOnePronounIsFarFromEnough) {
  std::map<std::string, int> count;
  int total = 0;
  for (const SamplePair& pair : corpus().test) {
    if (pair.coreference.has_value()) {
      ++count[from_chinese() ? pair.coreference->pronoun : pair.coreference->antecedent_other];
      ++total;
    }
  }
  EXPECT_GE(total, 500);
  for (const auto& [pronoun, n] : count) {
    EXPECT_LT(n, total / 2) << pronoun << " alone is right in " << n << " of " << total << " sentences";
  }
}

TEST_P(ChineseCorpus, EveryHeldOutCharacterOccursInTraining) {
  std::set<char32_t> known;
  for (const SamplePair& pair : corpus().train) {
    const std::u32string characters = base::decode_utf8(pair.other);
    known.insert(characters.begin(), characters.end());
  }
  for (const auto* part : {&corpus().valid, &corpus().test}) {
    for (const SamplePair& pair : *part) {
      for (const char32_t c : base::decode_utf8(pair.other)) {
        EXPECT_TRUE(known.contains(c)) << pair.other;
      }
    }
  }
}

TEST_P(ChineseCorpus, AccuracyIsFullForReferencesAndZeroForTheOtherResolution) {
  const test_support::TemporaryFolder folder;
  SampleCorpusOptions options = options_of(GetParam(), 5'000);
  options.output = folder.path() / "corpus";
  write_sample_corpus(options);
  const std::string target = from_chinese() ? "test.en" : "test.zh";
  const PronounAccuracy right = check_pronouns(options.output / target, options.output);
  EXPECT_GT(right.all.total, 50);
  EXPECT_EQ(right.all.correct, right.all.total);

  const std::vector<PronounRow> rows = parse_pronoun_rows(base::read_file(options.output / kPronounFileName), "rows");
  std::vector<std::string> lines = base::split_lines(base::read_file(options.output / target));
  for (std::string& line : lines) {
    line = "因为它太宽了 because theirs was too wide";
  }
  EXPECT_EQ(pronoun_accuracy(lines, rows).all.correct, 0);
}

TEST(ChineseRows, ReadBackWithTheirColumnNames) {
  const std::vector<PronounRow> rows = {{1, "那只", 7, 43, "animal", "动物", "street", "街道", "cross"}};
  const std::string text = format_pronoun_rows(rows, "zh");
  EXPECT_THAT(text, HasSubstr("antecedent_zh"));
  EXPECT_EQ(parse_pronoun_rows(text, "rows"), rows);
}

bool is_right(const std::string& hypothesis, const PronounRow& row) {
  return pronoun_accuracy(std::vector{hypothesis}, std::vector{row}).all.correct == 1;
}

TEST(ChineseRows, TheClauseDecides) {
  const PronounRow row{1, "那条", 0, 0, "street", "街道", "animal", "动物", "cross"};
  EXPECT_TRUE(is_right("那只动物没有穿过那条街道，因为那条街道太宽了。", row));
  EXPECT_FALSE(is_right("那只动物没有穿过那条街道，因为那只动物太宽了。", row));
  EXPECT_FALSE(is_right("那只动物没有穿过那条街道，因为太宽了。", row));
  EXPECT_FALSE(is_right("那只动物没有穿过那条街道。", row));
  EXPECT_TRUE(is_right("因为那条街道太宽了，那只动物没有穿过那条街道。", row));
  EXPECT_FALSE(is_right("因为那条街道和动物", row));
}

TEST(ChineseRows, EnglishPronounsAreFoundInTheClause) {
  const PronounRow row{1, "they", 0, 0, "animal", "动物", "street", "街道", "cross"};
  EXPECT_TRUE(is_right("The animals didn't cross the street because they were too tired.", row));
  EXPECT_FALSE(is_right("The animals didn't cross the street because it was too tired.", row));
  EXPECT_FALSE(is_right("They didn't cross the street.", row));
  EXPECT_TRUE(is_right("Why didn't the animals cross the street? Because they were too tired.", row));
  EXPECT_FALSE(is_right("Because they saw it, the animals slept.", row)) << "two different pronouns";
}

TEST(ChinesePhrases, FollowMeasureWordNumberAndDeterminer) {
  const sample::Lexicon english;
  const sample::ChineseLexicon lexicon(english);
  const auto phrase = [&](const char* noun, const char* attribute, const char* noun_class, auto determiner,
                          auto number) {
    const sample::Adjective* adjective = attribute == nullptr ? nullptr : &english.adjective(attribute);
    return chinese_phrase(lexicon, {{&english.all_nouns().at(noun), adjective, determiner, number}, noun_class});
  };
  using sample::Determiner;
  using sample::Number;
  EXPECT_EQ(phrase("animal", nullptr, "animal", Determiner::kDefinite, Number::kSingular), "那只动物");
  EXPECT_EQ(phrase("dog", "old", "animal", Determiner::kDefinite, Number::kPlural), "那些老狗");
  EXPECT_EQ(phrase("book", "old", "object", Determiner::kIndefinite, Number::kSingular), "一本旧的书");
  EXPECT_EQ(phrase("castle", "old", "place", Determiner::kNegative, Number::kSingular), "古老的城堡");
}

TEST(ChinesePhrases, EveryNounHasItsOwnWord) {
  const sample::Lexicon english;
  const sample::ChineseLexicon lexicon(english);
  std::map<std::string, std::string> nouns;
  for (const auto& [word, noun] : english.all_nouns()) {
    const auto [entry, is_new] = nouns.emplace(lexicon.noun(noun).word, word);
    EXPECT_TRUE(is_new) << word << " and " << entry->second << " are both " << entry->first;
  }
}

}  // namespace
}  // namespace dragoman::data
