#include "data/batcher.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <thread>

#include "data/encoded_corpus.h"
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

  static BatcherOptions small_batches(bool prefetch = true, BatchOrder order = BatchOrder::kLength) {
    BatcherOptions options;
    options.order = order;
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
  for (const BatchOrder of_pairs : {BatchOrder::kLength, BatchOrder::kRandom}) {
    Batcher batcher(corpus, small_batches(true, of_pairs));
    std::vector<std::vector<uint64_t>> orders;
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<uint64_t> order;
      for (bool ended = false; !ended;) {
        EXPECT_EQ(batcher.epoch(), epoch);
        const Batch batch = batcher.next().shards.front();
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
}

// Lines below 100 have targets of one piece, as labels do, the others long ones.
TEST_F(BatcherLaws, InRandomOrderABatchMixesWhatByLengthItKeepsApart) {
  const auto source = folder_.write("mixed.en", toy_text(200, 33));
  std::string targets;
  for (int line = 0; line < 200; ++line) {
    targets += line < 100 ? "a\n" : "haus haus haus haus haus haus\n";
  }
  const EncodedCorpus corpus(ParallelCorpus({source}, {folder_.write("mixed.de", targets)}), vocabulary_, vocabulary_,
                             short_sentences());
  const auto mixed = [&](BatchOrder order) {
    BatcherOptions options = small_batches(true, order);
    options.window_sentences = 200;
    options.batch_tokens = 150;
    Batcher batcher(corpus, options);
    int batches = 0, with_both = 0;
    while (batcher.epoch() == 0) {
      const Batch batch = batcher.next().shards.front();
      const auto labels = std::ranges::count_if(batch.lines, [](uint64_t line) { return line < 100; });
      with_both += labels > 0 && labels < batch.sentences() ? 1 : 0;
      ++batches;
    }
    return std::pair(with_both, batches);
  };
  const auto [by_length, all_by_length] = mixed(BatchOrder::kLength);
  EXPECT_LE(by_length, 1) << "of " << all_by_length;
  const auto [random, all_random] = mixed(BatchOrder::kRandom);
  EXPECT_GE(random, all_random - 1);
  EXPECT_GT(all_random, 5);
}

TEST_F(BatcherLaws, TheSeedAloneDecidesTheOrder) {
  const EncodedCorpus corpus = encode(short_sentences());
  const auto first_batches = [&](uint64_t seed, bool prefetch) {
    BatcherOptions options = small_batches(prefetch);
    options.seed = seed;
    Batcher batcher(corpus, options);
    std::vector<decltype(content(Batch()))> batches;
    for (int i = 0; i < 200; ++i) {
      batches.push_back(content(batcher.next().shards.front()));
    }
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
    const BatchOrder order = sampling > 0.0 ? BatchOrder::kRandom : BatchOrder::kLength;
    EncodingOptions encoding = short_sentences();
    encoding.source_sampling = sampling;
    const EncodedCorpus corpus = encode(encoding);
    Batcher batcher(corpus, small_batches(true, order));
    std::vector<nlohmann::json> states;
    std::vector<decltype(content(Batch()))> batches;
    while (batcher.epoch() < 2 || batches.size() % 10 != 0) {
      states.push_back(nlohmann::json::parse(batcher.state().dump()));
      batches.push_back(content(batcher.next().shards.front()));
    }
    ASSERT_GE(states.size(), 100u);
    for (size_t stop = 0; stop < states.size(); ++stop) {
      Batcher resumed(corpus, small_batches(stop % 2 == 0, order));
      resumed.restore(states[stop]);
      ASSERT_EQ(resumed.state(), states[stop]);
      for (size_t i = stop; i < std::min(stop + 25, batches.size()); ++i) {
        ASSERT_EQ(content(resumed.next().shards.front()), batches[i])
            << "stopped before batch " << stop << ", batch " << i;
      }
    }
    batcher.restore(states[5]);  // a batcher that has run already goes back as well
    ASSERT_EQ(content(batcher.next().shards.front()), batches[5]);
  }
}

// What ranks that talk through memory tell each other.
class Ranks {
 public:
  explicit Ranks(int size) : size_(size), brought_(static_cast<size_t>(size)) {}

  Exchange exchange(int rank) {
    return {rank, size_, [this, rank](const std::string& mine) { return all_gather(rank, mine); }};
  }
  /// Calls task(rank) for all ranks at once.
  void run(const std::function<void(int)>& task) const {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back(task, rank);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

 private:
  std::vector<std::string> all_gather(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    brought_[static_cast<size_t>(rank)] = mine;
    const int round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      complete_ = brought_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
    return complete_;
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, round_ = 0;
  std::vector<std::string> brought_, complete_;
};

TEST_F(BatcherLaws, RanksTogetherHaveTheBatchesOfOneProcess) {
  constexpr int kRanks = 3, kShardsEach = 2, kBatches = 150;
  for (const double sampling : {0.0, 0.1}) {
    EncodingOptions encoding = short_sentences();
    encoding.source_sampling = encoding.target_sampling = sampling;
    const EncodedCorpus alone = encode(encoding);
    Ranks ranks(kRanks);
    std::vector<std::vector<BatchShare>> shares(kRanks);
    ranks.run([&](int rank) {
      const EncodedCorpus corpus(ParallelCorpus({source_}, {target_}), vocabulary_, vocabulary_, encoding,
                                 ranks.exchange(rank));
      EXPECT_EQ(corpus.statistics().report(), alone.statistics().report());
      EXPECT_FALSE(corpus.cached());
      BatcherOptions options = small_batches();
      options.shards = kRanks * kShardsEach;
      options.first_shard = rank * kShardsEach;
      options.own_shards = kShardsEach;
      Batcher batcher(corpus, options);
      for (int batch = 0; batch < kBatches; ++batch) {
        shares[static_cast<size_t>(rank)].push_back(batcher.next());
      }
    });
    Batcher batcher(alone, small_batches());
    for (size_t at = 0; at < kBatches; ++at) {
      const BatchShare whole = split(batcher.next().shards.front(), kRanks * kShardsEach);
      for (size_t shard = 0; shard < whole.shards.size(); ++shard) {
        const BatchShare& share = shares[shard / kShardsEach][at];
        ASSERT_EQ(share.source_tokens, whole.source_tokens);
        ASSERT_EQ(share.target_tokens, whole.target_tokens);
        const Batch &seen = share.shards[shard % kShardsEach], &expected = whole.shards[shard];
        ASSERT_EQ(content(seen), content(expected)) << "shard " << shard << " of batch " << at;
        ASSERT_EQ(std::tuple(seen.first_sentence, seen.first_source_row, seen.first_target_row),
                  std::tuple(expected.first_sentence, expected.first_source_row, expected.first_target_row));
      }
    }
  }
}

TEST_F(BatcherLaws, ARankEncodesItsPartOfAWindowAlone) {
  EncodingOptions encoding = short_sentences();
  encoding.source_sampling = 0.1;
  std::vector<uint32_t> indices(100);
  std::iota(indices.begin(), indices.end(), 0U);
  Ranks ranks(4);
  std::vector<size_t> encoded(4);
  ranks.run([&](int rank) {
    const EncodedCorpus corpus(ParallelCorpus({source_}, {target_}), vocabulary_, vocabulary_, encoding,
                               ranks.exchange(rank));
    encoded[static_cast<size_t>(rank)] = corpus.window(indices, 0).pairs.size();
  });
  EXPECT_EQ(encoded, (std::vector<size_t>{25, 25, 25, 25}));
}

TEST_F(BatcherLaws, TextThatChangesWhileInUseIsFound) {
  EncodingOptions encoding = short_sentences();
  encoding.cache_bytes = 0;
  const EncodedCorpus corpus = encode(encoding);
  std::string text = toy_text(300, 31) + "\nhaus\n";
  text.replace(0, 3, "xyz");
  folder_.write("x.en", text);
  Batcher batcher(corpus, small_batches(false));
  const std::string error = error_of(ErrorKind::kBadData, [&] {
    for (int batch = 0; batch < 1000; ++batch) {
      batcher.next();
    }
  });
  EXPECT_NE(error.find("must not change while it is in use"), std::string::npos) << error;
}

TEST_F(BatcherLaws, OnePairIsACorpus) {
  const auto file = folder_.write("one", "haus");
  const EncodedCorpus corpus(ParallelCorpus({file}, {file}), vocabulary_, vocabulary_, short_sentences());
  Batcher batcher(corpus, small_batches());
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    const Batch batch = batcher.next().shards.front();
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
  EXPECT_EQ(batcher.next().shards.front().epoch, 0u);
}

TEST_F(BatcherLaws, ErrorsOfTheBackgroundThreadReachTheCaller) {
  EncodingOptions encoding = short_sentences();
  encoding.cache_bytes = 0;
  const EncodedCorpus corpus = encode(encoding);
  Batcher batcher(corpus, small_batches());
  batcher.next();
  std::filesystem::resize_file(source_, 1);
  const std::string text = error_of(ErrorKind::kBadData, [&] {
    for (int i = 0; i < 1000; ++i) {
      batcher.next();
    }
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
