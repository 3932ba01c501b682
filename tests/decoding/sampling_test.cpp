// Laws of sampling, over tables written by hand and a tiny Transformer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "decoding/parallel_search.h"
#include "decoding/search/sampler.h"
#include "table_model.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

SearchOptions sampling(double temperature, int n_samples = 1) {
  SearchOptions options;
  options.sampling.temperature = temperature;
  options.n_best = n_samples;
  options.length.max_length_extra = 20;
  return options;
}

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double probability : probabilities) {
    logits.push_back(static_cast<float>(std::log(probability)) + 2.5F);  // any constant
  }
  return logits;
}

// Chi-square of `count` draws against the probabilities expected; those of 0 must not come at all.
double chi_square(const SearchOptions& options, const std::vector<double>& drawn_from,
                  const std::vector<double>& expected, int count) {
  Sampler sampler(options);
  base::Random random(3);
  std::vector<int> seen(drawn_from.size());
  const std::vector<float> logits = logits_of(drawn_from);
  for (int i = 0; i < count; ++i) {
    ++seen[static_cast<size_t>(sampler.draw(logits, random.uniform()))];
  }
  double sum = 0.0;
  for (size_t id = 0; id < expected.size(); ++id) {
    if (expected[id] == 0.0) {
      EXPECT_EQ(seen[id], 0) << "token " << id << " is outside the set";
      continue;
    }
    const double mean = expected[id] * count;
    sum += (seen[id] - mean) * (seen[id] - mean) / mean;
  }
  return sum;
}

constexpr double kUnlikely = 27.9;  // chi-square with 4 degrees of freedom exceeds it once in 76,000 times
const std::vector<double> kFive = {0.4, 0.3, 0.15, 0.1, 0.05};

TEST(Sampler, MinPLeavesOutWhatIsFarLessLikelyThanTheLikeliest) {
  SearchOptions options = sampling(1.0);
  options.sampling.min_p = 0.3;  // of 0.4: at least 0.12
  EXPECT_LT(chi_square(options, kFive, {0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85, 0.0, 0.0}, 20000), kUnlikely);
  options.sampling.top_p = 0.6;  // comes first, and keeps two
  EXPECT_LT(chi_square(options, kFive, {0.4 / 0.7, 0.3 / 0.7, 0.0, 0.0, 0.0}, 20000), kUnlikely);
  options.sampling.top_p = 0.99;
  EXPECT_LT(chi_square(options, kFive, {0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85, 0.0, 0.0}, 20000), kUnlikely);
}

TEST(Sampler, FrequenciesAreTheProbabilities) {
  EXPECT_LT(chi_square(sampling(1.0), kFive, kFive, 20000), kUnlikely);
}

TEST(Sampler, TemperatureRaisesToItsInversePower) {
  std::vector<double> squared;
  double sum = 0.0;
  for (const double p : kFive) {
    squared.push_back(p * p);
    sum += p * p;
  }
  for (double& p : squared) {
    p /= sum;
  }
  EXPECT_LT(chi_square(sampling(0.5), kFive, squared, 20000), kUnlikely);
  EXPECT_GT(chi_square(sampling(0.5), kFive, kFive, 20000), kUnlikely) << "the test could not fail";
}

TEST(Sampler, TopKAndTopPNeverLeaveTheirSet) {
  SearchOptions top_k = sampling(1.0);
  top_k.sampling.top_k = 2;
  EXPECT_LT(chi_square(top_k, kFive, {0.4 / 0.7, 0.3 / 0.7, 0, 0, 0}, 20000), kUnlikely);
  SearchOptions top_p = sampling(1.0);
  top_p.sampling.top_p = 0.72;
  EXPECT_LT(chi_square(top_p, kFive, {0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85, 0, 0}, 20000), kUnlikely);
  top_p.sampling.top_p = 0.1;
  EXPECT_LT(chi_square(top_p, kFive, {1, 0, 0, 0, 0}, 1000), kUnlikely);
  SearchOptions both = top_k;
  both.sampling.top_p = 0.5;  // of what top-k leaves: 0.4 / 0.7 is enough
  EXPECT_LT(chi_square(both, kFive, {1, 0, 0, 0, 0}, 1000), kUnlikely);
}

// Probabilities of a whole vocabulary, some nearly nothing, the likeliest not first.
std::vector<double> many_probabilities(size_t size) {
  std::vector<double> probabilities;
  double sum = 0.0;
  for (size_t id = 0; id < size; ++id) {
    probabilities.push_back(std::exp(-0.005 * static_cast<double>((id * 37) % size)));
    sum += probabilities.back();
  }
  for (double& p : probabilities) {
    p /= sum;
  }
  return probabilities;
}

// What top-k, then top-p leave of probabilities, renormalised, by sorting all of them.
std::vector<double> cut(const std::vector<double>& probabilities, size_t k, double top_p) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t id) { return probabilities[id]; });
  order.resize(std::min(k, order.size()));
  double sum = 0.0, reached = 0.0;
  for (const size_t id : order) {
    sum += probabilities[id];
  }
  std::vector<double> kept(probabilities.size(), 0.0);
  for (size_t i = 0; i < order.size() && reached < top_p * sum; ++i) {
    kept[order[i]] = probabilities[order[i]];
    reached += probabilities[order[i]];
  }
  for (double& p : kept) {
    p /= reached;
  }
  return kept;
}

TEST(Sampler, EveryUniformFindsItsTokenInALargeVocabulary) {
  constexpr size_t kVocab = 2000;
  const std::vector<double> probabilities = many_probabilities(kVocab);
  const std::vector<float> logits = logits_of(probabilities);
  for (const auto& [k, p] : std::vector<std::pair<int, double>>{{0, 1.0},
                                                                {5, 1.0},
                                                                {1024, 1.0},
                                                                {1025, 1.0},
                                                                {1999, 1.0},
                                                                {0, 0.01},
                                                                {0, 0.9},
                                                                {0, 0.99999},
                                                                {40, 0.5},
                                                                {1200, 0.8}}) {
    SearchOptions options = sampling(1.0);
    options.sampling.top_k = k;
    options.sampling.top_p = p;
    Sampler sampler(options);
    const std::vector<double> expected = cut(probabilities, k == 0 ? kVocab : static_cast<size_t>(k), p);
    std::vector<double> seen(kVocab);
    constexpr int kDraws = 5000;  // evenly spaced: each token comes as often as its share of [0, 1), give or take one
    for (int i = 0; i < kDraws; ++i) {
      seen[static_cast<size_t>(sampler.draw(logits, (i + 0.5) / kDraws))] += 1.0;
    }
    for (size_t id = 0; id < kVocab; ++id) {
      ASSERT_NEAR(seen[id], expected[id] * kDraws, 1.5) << "token " << id << ", top_k " << k << ", top_p " << p;
    }
  }
}

TEST(Sampler, TheColdestDrawIsTheLikeliest) {
  Sampler sampler(sampling(1e-300));
  EXPECT_EQ(sampler.draw(std::vector<float>{1.0F, 3.0F, 2.999999F, -INFINITY}, 0.999999), 1);
}

TEST(Sampler, TiesAreCutByTheLowerId) {
  SearchOptions options = sampling(1.0);
  options.sampling.top_k = 2;
  EXPECT_LT(chi_square(options, {0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0, 0}, 10000), kUnlikely);
}

TEST(Sampler, NothingPossibleIsMinusOne) {
  Sampler sampler(sampling(1.0));
  EXPECT_EQ(sampler.draw(std::vector<float>(4, -INFINITY), 0.5), -1);
  EXPECT_EQ(sampler.draw(std::vector<float>{-INFINITY, 1.0F}, 0.999999), 1);
}

TEST(Sampling, ColdIsGreedy) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const auto sources = random_sources(20, 21);
  SearchOptions greedy;
  greedy.beam_size = 1;
  greedy.length.max_length_extra = 20;
  const ParallelSearch search(model);
  const auto expected = search.run(sources, greedy);
  const auto cold = search.run(sources, sampling(1e-4));
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(cold[i].hypotheses.at(0).ids, expected[i].hypotheses.at(0).ids) << "sentence " << i;
    EXPECT_EQ(cold[i].hypotheses.at(0).token_scores, expected[i].hypotheses.at(0).token_scores) << "sentence " << i;
  }
}

TEST(Sampling, WholeSentencesComeAsOftenAsTheyAreProbable) {
  // ab 0.42, a 0.18, b 0.4.
  TableModel model(6, [](int32_t, const Ids& history) -> Table {
    if (history.empty()) {
      return {{4, 0.6}, {5, 0.4}};
    }
    return history == Ids{4} ? Table{{5, 0.7}, {data::kEosId, 0.3}} : Table{{data::kEosId, 1.0}};
  });
  std::map<Ids, double> seen;
  for (uint64_t sentence = 0; sentence < 100; ++sentence) {
    SentenceRequest request;
    request.random_stream = random_stream(Ids{static_cast<int32_t>(sentence)});
    for (const Hypothesis& hypothesis : search_one(model, sampling(1.0, 100), {0, 10}, request)) {
      seen[hypothesis.ids] += 1.0;
    }
  }
  double chi = 0.0;
  for (const auto& [ids, probability] : std::map<Ids, double>{{{4, 5}, 0.42}, {{4}, 0.18}, {{5}, 0.4}}) {
    chi += (seen[ids] - 10000 * probability) * (seen[ids] - 10000 * probability) / (10000 * probability);
  }
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_LT(chi, 18.4) << "chi-square with 2 degrees of freedom exceeds it once in 10,000 times";
}

void expect_same(const SearchResult& expected, const SearchResult& seen, size_t count, size_t sentence) {
  for (size_t rank = 0; rank < count; ++rank) {
    EXPECT_EQ(expected.hypotheses.at(rank).ids, seen.hypotheses.at(rank).ids) << "sentence " << sentence;
    EXPECT_EQ(expected.hypotheses[rank].token_scores, seen.hypotheses[rank].token_scores) << "sentence " << sentence;
    EXPECT_EQ(expected.hypotheses[rank].score, seen.hypotheses[rank].score) << "sentence " << sentence;
  }
}

TEST(Sampling, DependsOnSeedAndSourceAlone) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  const auto sources = random_sources(25, 22);
  SearchOptions options = sampling(0.9, 5);
  const auto expected = search.run(sources, options);
  std::set<Ids> distinct;
  for (size_t i = 0; i < sources.size(); ++i) {
    expect_same(search.run({&sources[i], 1}, options).at(0), expected[i], 5, i);
    for (const Hypothesis& hypothesis : expected[i].hypotheses) {
      distinct.insert(hypothesis.ids);
    }
  }
  EXPECT_GT(distinct.size(), 60U) << "samples must differ for this test";
  options.execution.workers = 3;
  options.execution.batch_tokens = 7;
  const auto others = search.run(sources, options);
  options.n_best = 2;
  const auto fewer = search.run(sources, options);
  options.sampling.seed = 2;
  const auto reseeded = search.run(sources, options);
  size_t changed = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    expect_same(expected[i], others[i], 5, i);
    expect_same(expected[i], fewer[i], 2, i);
    changed += reseeded[i].hypotheses[0].ids != expected[i].hypotheses[0].ids ? 1 : 0;
  }
  EXPECT_GT(changed, 15U) << "another seed draws other samples";
}

}  // namespace
}  // namespace dragoman::decoding
