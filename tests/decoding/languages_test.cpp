// Models that translate between several languages: codes around texts, whatever the text is a part of.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "decoding/inspection/inspection.h"
#include "decoding/scorer.h"
#include "support/expect_error.h"
#include "tiny_languages.h"

namespace dragoman::decoding {
namespace {

using test_support::expect_error;

const std::vector<models::LanguagePair> kPairs = {{"en", "de"}, {"de", "fr"}, {"zh-Hant", "zh"}, {"fr", "en"}};

std::vector<TranslationRequest> requests_between(const Translator& translator, size_t count) {
  base::Random random(3);
  std::vector<TranslationRequest> requests(count);
  for (size_t i = 0; i < count; ++i) {
    requests[i].text = random_line(random, 1 + random.below(12));
    requests[i].languages = translator.choose_languages(kPairs[i % kPairs.size()]).tokens;
  }
  return requests;
}

TEST(Languages, AreFoundByTheirCodes) {
  const auto translator = many_translator();
  const auto pair_of = [&](const char* source, const char* target) {
    return translator->choose_languages({source, target}).pair;
  };
  EXPECT_EQ(pair_of("EN-US", "ger"), (models::LanguagePair{"en", "de"}));
  EXPECT_EQ(pair_of("fra_Latn", "zh-CN"), (models::LanguagePair{"fr", "zh"}));
  EXPECT_EQ(pair_of("zt", "ZH"), (models::LanguagePair{"zh-Hant", "zh"}));
  const ChosenLanguages chosen = translator->choose_languages({"en", "zh-TW"});
  EXPECT_EQ(translator->source_vocabulary().piece(chosen.tokens.source.value()), ">>eng_Latn<<");
  EXPECT_EQ(translator->target_vocabulary().piece(chosen.tokens.target.value()), ">>zho_Hant<<");
}

TEST(Languages, OthersAreRefusedWithNearOnes) {
  const auto translator = many_translator();
  const auto refuses = [&](const char* source, const char* target, const std::string& message) {
    expect_error(base::ErrorKind::kUsage, {message}, [&] {
      static_cast<void>(translator->choose_languages({source, target}));
    });
  };
  refuses("en", "fp", "target language is \"fp\", which the model does not write; near: fr");
  refuses("egg_Latn", "de", "source language is \"egg_Latn\", which the model does not read; near: eng_Latn");
  refuses("en", "", "target language: the model writes 5 languages; name one");
  refuses("fr", "fra_Latn", "source and target language are both fr");
  const Translator one(tiny_model(nn::NormOrder::kPre, 1, vocabulary().size()), vocabulary(), vocabulary());
  EXPECT_EQ(one.choose_languages({}).tokens, LanguageTokens());
  expect_error(base::ErrorKind::kUsage, {"the model does not say its languages"}, [&] {
    static_cast<void>(one.choose_languages({"en", "de"}));
  });
}

TEST(Languages, CodesThatTheVocabularyLacksAreRefused) {
  expect_error(base::ErrorKind::kBadData, {"m/languages.json: the vocabulary has no >>ita_Latn<<"}, [] {
    check_language_pieces(models::languages_between({"deu_Latn", "ita_Latn"}), {many_vocabulary(), many_vocabulary()},
                          "m/languages.json");
  });
}

// Requests of several pairs in one batch, and submitted beside each other, have the bits that each has alone.
TEST(Languages, APairInABatchOfOthersEqualsItAlone) {
  const auto translator = many_translator();
  const std::vector<TranslationRequest> requests = requests_between(*translator, 24);
  for (const int beam_size : {1, 4}) {
    SearchOptions options;
    options.beam_size = beam_size;
    const std::vector<Translation> together = translator->translate_requests(requests, options);
    std::vector<std::future<Translation>> submitted;
    for (const TranslationRequest& request : requests) {
      submitted.push_back(translator->submit(request, options));
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      const Translation alone = translator->translate_requests({&requests[i], 1}, options).front();
      const Translation beside = submitted[i].get();
      EXPECT_EQ(together[i].ids, alone.ids);
      EXPECT_EQ(together[i].token_scores, alone.token_scores);
      EXPECT_EQ(beside.ids, alone.ids);
      EXPECT_EQ(beside.score, alone.score);
    }
  }
}

TEST(Languages, ATranslationBeginsWithItsCodeWhichIsNoTextAndCountsNothing) {
  const auto translator = many_translator();
  SearchOptions options;
  for (const TranslationRequest& request : requests_between(*translator, 8)) {
    const Translation seen = translator->translate_requests({&request, 1}, options).front();
    ASSERT_FALSE(seen.ids.empty());
    EXPECT_EQ(seen.ids.front(), request.languages.target);
    EXPECT_EQ(seen.token_scores.front(), 0.0F);
    EXPECT_EQ(seen.text.find(">>"), std::string::npos) << seen.text;
    const IdPair pair{encode_source(translator->source_vocabulary(), request.text, request.languages), seen.ids, 1};
    const PairScore score = score_ids(translator->model(), {&pair, 1}, {}).front();
    if (seen.finish_reason == FinishReason::kEndOfSentence) {
      EXPECT_NEAR(seen.score, score.log_prob, 1e-3);
      EXPECT_EQ(score.tokens, static_cast<int64_t>(seen.token_scores.size()) - 1);
    }
  }
}

TEST(Languages, ScoresOfLinesLeaveOutTheCode) {
  const auto translator = many_translator();
  const data::VocabularyPair pieces{translator->source_vocabulary(), translator->target_vocabulary()};
  const PairEncoding encoding{pieces, translator->choose_languages({"en", "de"}).tokens};
  const std::vector<std::string> sources = {"the cat runs", "", ""}, targets = {"the dog sleeps", "", "red"};
  const auto scores = score_pairs(translator->model(), encoding, sources, targets, {});
  EXPECT_EQ(scores[0].tokens, static_cast<int64_t>(pieces.target.encode(targets[0]).size()) + 1);
  EXPECT_EQ(scores[1].tokens, 0);
  const IdPair coded = encode_pair(encoding, sources[0], targets[0]);
  EXPECT_EQ(coded.source.front(), encoding.languages.source);
  EXPECT_EQ(coded.target.front(), encoding.languages.target);
  const auto other = score_pairs(translator->model(), {pieces, translator->choose_languages({"en", "fr"}).tokens},
                                 sources, targets, {});
  EXPECT_NE(scores[0].log_prob, other[0].log_prob) << "the model sees the code";
}

TEST(Languages, EachPartOfALongLineHasBothCodes) {
  const auto translator = many_translator(1, 24);
  base::Random random(5);
  TranslationRequest request{.text = random_line(random, 40)};
  request.languages = translator->choose_languages({"en", "de"}).tokens;
  const Translation seen = translator->translate_requests({&request, 1}, {}).front();
  const auto sources = std::ranges::count(seen.source_pieces, ">>eng_Latn<<");
  EXPECT_GT(sources, 1);
  EXPECT_EQ(std::ranges::count(seen.pieces, ">>deu_Latn<<"), sources);
  EXPECT_EQ(seen.text.find(">>"), std::string::npos) << seen.text;
}

TEST(Languages, InspectionAndStreamsSeeTheSame) {
  const auto translator = many_translator();
  TranslationRequest request{.text = "the cat runs and the dog sleeps"};
  request.languages = translator->choose_languages({"en", "fr"}).tokens;
  std::string streamed;
  request.on_token = [&](const StreamedToken& token) {
    streamed = token.text;
    return true;
  };
  const Translation seen = translator->translate_requests({&request, 1}, {}).front();
  EXPECT_EQ(streamed, seen.text);
  const Inspection inspection(*translator, {.text = request.text, .options = {}, .languages = request.languages});
  EXPECT_EQ(inspection.source(), encode_source(translator->source_vocabulary(), request.text, request.languages));
  EXPECT_EQ(inspection.written(), seen.text);
  EXPECT_EQ(inspection.predicted().front(), request.languages.target);
}

}  // namespace
}  // namespace dragoman::decoding
