#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/sample/grammar.h"
#include "data/sample/pronouns.h"

namespace dragoman::data {

inline constexpr const char* kSampleCorpusPair = "en-de";
inline constexpr int64_t kSampleCorpusMinSize = 100;
inline constexpr int64_t kSampleCorpusMaxSize = 200'000;

/// Options of `dragoman sample-corpus`.
struct SampleCorpusOptions {
  std::string pair = kSampleCorpusPair;  ///< languages; the only choice
  /// Number of sentence pairs, kSampleCorpusMinSize to kSampleCorpusMaxSize. The test part has 5 % of them, between 10
  /// and 1,000, and the validation part 2.5 %, between 10 and 500. All others are the training part. Small corpora use
  /// fewer words.
  int64_t size = 30'000;
  uint64_t seed = 1;             ///< selects the sentences and the division into parts
  std::filesystem::path output;  ///< folder, created if missing
};

/// The three parts of a corpus. Every English and every German sentence occurs once in all parts together.
struct SampleCorpus {
  std::vector<sample::SamplePair> train, valid, test;
};

/// The numbers that the command line prints.
struct SampleCorpusSummary {
  int64_t train = 0, valid = 0, test = 0;  ///< sentence pairs
  int64_t pronouns = 0;                    ///< test sentences whose pronoun is checked
  int64_t english_words = 0;               ///< distinct words, case-sensitive
  int64_t german_words = 0;
};

/// Generates English-German sentence pairs. Only the meaning of the sentence tells what "it" refers to:
/// "The animal didn't cross the street because it was too tired." (es, das Tier) or "... too wide." (sie, die Straße).
/// German chooses er, sie or es by the gender of the antecedent of "it", so the corpus measures coreference. The test
/// part has both versions of "The animal didn't cross the street ..." if the lexicon has its words.
///   - No pair of nouns of a test sentence occurs in training within one sentence pattern.
///   - Every word of the validation and test parts occurs in the training part, on each side.
///   - Each English sentence has exactly one German translation.
///   - Equal options give equal sentences on every machine.
/// Throws: Error(kUsage), "sample-corpus: --pair fr-xx is unknown; choose one of: en-de",
/// "sample-corpus: --size is 0, must be 100 to 200000".
SampleCorpus make_sample_corpus(const SampleCorpusOptions& options);

/// Writes the result of make_sample_corpus to options.output: train.en, train.de, valid.en, valid.de, test.en and
/// test.de in UTF-8 with one sentence a line, and test.pronouns.tsv (PronounRow). After a crash each file is complete
/// or missing. Throws: as make_sample_corpus, and Error(kCannotWrite).
SampleCorpusSummary write_sample_corpus(const SampleCorpusOptions& options);

}  // namespace dragoman::data
