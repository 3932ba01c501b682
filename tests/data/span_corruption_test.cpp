// Span corruption, sentinels, and pairs of texts in a file with tabs.
#include "data/span_corruption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <set>

#include "data/tab_pairs.h"
#include "data/vocabulary/sentinels.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using test_support::error_of;
using testing::HasSubstr;

constexpr int32_t kFirstSentinel = 1000;

std::vector<int32_t> sentinels_of(int32_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), kFirstSentinel);
  return ids;
}

std::vector<int32_t> tokens_of(int32_t count) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 10);
  return ids;
}

// The text that a corrupted one was made of.
std::vector<int32_t> restored(const CorruptedText& text) {
  std::vector<int32_t> tokens;
  for (const int32_t id : text.input) {
    if (id < kFirstSentinel) {
      tokens.push_back(id);
      continue;
    }
    auto next = std::ranges::find(text.target, id) + 1;
    for (; next != text.target.end() && *next < kFirstSentinel; ++next) {
      tokens.push_back(*next);
    }
  }
  return tokens;
}

TEST(SpanCorruption, SpansAndRestMakeTheText) {
  for (int32_t length = 2; length < 200; ++length) {
    const std::vector<int32_t> tokens = tokens_of(length);
    base::Random random(7, static_cast<uint64_t>(length));
    const CorruptedText text = corrupt_spans(tokens, sentinels_of(100), {}, random);
    EXPECT_EQ(restored(text), tokens);
    const auto spans = std::ranges::count_if(text.input, [](int32_t id) { return id >= kFirstSentinel; });
    const auto cut = std::ssize(text.target) - spans;
    EXPECT_EQ(cut, std::max<int64_t>(1, std::llround(0.15 * length))) << length;
    EXPECT_EQ(spans, std::max<int64_t>(1, std::llround(static_cast<double>(cut) / 3.0))) << length;
    EXPECT_LT(text.input.front(), kFirstSentinel) << "a part that stays comes first";
    EXPECT_EQ(text.target.front(), kFirstSentinel);
  }
}

TEST(SpanCorruption, FewSentinelsMakeLongerSpans) {
  base::Random random(1);
  const CorruptedText text = corrupt_spans(tokens_of(200), sentinels_of(2), {}, random);
  EXPECT_EQ(restored(text), tokens_of(200));
  EXPECT_EQ(std::ranges::count_if(text.input, [](int32_t id) { return id >= kFirstSentinel; }), 2);
}

TokenText text_of(const std::vector<int32_t>& lengths) {
  TokenText text;
  text.ids = {kEosId};
  text.starts = {1};
  for (const int32_t length : lengths) {
    const std::vector<int32_t> tokens = tokens_of(length);
    text.ids.insert(text.ids.end(), tokens.begin(), tokens.end());
    text.ids.push_back(kEosId);
    text.starts.push_back(text.ids.size());
  }
  return text;
}

const SpecialIds kSpecial{.pad = kPadId, .unk = kUnkId, .bos = kBosId, .eos = {kEosId}};

TEST(CorruptedWindows, EachEpochCutsOtherSpansAndSizesAreKnownBefore) {
  CorruptionOptions options;
  options.length = 33;
  const CorruptedWindows windows(text_of({70, 1, 20}), sentinels_of(20), kSpecial, options);
  ASSERT_EQ(windows.size(), 4) << "32 + 32 + 6 tokens, then 20; a single token is left out";
  std::set<std::vector<int32_t>> seen;
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    const SentencePair pair = windows.pair(0, epoch);
    EXPECT_EQ(pair.source.back(), kEosId);
    const uint32_t index = 0;
    const PairSize size = windows.window({&index, 1}, epoch).sizes.at(0);
    EXPECT_EQ(size.source_tokens, pair.source_tokens());
    EXPECT_EQ(size.target_tokens, pair.target_tokens());
    EXPECT_EQ(windows.pair(0, epoch).source, pair.source) << "the same again";
    seen.insert(pair.source);
  }
  EXPECT_GE(seen.size(), 4);
}

TEST(CorruptedWindows, RefusesTextWithoutSpansAndVocabulariesWithoutSentinels) {
  EXPECT_THAT(error_of([] { CorruptedWindows(text_of({1}), sentinels_of(3), kSpecial, {}); }),
              HasSubstr("no document has two tokens"));
  EXPECT_THAT(error_of([] { CorruptedWindows(text_of({9}), {}, kSpecial, {}); }), HasSubstr("has no sentinels"));
}

class TabPairsOfAFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) const {
    const std::filesystem::path path = folder_.path() / "pairs.tsv";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(TabPairsOfAFile, LinesHaveAnInputAndATarget) {
  const auto pairs = read_tab_pairs({file("sst2: a good film\tpositive\n\nsst2: bad\tnegative\n")});
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[1].input, "sst2: bad");
  EXPECT_EQ(pairs[1].target, "negative");
  EXPECT_THAT(pairs[1].place, testing::EndsWith("pairs.tsv:3"));
}

TEST_F(TabPairsOfAFile, AHalfAndThreeFieldsAreRefusedWithTheirLine) {
  EXPECT_THAT(error_of([&] { static_cast<void>(read_tab_pairs({file("a\tb\nalone\n")})); }),
              HasSubstr("pairs.tsv:2: has 1 fields, must be INPUT TAB TARGET"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_tab_pairs({file("a\tb\tc\n")})); }),
              HasSubstr("pairs.tsv:1: has 3 fields"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_tab_pairs({file("a\t \n")})); }),
              HasSubstr("pairs.tsv:1: the target is empty"));
}

class Sentinels : public TabPairsOfAFile {
 protected:
  Vocabulary learned() const {
    std::string text;
    for (int line = 0; line < 200; ++line) {
      text += "the cat sees the dog number " + std::to_string(line % 17) + "\n";
    }
    VocabularyOptions options;
    options.size = 60;
    return train_vocabulary({file(text)}, options).vocabulary;
  }
};

TEST_F(Sentinels, StandBehindThePiecesAndAreReadInText) {
  const Vocabulary plain = learned(), with = with_sentinels(plain, 5);
  EXPECT_EQ(with.size(), plain.size() + 5);
  EXPECT_EQ(with.encode("the cat"), plain.encode("the cat"));
  const std::vector<int32_t> ids = sentinel_ids(with);
  ASSERT_EQ(ids.size(), 5);
  EXPECT_EQ(ids[0], with.size() - 1);
  EXPECT_EQ(ids[4], plain.size());
  EXPECT_THAT(with.encode("the <extra_id_1> dog"), testing::Contains(ids[1]));
  EXPECT_EQ(with.decode(with.encode("the <extra_id_0> dog")), "the<extra_id_0> dog");
  EXPECT_THAT(with.encode("the <extra_id_7> dog"), testing::Not(testing::Contains(testing::AnyOfArray(ids))));
  EXPECT_TRUE(sentinel_ids(plain).empty());
  EXPECT_THAT(error_of([&] { static_cast<void>(with_sentinels(with, 5)); }), HasSubstr("without sentinels only"));
}

TEST_F(Sentinels, LongPairsAreLeftOut) {
  const Vocabulary vocabulary = learned();
  std::string many;
  for (int word = 0; word < 40; ++word) {
    many += "cat ";
  }
  const std::vector<TabPair> pairs = {{"the cat", "dog", "p:1"}, {many, "dog", "p:2"}};
  const TabPairs examples(pairs, vocabulary, 16);
  EXPECT_EQ(examples.size(), 1);
  EXPECT_EQ(examples.statistics().read, 2);
  EXPECT_EQ(examples.pair(0, 0).source, encode_source(vocabulary, "the cat"));
  EXPECT_THAT(error_of([&] { TabPairs({pairs[1]}, vocabulary, 4); }), HasSubstr("nothing is left to use"));
}

}  // namespace
}  // namespace dragoman::data
