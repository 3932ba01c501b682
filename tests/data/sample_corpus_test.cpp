#include "data/sample/sample_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

using sample::SamplePair;
using ::testing::HasSubstr;

SampleCorpusOptions options_of(int64_t size, uint64_t seed = 1) {
  SampleCorpusOptions options;
  options.size = size;
  options.seed = seed;
  return options;
}

const SampleCorpus& default_corpus() {
  static const SampleCorpus corpus = make_sample_corpus(SampleCorpusOptions{});
  return corpus;
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

std::set<std::string> words_of(const std::vector<SamplePair>& part, std::string SamplePair::*side) {
  std::set<std::string> words;
  for (const SamplePair& pair : part) {
    for (const std::string_view word : sample::split_words(pair.*side)) {
      words.emplace(word);
    }
  }
  return words;
}

std::string error_of(const SampleCorpusOptions& options) {
  try {
    make_sample_corpus(options);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.exit_status(), 2) << error.what();
    return error.what();
  }
  return "no error";
}

// The folder of one test, removed at its end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Written {
  std::vector<std::string> test_german;
  std::vector<std::string> test_english;
  std::vector<PronounRow> rows;
};

Written write_and_read(const SampleCorpusOptions& base_options, const Folder& folder) {
  SampleCorpusOptions options = base_options;
  options.output = folder.path() / "made" / "on the way";
  write_sample_corpus(options);
  return {base::split_lines(base::read_file(options.output / "test.de")),
          base::split_lines(base::read_file(options.output / "test.en")),
          parse_pronoun_rows(base::read_file(options.output / kPronounFileName), "rows")};
}

TEST(SampleCorpus, PartsAddUpToTheSizeAskedFor) {
  for (const int64_t size : {100, 1'000, 5'000, 30'000}) {
    for (const uint64_t seed : {1, 2, 77}) {
      const SampleCorpus corpus = make_sample_corpus(options_of(size, seed));
      EXPECT_EQ(int64_t(all_pairs(corpus).size()), size) << "seed " << seed;
      EXPECT_GE(corpus.valid.size(), 10U);
      EXPECT_GE(corpus.test.size(), 10U);
    }
  }
  EXPECT_EQ(default_corpus().test.size(), 1'000U);
  EXPECT_EQ(default_corpus().valid.size(), 500U);
}

TEST(SampleCorpus, LargestSizeIsReached) {
  const SampleCorpus corpus = make_sample_corpus(options_of(kSampleCorpusMaxSize));
  EXPECT_EQ(int64_t(all_pairs(corpus).size()), kSampleCorpusMaxSize);
}

TEST(SampleCorpus, NoSentenceOccursTwiceInAnyPartOnEitherSide) {
  std::set<std::string> english, german;
  for (const SamplePair* pair : all_pairs(default_corpus())) {
    EXPECT_TRUE(english.insert(pair->english).second) << "twice: " << pair->english;
    EXPECT_TRUE(german.insert(pair->other).second) << "twice: " << pair->other;
  }
}

TEST(SampleCorpus, TestAndTrainingShareNoKey) {
  std::set<std::string> keys;
  for (const SamplePair& pair : default_corpus().train) {
    keys.insert(pair.key);
  }
  for (const auto* part : {&default_corpus().valid, &default_corpus().test}) {
    for (const SamplePair& pair : *part) {
      EXPECT_FALSE(keys.contains(pair.key)) << pair.english << " has the key " << pair.key << " of a training sentence";
    }
  }
}

TEST(SampleCorpus, EveryHeldOutWordOccursInTraining) {
  for (const int64_t size : {100, 2'000, 30'000}) {
    const SampleCorpus corpus = make_sample_corpus(options_of(size));
    for (const auto side : {&SamplePair::english, &SamplePair::other}) {
      const std::set<std::string> known = words_of(corpus.train, side);
      for (const auto* part : {&corpus.valid, &corpus.test}) {
        for (const std::string& word : words_of(*part, side)) {
          EXPECT_TRUE(known.contains(word)) << "size " << size << ": '" << word << "' is not in the training part";
        }
      }
    }
  }
}

TEST(SampleCorpus, SameSeedSameSentencesOtherSeedOthers) {
  const SampleCorpus again = make_sample_corpus(SampleCorpusOptions{});
  const SampleCorpus other = make_sample_corpus(options_of(SampleCorpusOptions{}.size, 2));
  const auto before = all_pairs(default_corpus());
  const auto after = all_pairs(again);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i]->english, after[i]->english);
    ASSERT_EQ(before[i]->other, after[i]->other);
  }
  EXPECT_NE(default_corpus().train[0].english + default_corpus().train[1].english,
            other.train[0].english + other.train[1].english);
}

TEST(SampleCorpus, PronounAgreesWithTheGenderOfTheAntecedent) {
  const sample::Lexicon lexicon;
  const std::map<sample::Gender, std::set<std::string>> forms = {{sample::Gender::kMasculine, {"er", "ihn", "ihm"}},
                                                                 {sample::Gender::kFeminine, {"sie", "ihr"}},
                                                                 {sample::Gender::kNeuter, {"es", "ihm"}}};
  std::map<std::string, int> seen;
  for (const SamplePair* pair : all_pairs(default_corpus())) {
    if (!pair->coreference.has_value()) {
      continue;
    }
    const sample::Coreference& coreference = *pair->coreference;
    const sample::Noun& antecedent = lexicon.all_nouns().at(coreference.antecedent_english);
    const sample::Noun& rival = lexicon.all_nouns().at(coreference.rival_english);
    EXPECT_EQ(antecedent.german, coreference.antecedent_other);
    EXPECT_NE(antecedent.gender, rival.gender) << pair->other;
    EXPECT_TRUE(forms.at(antecedent.gender).contains(coreference.pronoun))
        << coreference.pronoun << " for " << antecedent.german << " in: " << pair->other;
    EXPECT_THAT(pair->other, HasSubstr(" " + coreference.pronoun));
    EXPECT_THAT(pair->english, HasSubstr(antecedent.english));
    EXPECT_THAT(pair->english, HasSubstr(rival.english));
    ++seen[coreference.pronoun];
  }
  for (const std::string_view pronoun : sample::kGermanPronouns) {
    EXPECT_GT(seen[std::string(pronoun)], 100) << pronoun;
  }
}

TEST(SampleCorpus, GuessingOnePronounIsFarFromEnough) {
  std::map<std::string, int> count;
  int total = 0;
  for (const SamplePair& pair : default_corpus().test) {
    if (pair.coreference.has_value()) {
      ++count[pair.coreference->pronoun];
      ++total;
    }
  }
  EXPECT_GE(total, 500);
  for (const auto& [pronoun, n] : count) {
    EXPECT_LT(n, total * 45 / 100) << pronoun << " alone is right in " << n << " of " << total << " sentences";
  }
}

TEST(SampleCorpus, MostMainClausesOccurWithBothResolutions) {
  std::map<std::string, std::set<std::string>> antecedents_of_key;
  for (const SamplePair& pair : default_corpus().train) {
    if (pair.coreference.has_value()) {
      antecedents_of_key[pair.key].insert(pair.coreference->antecedent_english);
    }
  }
  size_t both = 0;
  for (const auto& [key, antecedents] : antecedents_of_key) {
    both += antecedents.size() == 2 ? 1 : 0;
  }
  EXPECT_GT(both * 100, antecedents_of_key.size() * 80) << both << " of " << antecedents_of_key.size();
}

TEST(SampleCorpus, HasSeveralHundredWordsAndManyPatterns) {
  EXPECT_GE(words_of(default_corpus().train, &SamplePair::english).size(), 500U);
  EXPECT_GE(words_of(default_corpus().train, &SamplePair::other).size(), 500U);
  std::set<std::string> patterns;
  for (const SamplePair& pair : default_corpus().test) {
    if (pair.coreference.has_value()) {
      patterns.insert(pair.coreference->pattern);
    }
  }
  EXPECT_GE(patterns.size(), 10U);
}

TEST(SampleCorpus, HoldsTheWellKnownExampleBothWaysInTheTestPart) {
  const std::vector<SamplePair>& test = default_corpus().test;
  ASSERT_GE(test.size(), 2U);
  EXPECT_EQ(test[0].english, "The animal didn't cross the street because it was too tired.");
  EXPECT_EQ(test[0].other, "Das Tier überquerte die Straße nicht, weil es zu müde war.");
  EXPECT_EQ(test[1].english, "The animal didn't cross the street because it was too wide.");
  EXPECT_EQ(test[1].other, "Das Tier überquerte die Straße nicht, weil sie zu breit war.");
}

TEST(SampleCorpus, NamesWhatIsWrongWithTheOptions) {
  SampleCorpusOptions unknown_pair = options_of(1'000);
  unknown_pair.pair = "fr-xx";
  EXPECT_THAT(error_of(unknown_pair), HasSubstr("fr-xx"));
  EXPECT_THAT(error_of(unknown_pair), HasSubstr("en-de"));
  for (const int64_t size : {int64_t{0}, int64_t{-5}, kSampleCorpusMinSize - 1, kSampleCorpusMaxSize + 1}) {
    EXPECT_THAT(error_of(options_of(size)), HasSubstr("--size is " + std::to_string(size)));
    EXPECT_THAT(error_of(options_of(size)), HasSubstr("100 to 200000"));
  }
}

TEST(SampleCorpus, FilesHoldTheSameSentencesLineByLine) {
  const Folder folder("dragoman_sample_corpus_");
  const Written written = write_and_read(SampleCorpusOptions{}, folder);
  ASSERT_EQ(written.test_english.size(), default_corpus().test.size());
  ASSERT_EQ(written.test_german.size(), default_corpus().test.size());
  for (size_t i = 0; i < written.test_german.size(); ++i) {
    EXPECT_EQ(written.test_english[i], default_corpus().test[i].english);
    EXPECT_EQ(written.test_german[i], default_corpus().test[i].other);
  }
  for (const PronounRow& row : written.rows) {
    const std::string& english = written.test_english[size_t(row.line - 1)];
    EXPECT_EQ(english.substr(size_t(row.it_byte), 2), "it") << english;
    EXPECT_EQ(sample::split_words(english)[size_t(row.it_word)].substr(0, 2), "it") << english;
  }
}

TEST(PronounAccuracy, IsFullForReferencesAndZeroForSwappedPronouns) {
  const Folder folder("dragoman_pronouns_");
  Written written = write_and_read(options_of(5'000), folder);
  const PronounAccuracy right = pronoun_accuracy(written.test_german, written.rows);
  EXPECT_EQ(right.all.total, int64_t(written.rows.size()));
  EXPECT_GT(right.all.total, 0);
  EXPECT_EQ(right.all.correct, right.all.total);
  EXPECT_EQ(right.percent(), 100.0);

  const std::map<std::string, std::string> swapped = {{"er", "sie"},  {"sie", "es"},  {"es", "er"},
                                                      {"ihn", "sie"}, {"ihm", "ihr"}, {"ihr", "ihm"}};
  for (const PronounRow& row : written.rows) {
    std::string& german = written.test_german[size_t(row.line - 1)];
    size_t at = german.rfind(' ' + row.pronoun + ' ');
    at = at == std::string::npos ? german.rfind(' ' + row.pronoun) : at;
    german.replace(at + 1, row.pronoun.size(), swapped.at(row.pronoun));
  }
  EXPECT_EQ(pronoun_accuracy(written.test_german, written.rows).all.correct, 0);
}

TEST(PronounAccuracy, LooksOnlyAtTheClauseOfTheIt) {
  const auto correct = [](const std::string& hypothesis, const std::string& pronoun) {
    PronounRow row;
    row.line = 1;
    row.pronoun = pronoun;
    return pronoun_accuracy(std::vector{hypothesis}, std::vector{row}).all.correct == 1;
  };
  EXPECT_TRUE(correct("Im Stall gab es einen Hund, weil er müde war.", "er"));
  EXPECT_FALSE(correct("Im Stall gab es einen Hund, weil er müde war.", "es"));
  EXPECT_TRUE(correct("Weil sie müde war, gab es im Stall eine Katze.", "sie"));
  EXPECT_FALSE(correct("Weil sie müde war, gab es im Stall eine Katze.", "es"));
  EXPECT_TRUE(correct("Der Koch nahm den Apfel aus der Kiste und aß ihn.", "ihn"));
  EXPECT_TRUE(correct("Warum fraß das Tier die Birne? Weil sie reif war.", "sie"));
  EXPECT_FALSE(correct("Das Tier schlief, weil er sie müde war.", "er")) << "two different pronouns";
  EXPECT_FALSE(correct("Das Tier schlief.", "es")) << "no clause";
  EXPECT_FALSE(correct("", "es")) << "empty line";
}

TEST(PronounAccuracy, RefusesTooFewHypotheses) {
  PronounRow row;
  row.line = 2;
  row.pronoun = "er";
  EXPECT_THROW(pronoun_accuracy(std::vector<std::string>{"eine Zeile"}, std::vector{row}), base::Error);
  EXPECT_EQ(pronoun_accuracy({}, {}).percent(), 0.0);
}

TEST(PronounRows, ReadBackAsWritten) {
  const std::vector<PronounRow> rows = {{3, "sie", 7, 43, "street", "Straße", "animal", "Tier", "cross"},
                                        {9, "ihm", 5, 30, "dog", "Hund", "tram", "Straßenbahn", "wait"}};
  EXPECT_EQ(parse_pronoun_rows(format_pronoun_rows(rows), "rows"), rows);
  EXPECT_THROW(parse_pronoun_rows("", "rows"), base::Error);
  EXPECT_THROW(parse_pronoun_rows(format_pronoun_rows(rows) + "1\ter\n", "rows"), base::Error);
  EXPECT_THROW(parse_pronoun_rows(format_pronoun_rows(rows) + "x\ter\t1\t2\ta\tb\tc\td\te\n", "rows"), base::Error);
}

TEST(GermanPhrases, FollowGenderCaseAndDeterminer) {
  using sample::Case;
  using sample::Determiner;
  using sample::Number;
  const sample::Lexicon lexicon;
  const auto phrase = [&](const char* noun, const char* attribute, Determiner determiner, Number number, Case kase) {
    const sample::Adjective* adjective = attribute == nullptr ? nullptr : &lexicon.adjective(attribute);
    return german_phrase({&lexicon.all_nouns().at(noun), adjective, determiner, number}, kase);
  };
  const auto one = Number::kSingular;
  EXPECT_EQ(phrase("lion", "old", Determiner::kDefinite, one, Case::kNominative), "der alte Löwe");
  EXPECT_EQ(phrase("lion", "old", Determiner::kDefinite, one, Case::kAccusative), "den alten Löwen");
  EXPECT_EQ(phrase("bear", nullptr, Determiner::kDefinite, one, Case::kDative), "dem Bären");
  EXPECT_EQ(phrase("cat", "expensive", Determiner::kIndefinite, one, Case::kDative), "einer teuren Katze");
  EXPECT_EQ(phrase("house", "high", Determiner::kIndefinite, one, Case::kNominative), "ein hohes Haus");
  EXPECT_EQ(phrase("dog", "tired", Determiner::kNegative, one, Case::kAccusative), "keinen müden Hund");
  EXPECT_EQ(phrase("dog", "sour", Determiner::kNone, Number::kPlural, Case::kDative), "sauren Hunden");
  EXPECT_EQ(phrase("car", nullptr, Determiner::kNone, Number::kPlural, Case::kDative), "Autos");
  EXPECT_EQ(sample::contract_prepositions("in dem Stall bei dem Tor"), "im Stall beim Tor");
  EXPECT_EQ(sample::capitalized("überall"), "Überall");
}

}  // namespace
}  // namespace dragoman::data
