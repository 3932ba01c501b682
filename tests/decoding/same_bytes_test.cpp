// The translation of a sentence is the same alone, among 7 or 64, with 1 or 2 workers, in every precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "data/vocabulary/vocabulary_trainer.h"
#include "decoding/parallel_search.h"
#include "search_in_groups.h"
#include "support/corpora.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

SearchOptions options_of(int beam_size, int workers) {
  SearchOptions options;
  options.beam_size = beam_size;
  options.execution.workers = workers;
  options.length.max_length_ratio = 0.5;
  options.length.max_length_extra = 8;
  return options;
}

size_t count_differences(const std::vector<SearchResult>& expected, const std::vector<SearchResult>& seen) {
  size_t differences = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Hypothesis& a = expected[i].hypotheses.at(0);
    const Hypothesis& b = seen[i].hypotheses.at(0);
    differences += a.ids != b.ids || a.token_scores != b.token_scores || a.score != b.score ? 1 : 0;
  }
  return differences;
}

void expect_same_everywhere(models::Transformer& model, const std::shared_ptr<models::Transformer>& shared,
                            const Sources& sources, int beam_size) {
  for (const auto precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    model.parameters().pack_weights(precision);
    const ParallelSearch search(shared);
    const auto alone = search_in_groups(search, sources, 1, options_of(beam_size, 1));
    std::set<std::vector<int32_t>> different;
    size_t ended = 0;
    for (const SearchResult& output : alone) {
      different.insert(output.hypotheses.at(0).ids);
      ended += output.hypotheses.at(0).finish_reason == FinishReason::kEndOfSentence ? 1 : 0;
    }
    EXPECT_GT(ended, 0U) << "no translation ends by itself: the model is too dull";
    EXPECT_GT(different.size(), sources.size() / 4) << "translations are alike: the model is too dull";
    for (const size_t group : {size_t{7}, size_t{64}}) {
      for (const int workers : {1, 2}) {
        const auto together = search_in_groups(search, sources, group, options_of(beam_size, workers));
        EXPECT_EQ(count_differences(alone, together), 0U)
            << "sentences of " << sources.size() << " that differ from themselves alone, in bytes or scores, in "
            << name_of(precision) << ", beam " << beam_size << ", " << group << " together, " << workers << " workers";
      }
    }
  }
}

TEST(SameBytes, TwoHundredSentences) {
  for (const int beam_size : {1, 4}) {
    const auto model = tiny_model(nn::NormOrder::kPost);
    expect_same_everywhere(*model, model, random_sources(200, 21, 60), beam_size);
  }
}

std::vector<std::string> first_lines(const std::filesystem::path& path, size_t count) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(SameBytes, TwoThousandSentencesOfRealText) {
  const std::string names[] = {"wmt-news-en-de/newstest2014.en", "multi30k/test_2016_flickr.en"};
  if (const std::string missing = test_support::missing_corpora({names[0], names[1]}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const std::filesystem::path news = test_support::corpus_file(names[0]);
  const std::filesystem::path captions = test_support::corpus_file(names[1]);
  data::VocabularyOptions vocabulary_options;
  vocabulary_options.size = 500;
  const data::Vocabulary vocabulary = data::train_vocabulary({captions}, vocabulary_options).vocabulary;
  Sources sources;
  for (const auto& path : {news, captions}) {
    for (const std::string& line : first_lines(path, 1000)) {
      sources.push_back(data::encode_source(vocabulary, line));
      sources.back().resize(std::min<size_t>(sources.back().size(), 200));
    }
  }
  ASSERT_EQ(sources.size(), 2000U);
  const auto model = tiny_model(nn::NormOrder::kPre, 3, vocabulary.size(), 300);
  expect_same_everywhere(*model, model, sources, 4);
}

}  // namespace
}  // namespace dragoman::decoding
