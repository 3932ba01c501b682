// Requests as text, and requests submitted from many threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "decoding/search/banned_phrases.h"
#include "decoding/translator.h"
#include "support/error_of.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

class TranslationRequests : public testing::Test {
 protected:
  Translator translator_{tiny_model(nn::NormOrder::kPost, 1, vocabulary().size()),
                         vocabulary(),
                         vocabulary(),
                         {.threads = {.workers = 2}}};
  SearchOptions options_ = [] {
    SearchOptions options;
    options.length.max_length_extra = 20;
    return options;
  }();

  Translation translate(const TranslationRequest& request) const {
    return translator_.translate_requests({&request, 1}, options_).at(0);
  }
};

TEST_F(TranslationRequests, PlainOnesAreTranslate) {
  const std::vector<std::string> lines = {"the cat runs", "", "the red mouse, the dog"};
  const auto expected = translator_.translate(lines, options_);
  std::vector<TranslationRequest> requests(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    requests[i].text = lines[i];
  }
  const auto seen = translator_.translate_requests(requests, options_);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(seen[i].text, expected[i].text);
    EXPECT_EQ(seen[i].score, expected[i].score);
  }
}

TEST_F(TranslationRequests, ATranslationBeginsWithItsPrefix) {
  for (const int beam_size : {1, 4}) {
    options_.beam_size = beam_size;
    options_.output.alignment = true;
    TranslationRequest request{.text = "the cat runs", .prefix = "the red house "};
    const Translation translation = translate(request);
    EXPECT_THAT(translation.text, testing::StartsWith("the red house"));
    EXPECT_EQ(translation.warning, "");
    EXPECT_EQ(translation.alignment.target_length, static_cast<int64_t>(translation.ids.size()));
    EXPECT_EQ(translation.pieces.size(), translation.ids.size());
    request.prefix = "the \xE7\x8C\xAB";
    EXPECT_THAT(translate(request).warning, testing::HasSubstr("the prefix has characters"));
  }
}

TEST_F(TranslationRequests, PhrasesAndTermsAppear) {
  const std::vector<std::string> lines = {"cat\tgreen mouse", "dog\thouse"};
  TranslationRequest request{.text = "the cat runs", .phrases = {"red dog", "\xE7\x8C\xAB"}};
  request.terms = std::make_shared<TermTable>(lines, "terms");
  const Translation translation = translate(request);
  EXPECT_THAT(translation.text, testing::HasSubstr("green mouse"));
  EXPECT_THAT(translation.text, testing::HasSubstr("red dog"));
  EXPECT_THAT(translation.warning, testing::HasSubstr("\"\xE7\x8C\xAB\" has characters that the model does not know"));
  options_.length.max_length_ratio = 0;
  options_.length.max_length_extra = 2;
  const Translation cut = translate(request);
  EXPECT_EQ(cut.finish_reason, FinishReason::kPhrasesMissing);
  EXPECT_THAT(cut.warning, testing::HasSubstr("the translation ended without "));
}

TEST_F(TranslationRequests, APhraseThatIsDemandedAndBannedIsRefused) {
  const std::vector<std::string> banned = {"mouse"};
  options_.rules.banned = std::make_shared<BannedPhrases>(vocabulary(), banned);
  EXPECT_EQ(test_support::error_of([&] { translate({.text = "the cat runs", .phrases = {"green mouse"}}); }),
            "phrases: \"green mouse\" is demanded, and \"mouse\" is banned; leave out one of them");
  EXPECT_THAT(translate({.text = "the cat runs", .phrases = {"green"}}).text, testing::HasSubstr("green"));
}

TEST_F(TranslationRequests, AStreamEndsWithTheTranslation) {
  for (const int beam_size : {1, 4}) {
    options_.beam_size = beam_size;
    base::Random random(5);
    for (const uint64_t words : {4, 90}) {  // the second is translated in parts
      TranslationRequest request{.text = random_line(random, words)};
      std::vector<StreamedToken> tokens;
      request.on_token = [&](const StreamedToken& token) {
        tokens.push_back(token);
        return true;
      };
      const Translation translation = translate(request);
      ASSERT_EQ(tokens.size(), translation.ids.size()) << words << " words";
      for (size_t i = 0; i < tokens.size(); ++i) {
        EXPECT_EQ(tokens[i].position, i);
        EXPECT_EQ(tokens[i].id, translation.ids[i]);
        EXPECT_EQ(tokens[i].piece, translation.pieces[i]);
      }
      EXPECT_EQ(tokens.back().text, translation.text) << words << " words";
    }
  }
}

TEST_F(TranslationRequests, SubmittedFromManyThreadsTheyGetTheirOwnTranslations) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 12;
  base::Random random(6);
  std::vector<std::string> lines;
  for (size_t i = 0; i < kThreads * kEach; ++i) {
    lines.push_back(i % 10 == 7 ? "" : random_line(random, 1 + random.below(i % 11 == 3 ? 90 : 9)));
  }
  std::vector<SearchOptions> options(2, options_);
  options[1].beam_size = 1;
  options[1].output.alignment = true;
  options[1].sampling.temperature = 0.8;
  const std::vector<std::vector<Translation>> expected = {translator_.translate(lines, options[0]),
                                                          translator_.translate(lines, options[1])};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::future<Translation>> futures;
      for (size_t i = t * kEach; i < (t + 1) * kEach; ++i) {
        futures.push_back(translator_.submit({.text = lines[i]}, options[i % 2]));
      }
      for (size_t i = t * kEach; i < (t + 1) * kEach; ++i) {
        const Translation seen = futures[i - t * kEach].get();
        EXPECT_EQ(seen.text, expected[i % 2][i].text) << "line " << i;
        EXPECT_EQ(seen.score, expected[i % 2][i].score) << "line " << i;
        EXPECT_EQ(seen.warning, expected[i % 2][i].warning) << "line " << i;
        EXPECT_EQ(seen.alignment.weights, expected[i % 2][i].alignment.weights) << "line " << i;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(TranslationRequests, ErrorsOfOneReachItsOwnFutureOnly) {
  options_.execution.workers = 1;  // not read by submit
  const std::string line = "the green cat sleeps";
  const Translation expected = translator_.translate({&line, 1}, options_).at(0);
  for (int round = 0; round < 3; ++round) {
    auto good = translator_.submit({.text = line}, options_);
    auto throwing = translator_.submit(
        {.text = line, .on_token = [](const StreamedToken&) -> bool { throw std::runtime_error("mine"); }}, options_);
    auto too_long = translator_.submit({.text = line, .prefix = std::string(400, 'g')}, options_);
    SearchOptions sampling = options_;
    sampling.sampling.temperature = 1.0;
    auto impossible = translator_.submit({.text = line, .phrases = {"cat"}}, sampling);
    auto also_good = translator_.submit({.text = line}, options_);
    EXPECT_EQ(good.get().text, expected.text);
    EXPECT_THROW(throwing.get(), std::runtime_error);
    EXPECT_THAT(test_support::error_of([&] { too_long.get(); }), testing::HasSubstr("the model takes 80 tokens"));
    EXPECT_THAT(test_support::error_of([&] { impossible.get(); }), testing::HasSubstr("phrases: sampling"));
    EXPECT_EQ(also_good.get().score, expected.score);
  }
  SearchOptions wrong = options_;
  wrong.beam_size = 0;
  EXPECT_THROW(translator_.submit({.text = line}, wrong), base::Error);
}

TEST_F(TranslationRequests, SubmittedOnesCanBeCancelledAndAreAllAnswered) {
  std::vector<std::future<Translation>> futures;
  {
    const Translator translator(tiny_model(nn::NormOrder::kPost, 1, vocabulary().size()), vocabulary(), vocabulary());
    std::stop_source stop;
    stop.request_stop();
    for (int i = 0; i < 20; ++i) {
      TranslationRequest request{.text = "the dog runs and sleeps"};
      if (i % 2 == 0) {
        request.cancel = stop.get_token();
      }
      futures.push_back(translator.submit(std::move(request), options_));
    }
  }
  for (size_t i = 0; i < futures.size(); ++i) {
    const Translation translation = futures[i].get();
    EXPECT_EQ(translation.finish_reason == FinishReason::kCancelled, i % 2 == 0) << "request " << i;
  }
}

}  // namespace
}  // namespace dragoman::decoding
