// Laws of the rows that decoding keeps its keys and values in.
#include "models/decoder/key_value_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

std::vector<int32_t> take(models::KeyValueCache& cache, models::CacheRows& sentence, int count) {
  std::vector<int32_t> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back(cache.take_row(sentence, rows.empty() ? -1 : rows.back()));
  }
  return rows;
}

TEST(KeyValueCache, SentencesThatGrowTogetherKeepTheirRowsTogether) {
  models::KeyValueCache cache(1, 4);
  models::CacheRows sentences[3];
  std::vector<int32_t> rows[3];
  for (int position = 0; position < 8; ++position) {
    for (int s = 0; s < 3; ++s) {
      rows[s].push_back(cache.take_row(sentences[s], rows[s].empty() ? -1 : rows[s].back()));
    }
  }
  for (const auto& of_sentence : rows) {
    for (size_t t = 1; t < of_sentence.size(); ++t) {
      EXPECT_EQ(of_sentence[t], of_sentence[t - 1] + 1) << "position " << t;
    }
  }
}

TEST(KeyValueCache, ARowLivesAsLongAsItOrALaterOneIsNeeded) {
  models::KeyValueCache cache(1, 4);
  models::CacheRows sentence;
  const int32_t root = cache.take_row(sentence, -1);
  const int32_t left = cache.take_row(sentence, root), right = cache.take_row(sentence, root);
  cache.release(sentence, root);
  EXPECT_EQ(cache.rows_in_use(), 3);
  cache.release(sentence, left);
  EXPECT_EQ(cache.rows_in_use(), 2) << "the right hypothesis needs the root";
  EXPECT_EQ(cache.take_row(sentence, right), left) << "a free row of the sentence comes before a new one";
}

TEST(KeyValueCache, MemoryStopsGrowing) {
  models::KeyValueCache cache(1, 4);
  int64_t after_first = 0;
  for (int round = 0; round < 1000; ++round) {
    models::CacheRows first, second;
    take(cache, first, 20 + round % 7);
    take(cache, second, 3);
    cache.release_all(first);
    cache.release_all(second);
    EXPECT_EQ(cache.rows_in_use(), 0) << "round " << round;
    after_first = round == 0 ? cache.capacity() : after_first;
  }
  EXPECT_EQ(cache.capacity(), after_first);
}

TEST(KeyValueCache, GrowingKeepsWhatIsStored) {
  models::KeyValueCache cache(2, 2);
  models::CacheRows sentence;
  std::vector<int32_t> rows;
  for (int t = 0; t < 10'000; ++t) {
    rows.push_back(cache.take_row(sentence, rows.empty() ? -1 : rows.back()));
    const auto number = static_cast<float>(t);
    const tensor::Tensor key = tensor::Tensor::from<float>({number, 1}, {1, 2});
    const tensor::Tensor value = tensor::Tensor::from<float>({-number, 2}, {1, 2});
    cache.write(1, tensor::host_tensor(std::span(&rows.back(), 1)), key, value);
  }
  for (int t = 0; t < 10'000; ++t) {
    EXPECT_EQ(static_cast<const float*>(cache.keys(1))[rows[static_cast<size_t>(t)] * cache.stride()], t);
    EXPECT_EQ(static_cast<const float*>(cache.values(1))[rows[static_cast<size_t>(t)] * cache.stride()], -t);
  }
}

TEST(KeyValueCache, Int8HoldsTheUnitOfEachHeadBehindItsNumbers) {
  models::KeyValueCache cache(1, 4, 2, tensor::DType::kInt8);
  models::CacheRows sentence;
  const tensor::Tensor key = tensor::Tensor::from<float>({127, -5, 0.5F, 0.125F}, {1, 4});
  const tensor::Tensor value = tensor::Tensor::from<float>({0, 0, -254, 2}, {1, 4});
  cache.take_row(sentence, -1);
  const int32_t row = cache.take_row(sentence, -1);
  cache.write(0, tensor::host_tensor(std::span(&row, 1)), key, value);
  const auto check = [&](const void* base, std::vector<int> numbers, std::vector<float> units) {
    const auto* half = static_cast<const int8_t*>(base) + row * cache.stride();
    EXPECT_EQ(std::vector<int>(half, half + 4), numbers);
    std::vector<float> seen(2);
    std::memcpy(seen.data(), half + 4, 8);
    EXPECT_EQ(seen, units);
  };
  check(cache.keys(0), {127, -5, 127, 32}, {1.0F, 0.5F / 127});
  check(cache.values(0), {0, 0, -127, 1}, {0.0F, 2.0F});
}

}  // namespace
}  // namespace dragoman::decoding
