#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/sample/lexicon.h"
#include "data/sample/pronouns.h"
#include "data/sample/sample_pair.h"

namespace dragoman::data {

/// The languages that a corpus can have, source first.
inline constexpr std::array<const char*, 3> kSampleCorpusPairs = {"en-de", "en-zh", "zh-en"};
inline constexpr int64_t kSampleCorpusMinSize = 100;
inline constexpr int64_t kSampleCorpusMaxSize = 200'000;

/// Options of `dragoman sample-corpus`.
struct SampleCorpusOptions {
  std::string pair = kSampleCorpusPairs[0];  ///< one of kSampleCorpusPairs
  /// Number of sentence pairs, kSampleCorpusMinSize to kSampleCorpusMaxSize. The test part has 5 % of them, between 10
  /// and 1,000, and the validation part 2.5 %, between 10 and 500. All others are the training part. Small corpora use
  /// fewer words.
  int64_t size = 30'000;
  uint64_t seed = 1;             ///< selects the sentences and the division into parts
  std::filesystem::path output;  ///< folder, created if missing
};

/// The three parts of a corpus. Every sentence of either side occurs once in all parts together.
struct SampleCorpus {
  std::vector<sample::SamplePair> train, valid, test;
};

/// The numbers that the command line prints.
struct SampleCorpusSummary {
  int64_t train = 0, valid = 0, test = 0;  ///< sentence pairs
  int64_t pronouns = 0;                    ///< test sentences whose pronoun is checked
  int64_t english_words = 0;               ///< distinct words, case-sensitive
  int64_t other_words = 0;                 ///< the same of German; distinct characters of Chinese
};

/// Generates sentence pairs in which only the meaning tells what a pronoun refers to:
/// "The animal didn't cross the street because it was too tired." or "... too wide." So the corpus measures
/// coreference.
///   - en-de: German chooses er, sie or es by the gender of the antecedent of "it": das Tier, die Straße.
///   - en-zh: Chinese repeats the antecedent: 因为那只动物太累了, 因为那条街道太宽了.
///   - zh-en: Chinese leaves the pronoun out, and English needs he, she, it or they: 因为太累了, 因为太宽了.
/// The test part has both versions of "The animal didn't cross the street ..." if the lexicon has its words.
///   - No pair of nouns of a test sentence occurs in training within one sentence pattern.
///   - Every word of the validation and test parts occurs in the training part, on each side; of Chinese, every
///     character.
///   - Each sentence has exactly one translation.
///   - Equal options give equal sentences on every machine.
/// Throws: Error(kUsage), "sample-corpus: --pair fr-xx is unknown; choose one of: en-de, en-zh, zh-en",
/// "sample-corpus: --size is 0, must be 100 to 200000".
SampleCorpus make_sample_corpus(const SampleCorpusOptions& options);

/// Writes the result of make_sample_corpus to options.output: train, valid and test, each with .en and .de or .zh, in
/// UTF-8 with one sentence a line, and test.pronouns.tsv (PronounRow). After a crash each file is complete
/// or missing. Throws: as make_sample_corpus, and Error(kCannotWrite).
SampleCorpusSummary write_sample_corpus(const SampleCorpusOptions& options);

}  // namespace dragoman::data
