// Hypotheses in the order of a reverse model: the formula, and that nothing else changes.
#include "decoding/reranker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "decoding/translator.h"
#include "support/error_of.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

class Reranking : public testing::Test {
 protected:
  static std::shared_ptr<models::Transformer> model(uint64_t seed, int64_t max_positions = 80) {
    return tiny_model(nn::NormOrder::kPost, seed, vocabulary().size(), max_positions);
  }
  static Translator with_reverse(const std::shared_ptr<models::Transformer>& forward,
                                 const std::shared_ptr<models::Transformer>& reverse) {
    return {forward,
            vocabulary(),
            vocabulary(),
            {.reranker = std::make_shared<Reranker>(reverse, vocabulary(), vocabulary())}};
  }
  static std::vector<std::string> random_lines(size_t count) {
    base::Random random(4);
    std::vector<std::string> lines;
    for (size_t i = 0; i < count; ++i) {
      lines.push_back(i % 9 == 5 ? "" : random_line(random, 1 + random.below(9)));
    }
    return lines;
  }
  static std::vector<Translation> all_of(const Translation& translation) {
    std::vector<Translation> all = {translation};
    all.insert(all.end(), translation.alternatives.begin(), translation.alternatives.end());
    return all;
  }

  std::shared_ptr<models::Transformer> forward_ = model(1);
  std::shared_ptr<models::Transformer> reverse_ = model(2);
  Translator plain_{forward_, vocabulary(), vocabulary()};
  Translator reranking_ = with_reverse(forward_, reverse_);
  SearchOptions options_ = [] {
    SearchOptions options;
    options.length.max_length_extra = 10;
    options.n_best = 4;
    options.ranking.reverse_weight = 0.7;
    return options;
  }();
};

TEST_F(Reranking, HypothesesStandInTheOrderOfTheFormula) {
  const std::vector<std::string> lines = random_lines(40);
  const auto searched = plain_.translate(lines, options_);
  const auto ranked = reranking_.translate(lines, options_);
  int changed = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::map<std::vector<int32_t>, Translation> before;
    for (const Translation& hypothesis : all_of(searched[i])) {
      before[hypothesis.ids] = hypothesis;
    }
    double last = std::numeric_limits<double>::infinity();
    ASSERT_EQ(ranked[i].alternatives.size(), searched[i].alternatives.size()) << "line " << i;
    for (const Translation& hypothesis : all_of(ranked[i])) {
      if (lines[i].empty()) {
        EXPECT_FALSE(hypothesis.reverse_score) << "a blank line";
        continue;
      }
      ASSERT_TRUE(before.contains(hypothesis.ids)) << "line " << i << ": a hypothesis the search did not find";
      const Translation& same = before[hypothesis.ids];
      EXPECT_EQ(hypothesis.text, same.text);
      EXPECT_EQ(hypothesis.score, same.score) << "line " << i;
      const double reverse =
          score_pairs(*reverse_, {{vocabulary(), vocabulary()}}, {&hypothesis.text, 1}, {&lines[i], 1}, {})
              .at(0)
              .log_prob;
      const double penalty = length_penalty(options_.ranking, static_cast<int64_t>(hypothesis.token_scores.size()));
      EXPECT_EQ(hypothesis.reverse_score, reverse) << "line " << i;
      EXPECT_NEAR(hypothesis.normalised_score, (same.score + 0.7 * reverse) / penalty, 1e-9) << "line " << i;
      EXPECT_LE(hypothesis.normalised_score, last) << "line " << i;
      last = hypothesis.normalised_score;
    }
    EXPECT_EQ(ranked[i].source_pieces, searched[i].source_pieces) << "line " << i;
    changed += ranked[i].ids != searched[i].ids ? 1 : 0;
  }
  EXPECT_GE(changed, 5) << "of 40 random lines";
}

TEST_F(Reranking, AllHypothesesAreLookedAtHoweverFewAreWanted) {
  const std::vector<std::string> lines = random_lines(20);
  const auto many = reranking_.translate(lines, options_);
  options_.n_best = 1;
  options_.output.scores = false;
  const auto one = reranking_.translate(lines, options_);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(one[i].ids, many[i].ids) << "line " << i;
    EXPECT_EQ(one[i].normalised_score, many[i].normalised_score) << "line " << i;
    EXPECT_TRUE(one[i].alternatives.empty()) << "line " << i;
  }
}

TEST_F(Reranking, ALineGetsTheSameAloneInABatchAndSubmittedInEveryPrecision) {
  const std::vector<std::string> lines = random_lines(30);
  for (const auto precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    forward_->parameters().pack_weights(precision);
    reverse_->parameters().pack_weights(precision);
    const Translator translator = with_reverse(forward_, reverse_);
    options_.execution.workers = 1;
    const auto together = translator.translate(lines, options_);
    options_.execution.workers = 2;
    const auto by_two = translator.translate(lines, options_);
    for (size_t i = 0; i < lines.size(); ++i) {
      const auto alone = translator.translate({&lines[i], 1}, options_).at(0);
      const auto submitted = translator.submit({.text = lines[i]}, options_).get();
      for (const Translation& seen : {by_two[i], alone, submitted}) {
        EXPECT_EQ(seen.text, together[i].text) << "line " << i << " in " << name_of(precision);
        EXPECT_EQ(seen.normalised_score, together[i].normalised_score) << "line " << i << " in " << name_of(precision);
        EXPECT_EQ(seen.reverse_score, together[i].reverse_score) << "line " << i << " in " << name_of(precision);
      }
    }
  }
}

TEST_F(Reranking, LeavesTheOrderOfTheSearchWhereItDoesNotApply) {
  const std::vector<std::string> lines = random_lines(10);
  std::vector<SearchOptions> kinds(4, options_);
  kinds[0].ranking.reverse_weight = 0.0;
  kinds[1].beam_size = 1;
  kinds[1].n_best = 1;
  kinds[2].sampling.temperature = 0.9;
  kinds[3].alternatives = true;
  for (const SearchOptions& options : kinds) {
    const auto expected = plain_.translate(lines, options);
    const auto seen = reranking_.translate(lines, options);
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(seen[i].text, expected[i].text) << "line " << i;
      EXPECT_EQ(seen[i].normalised_score, expected[i].normalised_score) << "line " << i;
      EXPECT_FALSE(seen[i].reverse_score) << "line " << i;
    }
  }
}

TEST_F(Reranking, APairTooLongForTheReverseModelKeepsItsOrder) {
  const Translator translator = with_reverse(forward_, model(2, 12));
  const std::vector<std::string> lines = {"the cat", "the cat runs and the dog sleeps and the red mouse runs"};
  options_.length.max_length_ratio = 0;
  const auto expected = plain_.translate(lines, options_);
  const auto seen = translator.translate(lines, options_);
  EXPECT_FALSE(seen[1].reverse_score);
  EXPECT_EQ(seen[1].text, expected[1].text);
}

TEST_F(Reranking, PartsOfALongLineAreRankedApartAndStreamedAtTheirEnd) {
  base::Random random(5);
  for (const uint64_t words : {4, 90}) {
    TranslationRequest request{.text = random_line(random, words)};
    std::vector<StreamedToken> tokens;
    request.on_token = [&](const StreamedToken& token) {
      tokens.push_back(token);
      return true;
    };
    const Translation translation = reranking_.translate_requests({&request, 1}, options_).at(0);
    ASSERT_EQ(tokens.size(), translation.ids.size()) << words << " words";
    for (size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(tokens[i].id, translation.ids[i]) << words << " words";
    }
    EXPECT_EQ(tokens.back().text, translation.text) << words << " words";
  }
}

TEST_F(Reranking, ACallbackThatThrowsFailsItsLineAlone) {
  std::vector<TranslationRequest> requests = {{.text = "the cat runs"}, {.text = "the dog"}};
  requests[0].on_token = [](const StreamedToken&) -> bool { throw std::runtime_error("mine"); };
  const auto seen = reranking_.translate_requests(requests, options_, OnError::kReport);
  EXPECT_EQ(seen[0].error, "mine");
  EXPECT_EQ(seen[1].text, reranking_.translate({&requests[1].text, 1}, options_).at(0).text);
  EXPECT_THROW(reranking_.translate_requests(requests, options_), std::runtime_error);
}

TEST_F(Reranking, WrongOptionsAreRefused) {
  options_.n_best = 5;
  EXPECT_THAT(test_support::error_of([&] { reranking_.translate({}, options_); }),
              testing::HasSubstr("n_best is 5, must be 1 to beam_size (4)"));
}

}  // namespace
}  // namespace dragoman::decoding
