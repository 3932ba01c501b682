#include "data/text/corpus.h"

#include "data/encoded_corpus.h"
#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;

uint64_t dropped(const CorpusStatistics& statistics, DropReason reason) {
  return statistics.dropped[static_cast<size_t>(reason)];
}

TEST(Corpus, UnequalLineCountsNameBothFilesAndCounts) {
  const TemporaryFolder folder;
  const auto source = folder.write("a.en", "1\n2\n3\n"), target = folder.write("a.de", "1\n2\n");
  const std::string text = error_of(ErrorKind::kBadData, [&] { ParallelCorpus({source}, {target}); });
  EXPECT_THAT(text, testing::HasSubstr("a.en has 3 lines"));
  EXPECT_THAT(text, testing::HasSubstr("a.de has 2"));
}

TEST(Corpus, WantsOneTargetFileForEachSourceFile) {
  const TemporaryFolder folder;
  const auto file = folder.write("a", "1\n");
  EXPECT_THAT(error_of(ErrorKind::kUsage,
                       [&] {
                         ParallelCorpus({file, file}, {file});
                       }),
              testing::HasSubstr("2 source files and 1 target files"));
  error_of(ErrorKind::kUsage, [&] { ParallelCorpus({}, {}); });
}

TEST(Corpus, SeveralFilesCountAsOne) {
  const TemporaryFolder folder;
  const ParallelCorpus corpus({folder.write("a.en", "1\n2"), folder.write("b.en", "3\n4\n5\n")},
                              {folder.write("a.de", "I\nII\n"), folder.write("b.de", "III\nIV\nV")});
  ASSERT_EQ(corpus.size(), 5u);
  std::string source, target;
  for (uint64_t line = 0; line < corpus.size(); ++line) {
    source += corpus.source(line).text + " ";
    target += corpus.target(line).text + " ";
  }
  EXPECT_EQ(source, "1 2 3 4 5 ");
  EXPECT_EQ(target, "I II III IV V ");
  EXPECT_THAT(corpus.place(1), testing::EndsWith("a.en:2"));
  EXPECT_THAT(corpus.place(2), testing::EndsWith("b.en:1"));
}

TEST(Corpus, FingerprintFollowsEveryByteAndTheOrderOfFiles) {
  const TemporaryFolder folder;
  const auto a = folder.write("a", "1\n2\n"), b = folder.write("b", "1\n3\n");
  const std::string print = ParallelCorpus({a}, {b}).fingerprint();
  EXPECT_EQ(print.size(), 64u);
  EXPECT_EQ(print, ParallelCorpus({a}, {b}).fingerprint());
  EXPECT_NE(print, ParallelCorpus({b}, {a}).fingerprint());
  folder.write("b", "1\n4\n");
  EXPECT_NE(print, ParallelCorpus({a}, {b}).fingerprint());
}

TEST(Corpus, CountsAddUpWhateverTheLinesHold) {
  const Vocabulary vocabulary = toy_vocabulary();
  const TemporaryFolder folder;
  base::Random random(5);
  const std::vector<std::string> odd = {"",
                                        " ",
                                        "\t\r",
                                        "haus",
                                        "der hund läuft",
                                        "haus haus haus haus haus haus",
                                        "\xE2\x80\xA8",
                                        "\xFF",
                                        std::string("\0", 1),
                                        "\xC2\x85"};
  for (int trial = 0; trial < 20; ++trial) {
    std::string source = "haus\n", target = "hund\n";
    for (int line = 0; line < 50; ++line) {
      source += odd[random.below(odd.size())] + "\n";
      target += odd[random.below(odd.size())] + "\n";
    }
    EncodingOptions options;
    options.max_length = 5;
    const EncodedCorpus encoded(ParallelCorpus({folder.write("s", source)}, {folder.write("t", target)}), vocabulary,
                                vocabulary, options);
    const CorpusStatistics& statistics = encoded.statistics();
    EXPECT_EQ(statistics.read, 51u);
    EXPECT_EQ(statistics.kept + statistics.dropped_total(), statistics.read) << statistics.report();
    EXPECT_EQ(encoded.size(), statistics.kept);
  }
}

TEST(Corpus, DropsByReasonAndReportsTheFirstPlace) {
  const Vocabulary vocabulary = toy_vocabulary();
  const TemporaryFolder folder;
  const std::string words = "haus haus haus haus haus haus";
  const auto source = folder.write("x.en", "haus\n  \nhund\n" + words + "\nhaus\nhaus\xFF\n\n");
  const auto target = folder.write("x.de", "haus\nhund\n\r\nhaus\n" + words + "\nhund\n\n");
  EncodingOptions options;
  options.max_length = static_cast<int32_t>(vocabulary.encode("haus haus haus haus").size());
  const EncodedCorpus encoded(ParallelCorpus({source}, {target}), vocabulary, vocabulary, options);
  const CorpusStatistics& statistics = encoded.statistics();
  EXPECT_EQ(dropped(statistics, DropReason::kSourceEmpty), 2u) << "blank, and blank on both sides";
  EXPECT_EQ(dropped(statistics, DropReason::kTargetEmpty), 1u);
  EXPECT_EQ(dropped(statistics, DropReason::kSourceTooLong), 1u);
  EXPECT_EQ(dropped(statistics, DropReason::kTargetTooLong), 1u);
  EXPECT_EQ(statistics.repaired_source, 1u);
  EXPECT_THAT(statistics.report(), testing::HasSubstr("7 pairs of lines read, 2 kept, 5 dropped"));
  EXPECT_THAT(statistics.report(), testing::ContainsRegex("2 dropped: source empty .first: .*x.en:2"));
  EXPECT_THAT(statistics.report(), testing::ContainsRegex("1 dropped: target too long .first: .*x.en:5"));
}

TEST(Corpus, AllLinesDroppedIsAnErrorWithTheCounts) {
  const Vocabulary vocabulary = toy_vocabulary();
  const TemporaryFolder folder;
  const auto source = folder.write("s", "\n \nhaus\n"), target = folder.write("t", "haus\n\n\n");
  const std::string text = error_of(
      ErrorKind::kBadData, [&] { EncodedCorpus(ParallelCorpus({source}, {target}), vocabulary, vocabulary, {}); });
  EXPECT_THAT(text, testing::HasSubstr("3 pairs of lines read, 0 kept, 3 dropped"));
}

TEST(Corpus, ALineOfAHundredThousandTokensIsDroppedAndNothingElse) {
  const Vocabulary vocabulary = toy_vocabulary();
  const TemporaryFolder folder;
  std::string huge;
  for (int i = 0; i < 100000; ++i) {
    huge += "haus ";
  }
  const std::string larger(size_t{2} << 20, 'h');  // above what is encoded at all
  const EncodedCorpus encoded(ParallelCorpus({folder.write("s", "haus\n" + huge + "\nhund\n" + larger + "\nrot\n")},
                                             {folder.write("t", "eins\nzwei\n" + huge + "\ndrei\nvier\n")}),
                              vocabulary, vocabulary, {});
  EXPECT_EQ(encoded.statistics().kept, 2u) << encoded.statistics().report();
  EXPECT_EQ(dropped(encoded.statistics(), DropReason::kSourceTooLong), 2u);
  EXPECT_EQ(dropped(encoded.statistics(), DropReason::kTargetTooLong), 1u);
}

TEST(Corpus, ThreadsAndCacheDoNotChangeThePairs) {
  const Vocabulary source = toy_vocabulary(), target = toy_vocabulary(VocabularyOptions::Type::kBpe);
  const TemporaryFolder folder;
  const auto source_file = folder.write("s", toy_text(9000, 2, 40)), target_file = folder.write("t", toy_text(9000, 3));
  const auto encode = [&](int threads, uint64_t cache_bytes) {
    EncodingOptions options;
    options.max_length = 30;
    options.threads = threads;
    options.cache_bytes = cache_bytes;
    return EncodedCorpus(ParallelCorpus({source_file}, {target_file}), source, target, options);
  };
  const EncodedCorpus plain = encode(1, 1 << 30), threaded = encode(3, 1 << 30), uncached = encode(2, 1000);
  EXPECT_TRUE(plain.cached());
  EXPECT_FALSE(uncached.cached());
  EXPECT_GT(plain.statistics().dropped_total(), 0u);
  EXPECT_EQ(plain.statistics().report(), threaded.statistics().report());
  EXPECT_EQ(plain.statistics().report(), uncached.statistics().report());
  ASSERT_EQ(plain.size(), uncached.size());
  for (uint64_t i = 0; i < plain.size(); ++i) {
    const SentencePair expected = plain.pair(i, 0);
    for (const EncodedCorpus* other : {&threaded, &uncached}) {
      const SentencePair seen = other->pair(i, 7);
      ASSERT_EQ(seen.line, expected.line) << "pair " << i;
      ASSERT_EQ(seen.source, expected.source) << "pair " << i;
      ASSERT_EQ(seen.target, expected.target) << "pair " << i;
    }
    ASSERT_EQ(expected.source.back(), kEosId);
    ASSERT_EQ(source.decode(expected.source), plain.corpus().source(expected.line).text);
  }
}

TEST(Corpus, SamplingDependsOnSeedEpochAndLineAlone) {
  const Vocabulary vocabulary = toy_vocabulary();
  const TemporaryFolder folder;
  const auto file = folder.write("s", toy_text(200, 2));
  const auto encode = [&](uint64_t seed) {
    EncodingOptions options;
    options.source_sampling = 0.02;
    options.seed = seed;
    return EncodedCorpus(ParallelCorpus({file}, {file}), vocabulary, vocabulary, options);
  };
  const EncodedCorpus first = encode(1), again = encode(1), other = encode(2);
  int epochs_differ = 0, seeds_differ = 0;
  for (uint64_t i = first.size(); i-- > 0;) {
    const SentencePair pair = first.pair(i, 3);
    EXPECT_EQ(pair.source, again.pair(i, 3).source);
    EXPECT_EQ(vocabulary.decode(pair.source), first.corpus().source(pair.line).text);
    EXPECT_EQ(pair.target, vocabulary.encode(first.corpus().target(pair.line).text));
    epochs_differ += pair.source != first.pair(i, 4).source ? 1 : 0;
    seeds_differ += pair.source != other.pair(i, 3).source ? 1 : 0;
  }
  EXPECT_GT(epochs_differ, 100);
  EXPECT_GT(seeds_differ, 100);
}

}  // namespace
}  // namespace dragoman::data
