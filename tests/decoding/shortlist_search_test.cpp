// Searches with a shortlist: a sentence is the same alone and in any company, and holds nothing it may not hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <numeric>

#include "decoding/inspection/inspection.h"
#include "decoding/parallel_search.h"
#include "decoding/search/candidates.h"
#include "decoding/search_service.h"
#include "decoding/steps/model_steps.h"
#include "id_phrases.h"
#include "search_in_groups.h"
#include "support/expect_error.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using List = std::shared_ptr<const Shortlist>;

constexpr int32_t kVocabSize = 700;

// `frequent` pieces for all, and `best` for each source piece, drawn at random.
List random_list(size_t frequent, size_t best, uint64_t seed) {
  base::Random random(seed);
  const auto draw = [&](size_t count) {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<int32_t>(random.below(kVocabSize)));
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  };
  std::vector<std::vector<int32_t>> lists(kVocabSize);
  std::ranges::generate(lists, [&] { return draw(best); });
  return std::make_shared<Shortlist>(kVocabSize, draw(frequent), lists);
}

List list_of_everything() {
  std::vector<int32_t> all(kVocabSize);
  std::iota(all.begin(), all.end(), 0);
  return std::make_shared<Shortlist>(kVocabSize, all, std::vector<std::vector<int32_t>>(kVocabSize));
}

SearchOptions options_of(int beam_size, int workers = 1) {
  SearchOptions options;
  options.beam_size = beam_size;
  options.n_best = std::min(beam_size, 2);
  options.execution.workers = workers;
  options.length.max_length_ratio = 0.5;
  options.length.max_length_extra = 8;
  options.shortlist = true;
  return options;
}

bool same(const SearchResult& a, const SearchResult& b) {
  return std::ranges::equal(a.hypotheses, b.hypotheses, [](const Hypothesis& x, const Hypothesis& y) {
    return x.ids == y.ids && x.token_scores == y.token_scores && x.score == y.score &&
           x.normalised_score == y.normalised_score && x.finish_reason == y.finish_reason;
  });
}

size_t count_differences(const std::vector<SearchResult>& expected, const std::vector<SearchResult>& seen) {
  size_t differences = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    differences += same(expected[i], seen.at(i)) ? 0 : 1;
  }
  return differences;
}

void expect_within_lists(const Shortlist& list, const Sources& sources, const std::vector<SearchResult>& outputs,
                         std::span<const SentenceRequest> requests = {}) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::vector<int32_t> allowed = list.allowed(sources[i], requests.empty() ? SentenceRequest() : requests[i]);
    for (const Hypothesis& hypothesis : outputs[i].hypotheses) {
      for (const int32_t id : hypothesis.ids) {
        EXPECT_TRUE(std::ranges::binary_search(allowed, id)) << "sentence " << i << " holds piece " << id;
      }
    }
  }
}

class ShortlistLaws : public testing::TestWithParam<kernels::Precision> {
 protected:
  ShortlistLaws() { model_->parameters().pack_weights(GetParam()); }
  ParallelSearch search_with(const List& list) const { return ParallelSearch({model_}, list); }

  std::shared_ptr<models::Transformer> model_ = tiny_model(nn::NormOrder::kPost, 1, kVocabSize);
  Sources sources_ = random_sources(150, 21, 40, kVocabSize);
};
INSTANTIATE_TEST_SUITE_P(Precisions, ShortlistLaws,
                         testing::Values(kernels::Precision::kFloat32, kernels::Precision::kBFloat16,
                                         kernels::Precision::kInt8),
                         [](const auto& precision) { return std::string(name_of(precision.param)); });

// Alone a sentence uses some columns, among 7 more of them, among 64 the whole product.
TEST_P(ShortlistLaws, ASentenceIsTheSameAloneAndInAnyBatch) {
  const List list = random_list(20, 6, 3);
  const ParallelSearch search = search_with(list);
  for (const int beam_size : {1, 4}) {
    const auto alone = search_in_groups(search, sources_, 1, options_of(beam_size));
    expect_within_lists(*list, sources_, alone);
    for (const size_t group : {size_t{2}, size_t{7}, size_t{64}}) {
      for (const int workers : {1, 2}) {
        const auto together = search_in_groups(search, sources_, group, options_of(beam_size, workers));
        EXPECT_EQ(count_differences(alone, together), 0U)
            << "sentences of " << sources_.size() << " that differ from themselves alone, beam " << beam_size << ", "
            << group << " together, " << workers << " workers";
      }
    }
    SearchOptions without = options_of(beam_size);
    without.shortlist = false;
    EXPECT_GT(count_differences(alone, search.run(sources_, without)), sources_.size() / 2) << "the list says nothing";
  }
}

TEST_P(ShortlistLaws, AListOfEverythingChangesNothing) {
  const ParallelSearch search = search_with(list_of_everything());
  for (const int beam_size : {1, 4}) {
    SearchOptions without = options_of(beam_size);
    without.shortlist = false;
    EXPECT_EQ(count_differences(search.run(sources_, without), search.run(sources_, options_of(beam_size))), 0U);
  }
}

// Options that make a search ask for all logits, and those that need none.
std::vector<SearchOptions> options_of_all_kinds() {
  std::vector<SearchOptions> kinds = {options_of(1), options_of(4)};
  kinds.push_back(options_of(4));
  kinds.back().rules.repetition_penalty = 1.3;
  kinds.push_back(options_of(1));
  kinds.back().rules.no_repeat_ngram = 2;
  kinds.push_back(options_of(1));
  kinds.back().sampling.temperature = 1.0;
  kinds.back().sampling.top_p = 0.9;
  kinds.back().n_best = 3;
  kinds.push_back(options_of(2));
  kinds.back().alternatives = true;
  kinds.back().n_best = 4;
  kinds.push_back(options_of(3));
  kinds.back().ranking.coverage_penalty = 0.3;
  kinds.push_back(options_of(4));
  kinds.back().shortlist = false;
  return kinds;
}

TEST_P(ShortlistLaws, SearchesOfAllKindsBesideEachOtherAreAsAlone) {
  const List list = random_list(20, 6, 4);
  const ParallelSearch search = search_with(list);
  const std::vector<SearchOptions> kinds = options_of_all_kinds();
  std::vector<SearchResult> seen(64);
  {
    SearchService service(search.models(), {.workers = 2});
    std::vector<std::promise<void>> done(seen.size());
    for (size_t i = 0; i < seen.size(); ++i) {
      std::list<SearchTask> one;
      one.push_back({i,
                     {.source = sources_[i]},
                     std::make_shared<const SearchOptions>(kinds[i % kinds.size()]),
                     [&](SearchResult result) {
                       const size_t sentence = result.sentence;
                       seen[sentence] = std::move(result);
                       done[sentence].set_value();
                     }});
      service.submit(std::move(one));
    }
    for (std::promise<void>& one : done) {
      one.get_future().wait();
    }
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    const SearchOptions& options = kinds[i % kinds.size()];
    EXPECT_TRUE(same(search.run({&sources_[i], 1}, options).at(0), seen[i])) << "sentence " << i;
    if (options.shortlist) {
      expect_within_lists(*list, {sources_[i]}, {seen[i]});
    }
  }
}

TEST_P(ShortlistLaws, PrefixesAndPhrasesAreAllowed) {
  const List list = random_list(20, 3, 5);
  const ParallelSearch search = search_with(list);
  base::Random random(6);
  std::vector<SentenceRequest> requests(sources_.size());
  std::vector<std::vector<int32_t>> wanted(sources_.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto piece = [&] { return static_cast<int32_t>(4 + random.below(kVocabSize - 4)); };
    wanted[i] = {piece(), piece()};
    if (i % 2 == 0) {
      requests[i].prefix = wanted[i];
    } else {
      requests[i].phrases = phrases_of({wanted[i]});
    }
  }
  SearchOptions options = options_of(6);
  options.n_best = 1;
  const auto outputs = search.run(with_sources(sources_, requests), options);
  expect_within_lists(*list, sources_, outputs, requests);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<int32_t>& ids = outputs[i].hypotheses.at(0).ids;
    EXPECT_FALSE(std::ranges::search(ids, wanted[i]).empty()) << "sentence " << i;
    EXPECT_TRUE(same(search.run(with_sources({&sources_[i], 1}, {&requests[i], 1}), options).at(0), outputs[i]))
        << "sentence " << i;
  }
}

TEST_P(ShortlistLaws, EnsemblesKeepToTheList) {
  const auto other = tiny_model(nn::NormOrder::kPost, 2, kVocabSize);
  other->parameters().pack_weights(GetParam());
  const List list = random_list(20, 6, 7);
  const ParallelSearch search({model_, other}, list);
  const Sources some(sources_.begin(), sources_.begin() + 20);
  const auto outputs = search.run(some, options_of(4));
  expect_within_lists(*list, some, outputs);
  EXPECT_EQ(count_differences(search_in_groups(search, some, 1, options_of(4)), outputs), 0U);
}

// The probabilities of a step sum to 1 over what is allowed.
TEST(ShortlistScores, AreAmongTheAllowedPieces) {
  const auto model = tiny_model(nn::NormOrder::kPost, 1, kVocabSize);
  ModelSteps steps(*model);
  const std::vector<int32_t> source = {9, 8, 7, data::kEosId}, allowed = {0, 1, 2, 3, 50, 51, 400, 699};
  const std::span<const int32_t> sentence(source);
  const int32_t slot = steps.add({&sentence, 1}).front();
  steps.restrict(slot, allowed);
  const StepRow row{slot, 0, data::kBosId};
  kernels::BestLogits best;
  tensor::Tensor logits = steps.step_and_best({&row, 1}, 10, best);  // [1, V]
  double sum = 0.0;
  for (int32_t id = 0; id < kVocabSize; ++id) {
    const float logit = logits.data<float>()[id];
    EXPECT_EQ(std::ranges::binary_search(allowed, id), logit != kImpossible) << "piece " << id;
    sum += std::exp(logit - best.row(0).log_sum_exp);
  }
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_EQ(best.row(0).values[7], logits.data<float>()[best.row(0).ids[7]]);
  EXPECT_EQ(best.row(0).values[8], kImpossible) << "there are 8 pieces only";
}

TEST(ShortlistSearch, ThrowsOutColumnsThatNobodyUses) {
  const auto model = tiny_model(nn::NormOrder::kPost, 1, kVocabSize);
  ModelSteps steps(*model);
  const std::vector<int32_t> source = {9, data::kEosId};
  const std::span<const int32_t> sentence(source);
  for (int32_t begin = 4; begin + 30 < kVocabSize; begin += 30) {  // each sentence may use others
    const int32_t slot = steps.add({&sentence, 1}).front();
    std::vector<int32_t> allowed(30);
    std::iota(allowed.begin(), allowed.end(), begin);
    steps.restrict(slot, allowed);
    const StepRow row{slot, 0, data::kBosId};
    kernels::BestLogits best;
    steps.step_best({&row, 1}, 5, best);
    EXPECT_THAT(best.row(0).ids, testing::Each(testing::AllOf(testing::Ge(begin), testing::Lt(begin + 30))));
    EXPECT_LE(steps.restricted_output().columns_kept(), 60) << "from " << begin;
    steps.remove(slot);
  }
}

// What the web page shows of a search is the search that translates.
TEST(ShortlistSearch, ATracedSearchKeepsToTheList) {
  std::vector<std::vector<int32_t>> lists(static_cast<size_t>(vocabulary().size()));
  for (size_t id = 0; id < lists.size(); ++id) {
    lists[id] = {static_cast<int32_t>(id)};
  }
  const auto list = std::make_shared<Shortlist>(vocabulary().size(), std::vector<int32_t>{10, 20, 30}, lists);
  const Translator translator(tiny_model(nn::NormOrder::kPost, 1, vocabulary().size()), vocabulary(), vocabulary(),
                              {.shortlist = list});
  SearchOptions options;
  options.shortlist = true;
  const std::vector<std::string> lines = {"the cat runs", "a red mouse and the green house"};
  const auto translations = translator.translate(lines, options);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<int32_t> source = data::encode_source(vocabulary(), lines[i]);
    InspectionRequest asked;
    asked.options = options;
    const Hypothesis traced = trace_search(translator, source, asked, 100).hypotheses.front();
    EXPECT_EQ(traced.ids, translations[i].ids) << lines[i];
    EXPECT_EQ(traced.score, translations[i].score) << lines[i];
  }
}

TEST(ShortlistSearch, WithoutAListIsRefusedBeforeAnyWork) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  const Sources sources = {{9, data::kEosId}};
  test_support::expect_error(base::ErrorKind::kUsage, {"shortlist", "dragoman shortlist --model DIR --source FILE"},
                             [&] { search.run(sources, options_of(1)); });
}

}  // namespace
}  // namespace dragoman::decoding
