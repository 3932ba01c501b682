#include "data/batcher.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;

class BatcherLaws : public testing::Test {
 protected:
  EncodedCorpus encode(const EncodingOptions& options) const {
    return EncodedCorpus(ParallelCorpus({source_}, {target_}), vocabulary_, vocabulary_, options);
  }

  static EncodingOptions short_sentences() {
    EncodingOptions options;
    options.max_length = 40;
    return options;
  }

  static BatcherOptions small_batches(bool prefetch = true) {
    BatcherOptions options;
    options.batch_tokens = 60;
    options.window_sentences = 64;
    options.prefetch = prefetch;
    return options;
  }

  TemporaryFolder folder_;
  Vocabulary vocabulary_ = toy_vocabulary();
  std::filesystem::path source_ = folder_.write("x.en", toy_text(300, 31) + "\nhaus\n");
  std::filesystem::path target_ = folder_.write("x.de", toy_text(300, 32) + "haus\n\n");
};

// All that a training step would see.
auto content(const Batch& batch) {
  return std::tuple(batch.epoch, batch.ends_epoch, batch.lines, batch.source, batch.source_offsets, batch.target_input,
                    batch.target_output, batch.target_offsets);
}

TEST_F(BatcherLaws, EachEpochHoldsEachKeptPairOnceWithinTheBudget) {
  const EncodedCorpus corpus = encode(short_sentences());
  ASSERT_EQ(corpus.size(), 300u);
  Batcher batcher(corpus, small_batches());
  std::vector<std::vector<uint64_t>> orders;
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<uint64_t> order;
    for (bool ended = false; !ended;) {
      EXPECT_EQ(batcher.epoch(), epoch);
      const Batch batch = batcher.next();
      ASSERT_EQ(batch.epoch, epoch);
      ASSERT_LE(std::max(batch.source_tokens(), batch.target_tokens()), 60);
      order.insert(order.end(), batch.lines.begin(), batch.lines.end());
      ended = batch.ends_epoch;
    }
    EXPECT_EQ(order.size(), corpus.size());
    EXPECT_EQ(std::set<uint64_t>(order.begin(), order.end()).size(), corpus.size());
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST_F(BatcherLaws, TheSeedAloneDecidesTheOrder) {
  const EncodedCorpus corpus = encode(short_sentences());
  const auto first_batches = [&](uint64_t seed, bool prefetch) {
    BatcherOptions options = small_batches(prefetch);
    options.seed = seed;
    Batcher batcher(corpus, options);
    std::vector<decltype(content(Batch()))> batches;
    for (int i = 0; i < 200; ++i) batches.push_back(content(batcher.next()));
    return batches;
  };
  const auto expected = first_batches(1, true);
  EXPECT_EQ(first_batches(1, true), expected);
  EXPECT_EQ(first_batches(1, false), expected) << "without the background thread";
  EXPECT_NE(first_batches(2, true), expected);
}

// Every position of two epochs and a half: mid-window, window ends, the last batch of an epoch, the first of the next.
TEST_F(BatcherLaws, ResumedIsNeverStopped) {
  for (const double sampling : {0.0, 0.1}) {
    EncodingOptions encoding = short_sentences();
    encoding.source_sampling = sampling;
    const EncodedCorpus corpus = encode(encoding);
    Batcher batcher(corpus, small_batches());
    std::vector<nlohmann::json> states;
    std::vector<decltype(content(Batch()))> batches;
    while (batcher.epoch() < 2 || batches.size() % 10 != 0) {
      states.push_back(nlohmann::json::parse(batcher.state().dump()));
      batches.push_back(content(batcher.next()));
    }
    ASSERT_GT(states.size(), 100u);
    for (size_t stop = 0; stop < states.size(); ++stop) {
      Batcher resumed(corpus, small_batches(stop % 2 == 0));
      resumed.restore(states[stop]);
      ASSERT_EQ(resumed.state(), states[stop]);
      for (size_t i = stop; i < std::min(stop + 25, batches.size()); ++i) {
        ASSERT_EQ(content(resumed.next()), batches[i]) << "stopped before batch " << stop << ", batch " << i;
      }
    }
    batcher.restore(states[5]);  // a batcher that has run already goes back as well
    ASSERT_EQ(content(batcher.next()), batches[5]);
  }
}

TEST_F(BatcherLaws, OnePairIsACorpus) {
  const auto file = folder_.write("one", "haus");
  const EncodedCorpus corpus(ParallelCorpus({file}, {file}), vocabulary_, vocabulary_, short_sentences());
  Batcher batcher(corpus, small_batches());
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    const Batch batch = batcher.next();
    EXPECT_EQ(batch.epoch, epoch);
    EXPECT_TRUE(batch.ends_epoch);
    EXPECT_EQ(batch.sentences(), 1);
  }
}

TEST_F(BatcherLaws, OptionsAreChecked) {
  const EncodedCorpus corpus = encode(short_sentences());
  BatcherOptions options = small_batches();
  options.batch_tokens = 40;
  EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { Batcher(corpus, options); }), testing::HasSubstr("raise it to 41"));
  options = small_batches();
  options.window_sentences = 0;
  error_of(ErrorKind::kUsage, [&] { Batcher(corpus, options); });
}

TEST_F(BatcherLaws, ForeignAndDamagedStatesAreRefused) {
  const EncodedCorpus corpus = encode(short_sentences());
  Batcher batcher(corpus, small_batches());
  const nlohmann::json good = batcher.state();
  for (const char* name : {"seed", "batch_tokens", "window_sentences", "sentences"}) {
    nlohmann::json other = good;
    other[name] = 12345;
    EXPECT_THAT(error_of(ErrorKind::kUsage, [&] { batcher.restore(other); }), testing::HasSubstr(name));
  }
  for (const auto& [name, value] : good.items()) {
    nlohmann::json damaged = good;
    damaged.erase(name);
    EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { batcher.restore(damaged); }), testing::HasSubstr(name));
    damaged[name] = -1;
    error_of(ErrorKind::kBadData, [&] { batcher.restore(damaged); });
    damaged[name] = "x";
    error_of(ErrorKind::kBadData, [&] { batcher.restore(damaged); });
  }
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, int>>{{"sentence", 300}, {"sentence", 63}, {"batch", 10000}}) {
    nlohmann::json damaged = good;
    damaged[name] = value;
    error_of(ErrorKind::kBadData, [&] {
      batcher.restore(damaged);
      batcher.next();
    });
  }
  error_of(ErrorKind::kBadData, [&] { batcher.restore(nlohmann::json::array()); });
  batcher.restore(good);
  EXPECT_EQ(batcher.next().epoch, 0u);
}

TEST_F(BatcherLaws, ErrorsOfTheBackgroundThreadReachTheCaller) {
  EncodingOptions encoding = short_sentences();
  encoding.cache_bytes = 0;
  const EncodedCorpus corpus = encode(encoding);
  Batcher batcher(corpus, small_batches());
  batcher.next();
  std::filesystem::resize_file(source_, 1);
  const std::string text = error_of(ErrorKind::kBadData, [&] {
    for (int i = 0; i < 1000; ++i) batcher.next();
  });
  EXPECT_THAT(text, testing::HasSubstr("x.en"));
}

TEST_F(BatcherLaws, AllBatchesHoldTheWholeCorpusInAFixedOrder) {
  const EncodedCorpus corpus = encode(short_sentences());
  const auto batches = all_batches(corpus, 50), again = all_batches(corpus, 50);
  ASSERT_EQ(batches.size(), again.size());
  size_t sentences = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(content(batches[i]), content(again[i]));
    sentences += batches[i].lines.size();
  }
  EXPECT_EQ(sentences, corpus.size());
}

}  // namespace
}  // namespace dragoman::data
