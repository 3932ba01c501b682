// Text in, text out, with a tiny random Transformer and a vocabulary learned from a few sentences.
#include "decoding/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/utf8.h"
#include "decoding/generator.h"
#include "decoding/inspection/attention_capture.h"
#include "decoding/scorer.h"
#include "decoding/text_splitter.h"
#include "models/architectures/architectures.h"
#include "report/attention_page.h"
#include "support/error_of.h"
#include "tiny_language_model.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

Translator make_translator(int64_t max_positions = 80) {
  return {tiny_model(nn::NormOrder::kPost, 1, vocabulary().size(), max_positions), vocabulary(), vocabulary()};
}

SearchOptions options_of(int workers = 1) {
  SearchOptions options;
  options.execution.workers = workers;
  options.length.max_length_extra = 10;
  return options;
}

TEST(Translator, KeepsTheOrderAndTheNumberOfLines) {
  const Translator translator = make_translator();
  base::Random random(2);
  std::vector<std::string> lines;
  for (int line = 0; line < 30; ++line) {
    lines.push_back(line % 7 == 3 ? (line % 2 == 0 ? "" : " \t ") : random_line(random, 1 + random.below(9)));
  }
  const auto together = translator.translate(lines, options_of());
  const auto two_workers = translator.translate(lines, options_of(2));
  ASSERT_EQ(together.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto alone = translator.translate({&lines[i], 1}, options_of());
    EXPECT_EQ(alone.at(0).text, together[i].text) << "line " << i;
    EXPECT_EQ(alone.at(0).score, together[i].score) << "line " << i;
    EXPECT_EQ(two_workers[i].text, together[i].text) << "line " << i;
    EXPECT_EQ(two_workers[i].score, together[i].score) << "line " << i;
    EXPECT_EQ(together[i].text, vocabulary().decode(together[i].ids)) << "line " << i;
    EXPECT_EQ(together[i].pieces.size(), together[i].ids.size()) << "line " << i;
    EXPECT_EQ(together[i].warning, "") << "line " << i;
    if (i % 7 == 3) {
      EXPECT_EQ(together[i].text, "") << "blank line " << i;
      EXPECT_TRUE(together[i].source_pieces.empty()) << "blank line " << i;
    } else {
      EXPECT_EQ(together[i].source_pieces.back(), vocabulary().piece(data::kEosId)) << "line " << i;
    }
  }
}

TEST(Translator, NoLinesGiveNothing) {
  EXPECT_TRUE(make_translator().translate({}, options_of()).empty());
}

TEST(Translator, AnyBytesAreAccepted) {
  const Translator translator = make_translator();
  const std::vector<std::string> lines = {"the cat \xFF\xFE runs", std::string("nul \0 inside", 12),
                                          "caf\xC3\xA9 \xF0\x9F\x90\xB1 \xE2\x80\xA8 cat", "\xC3"};
  for (const Translation& translation : translator.translate(lines, options_of())) {
    EXPECT_TRUE(base::is_valid_utf8(translation.text));
    EXPECT_EQ(translation.text.find('\n'), std::string::npos);
  }
}

TEST(Translator, AlternativesAreRankedAndDiffer) {
  const Translator translator = make_translator();
  SearchOptions options = options_of();
  options.n_best = 4;
  const std::string line = "the red cat sleeps";
  const Translation translation = translator.translate({&line, 1}, options).at(0);
  ASSERT_EQ(translation.alternatives.size(), 3U);
  double before = translation.normalised_score;
  for (const Translation& alternative : translation.alternatives) {
    EXPECT_LE(alternative.normalised_score, before);
    EXPECT_NE(alternative.ids, translation.ids);
    before = alternative.normalised_score;
  }
}

TEST(Translator, LongLinesAreSplitWithAWarning) {
  const Translator translator = make_translator(20);
  base::Random random(3);
  const std::vector<std::string> lines = {"the cat", random_line(random, 60), "the dog"};
  SearchOptions options = options_of();
  options.n_best = 2;
  options.output.alignment = true;
  const auto translations = translator.translate(lines, options);
  EXPECT_EQ(translations[0].warning, "");
  EXPECT_THAT(translations[1].warning, testing::MatchesRegex("[0-9]+ tokens, the model takes 20: translated in .*"));
  const auto parts = split_long_text(vocabulary(), lines[1], 20);
  ASSERT_GT(parts.size(), 2U);
  std::string joined;
  size_t source_pieces = 0;
  for (const Translation& part : translator.translate(parts, options)) {
    joined += (joined.empty() || part.text.empty() ? "" : " ") + part.text;
    source_pieces += part.source_pieces.size();
  }
  EXPECT_EQ(translations[1].text, joined);
  EXPECT_EQ(translations[1].source_pieces.size(), source_pieces);
  EXPECT_EQ(translations[1].alignment.weights.size(), source_pieces * translations[1].ids.size());
  EXPECT_EQ(translations[1].alternatives.size(), 1U);
}

TEST(Translator, RefusesAVocabularyOfAnotherModel) {
  const auto model = tiny_model(nn::NormOrder::kPost, 1, vocabulary().size() + 1);
  EXPECT_THROW(Translator(model, vocabulary(), vocabulary()), base::Error);
}

TEST(Translator, InferenceCopyTranslatesAsTheModelItCopies) {
  const auto model = tiny_model(nn::NormOrder::kPre, 5, vocabulary().size());
  const Translator direct(model, vocabulary(), vocabulary());
  const Translator copied(models::make_inference_model(*model), vocabulary(), vocabulary());
  const std::string line = "the green mouse runs and the dog sleeps";
  const auto expected = direct.translate({&line, 1}, options_of()).at(0);
  const auto seen = copied.translate({&line, 1}, options_of()).at(0);
  EXPECT_EQ(expected.text, seen.text);
  EXPECT_EQ(expected.score, seen.score);
}

TEST(TextSplitter, LosesOnlyBlanksAndEveryPartFits) {
  base::Random random(4);
  const auto without_spaces = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  for (int round = 0; round < 20; ++round) {
    std::string text = random_line(random, 5 + random.below(200));
    if (round % 3 == 0) {
      std::erase(text, ' ');  // no word ends at all
    }
    std::string joined;
    for (const std::string& part : split_long_text(vocabulary(), text, 12)) {
      EXPECT_LE(data::encode_source(vocabulary(), part).size(), 12U) << part;
      EXPECT_FALSE(part.starts_with(' ') || part.ends_with(' ')) << part;
      joined += part;
    }
    EXPECT_EQ(without_spaces(joined), without_spaces(text));
  }
}

TEST(TextSplitter, PrefersSentenceEndsThenCommasThenSpaces) {
  const auto tokens = [](const char* text) { return data::encode_source(vocabulary(), text).size(); };
  const char* sentences = "the cat runs, and runs. the dog, the mouse sleeps";
  EXPECT_EQ(split_long_text(vocabulary(), sentences, tokens(sentences) - 1).at(0), "the cat runs, and runs.");
  const char* clauses = "the cat runs and runs, the dog the mouse sleeps";
  EXPECT_EQ(split_long_text(vocabulary(), clauses, tokens(clauses) - 1).at(0), "the cat runs and runs,");
  const char* words = "the cat runs and the dog runs";
  EXPECT_EQ(split_long_text(vocabulary(), words, tokens(words) - 1).at(0), "the cat runs");
  EXPECT_EQ(split_long_text(vocabulary(), words, tokens(words)), std::vector<std::string>{words});
}

TEST(TextSplitter, NeverCutsInsideACharacter) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "\xE6\x97\xA5\xF0\x9F\x90\xB1";
  }
  const auto parts = split_long_text(vocabulary(), text, 8);
  for (const std::string& part : parts) {
    EXPECT_TRUE(base::is_valid_utf8(part));
  }
}

TEST(Scorer, AgreesWithTheSearchAboutItsOwnTranslations) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const auto sources = random_sources(30, 6);
  SearchOptions options = options_of();
  options.n_best = 4;
  options.length.max_length_extra = 40;
  const auto outputs = ParallelSearch(model).run(sources, options);
  std::vector<IdPair> pairs;
  std::vector<double> expected;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Hypothesis& hypothesis : outputs[i].hypotheses) {
      if (hypothesis.finish_reason == FinishReason::kEndOfSentence) {
        pairs.push_back({sources[i], hypothesis.ids});
        expected.push_back(hypothesis.score);
      }
    }
  }
  ASSERT_GT(pairs.size(), 10U) << "too few translations end by themselves to test anything";
  const auto scores = score_ids(*model, pairs, {});
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_NEAR(scores[i].log_prob, expected[i], 1e-4) << "pair " << i;
    EXPECT_EQ(static_cast<size_t>(scores[i].tokens), pairs[i].target.size() + 1);
  }
}

TEST(Scorer, APairDoesNotDependOnTheOthers) {
  const Translator translator = make_translator();
  base::Random random(7);
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (int line = 0; line < 20; ++line) {
    sources.push_back(line == 4 ? "" : random_line(random, 1 + random.below(8)));
    targets.push_back(line == 4 || line == 9 ? "" : random_line(random, 1 + random.below(8)));
  }
  const auto score = [&](std::span<const std::string> source, std::span<const std::string> target,
                         const ScoreOptions& options) {
    return score_pairs(translator.model(), {{vocabulary(), vocabulary()}}, source, target, options);
  };
  const auto together = score(sources, targets, {});
  const auto small_batches = score(sources, targets, {7, 2});
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(score({&sources[i], 1}, {&targets[i], 1}, {}).at(0).log_prob, together[i].log_prob) << "line " << i;
    EXPECT_EQ(small_batches[i].log_prob, together[i].log_prob) << "line " << i;
  }
  EXPECT_EQ(together[4].tokens, 0) << "two blank lines score nothing";
  EXPECT_EQ(together[9].tokens, 1) << "a blank target has only its end";
  double log_prob = 0.0;
  double tokens = 0.0;
  for (const PairScore& pair : together) {
    log_prob += pair.log_prob;
    tokens += static_cast<double>(pair.tokens);
  }
  EXPECT_DOUBLE_EQ(perplexity(together), std::exp(-log_prob / tokens));
}

// Pairs whose sources have 3, 3, 6 and 2 tokens, by a model of one kind of norm.
class ScorerStatistics : public testing::TestWithParam<nn::NormOrder> {
 protected:
  static std::shared_ptr<models::Transformer> model_with(kernels::NormKind norm) {
    models::TransformerConfig config = test_support::tiny_config();
    config.norm_order = GetParam();
    config.layer.norm = norm;
    auto model = std::make_shared<models::Transformer>(config);
    model->parameters().allocate();
    model->parameters().initialize(3);
    model->parameters().pack_weights();
    return model;
  }

  static std::vector<double> log_probs(const models::Model& model, std::span<const IdPair> pairs, int64_t batch,
                                       bool padded) {
    ScoreOptions options;
    options.batch_statistics = batch;
    options.padded_statistics = padded;
    std::vector<double> values;
    std::ranges::transform(score_ids(model, pairs, options), std::back_inserter(values), &PairScore::log_prob);
    return values;
  }

  const std::vector<IdPair> pairs_ = {{{5, 6, data::kEosId}, {7, 8}},
                                      {{9, 10, data::kEosId}, {11}},
                                      {{12, 13, 14, 15, 16, data::kEosId}, {17, 18, 19}},
                                      {{20, data::kEosId}, {21, 22}}};
};
INSTANTIATE_TEST_SUITE_P(Orders, ScorerStatistics, testing::Values(nn::NormOrder::kPost, nn::NormOrder::kPre));

TEST_P(ScorerStatistics, OfBatchesMakeAPairDependOnItsBatchAlone) {
  const auto model = model_with(kernels::NormKind::kBatch);
  const std::vector<double> kept = log_probs(*model, pairs_, 0, false), by_two = log_probs(*model, pairs_, 2, false),
                            last_two = log_probs(*model, std::span(pairs_).subspan(2), 2, false);
  EXPECT_EQ(by_two[2], last_two[0]);
  EXPECT_EQ(by_two[3], last_two[1]);
  const std::vector<double> by_four = log_probs(*model, pairs_, 4, false);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    EXPECT_NE(by_two[i], by_four[i]) << i;
    EXPECT_NE(by_two[i], kept[i]) << i;
  }
}

TEST_P(ScorerStatistics, PaddingCountsWhereSourcesDifferInLength) {
  const auto model = model_with(kernels::NormKind::kBatch);
  const std::vector<double> plain = log_probs(*model, pairs_, 2, false), padded = log_probs(*model, pairs_, 2, true);
  EXPECT_EQ(plain[0], padded[0]);
  EXPECT_EQ(plain[1], padded[1]);
  EXPECT_NE(plain[2], padded[2]);
  EXPECT_NE(plain[3], padded[3]);
}

TEST_P(ScorerStatistics, OtherNormsKnowNoBatch) {
  for (const auto norm : {kernels::NormKind::kLayer, kernels::NormKind::kRms}) {
    const auto model = model_with(norm);
    EXPECT_EQ(log_probs(*model, pairs_, 2, true), log_probs(*model, pairs_, 0, false));
  }
}

TEST(Scorer, NamesTheLineThatIsTooLongAndUnequalCounts) {
  const Translator translator = make_translator(16);
  base::Random random(8);
  const std::vector<std::string> sources = {"the cat", random_line(random, 40)};
  const auto message_of = [&](std::span<const std::string> source, std::span<const std::string> target) {
    return test_support::error_of([&] {
      score_pairs(translator.model(), {{vocabulary(), vocabulary()}}, source, target, {});
    });
  };
  EXPECT_THAT(message_of(sources, sources), testing::HasSubstr("source line 2: "));
  EXPECT_THAT(message_of({sources.data(), 1}, {sources.data() + 1, 1}), testing::HasSubstr("target line 1: "));
  EXPECT_THAT(message_of(sources, {sources.data(), 1}), testing::HasSubstr("the source has 2 lines, the target 1"));
}

TEST(AttentionCapture, FillsEveryGridOfThePage) {
  const Translator translator = make_translator();
  const std::string line = "the red cat sleeps";
  const Translation translation = translator.translate({&line, 1}, options_of()).at(0);
  const report::AttentionPageData page = capture_attention(translator, line, translation);
  for (const report::AttentionGrid* grid : {&page.encoder_self, &page.decoder_self, &page.cross}) {
    ASSERT_EQ(grid->size(), 2U) << "layers";
    ASSERT_EQ(grid->front().size(), 4U) << "heads";
  }
  EXPECT_EQ(page.decoder_pieces.size(), page.target_pieces.size());
  EXPECT_EQ(page.encoder_self[1][3].size(), page.source_pieces.size() * page.source_pieces.size());
  EXPECT_EQ(page.cross[0][0].size(), page.target_pieces.size() * page.source_pieces.size());
  EXPECT_THAT(report::attention_page(page), testing::HasSubstr("<html"));
  EXPECT_THROW(capture_attention(translator, "  ", translation), base::Error);
}

TEST(AttentionCapture, OfALanguageModelHasOneGrid) {
  const Generator generator(tiny_language_model(), letters(), ServiceThreads{.workers = 1});
  const GenerationRequest request{.prompt = "the cat\n", .max_tokens = 4};
  const Continuation continuation = generator.generate({&request, 1}, {}).front();
  const report::AttentionPageData page = capture_attention(generator, request.prompt, continuation);
  EXPECT_TRUE(page.encoder_self.empty() && page.cross.empty());
  ASSERT_EQ(page.decoder_self.size(), 2U) << "layers";
  ASSERT_EQ(page.decoder_self.front().size(), 2U) << "heads";
  const size_t rows = page.decoder_pieces.size();
  EXPECT_GE(rows, continuation.prompt_ids.size() + continuation.ids.size() - 1);
  EXPECT_EQ(page.decoder_self[1][1].size(), rows * rows);
  EXPECT_FLOAT_EQ(page.decoder_self[0][0][0], 1.0F) << "the first piece sees itself alone";
  EXPECT_EQ(page.decoder_pieces[3], "\u2423");
  EXPECT_EQ(page.decoder_pieces[7], "\u23CE");
  EXPECT_THAT(report::attention_page(page), testing::HasSubstr(">prompt<"));
}

}  // namespace
}  // namespace dragoman::decoding
