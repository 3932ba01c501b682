#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/sample/grammar.h"
#include "data/sample/pronouns.h"

namespace dragoman::data {

inline constexpr int64_t kSampleCorpusMinSize = 100;
inline constexpr int64_t kSampleCorpusMaxSize = 200'000;

/// Options of `dragoman sample-corpus`.
struct SampleCorpusOptions {
  std::string pair = "en-de";  ///< languages; only en-de so far
  /// Sentence pairs in all, 100 to 200,000: 5 % at most 1,000 are the test part, 2.5 % at most 500 the validation part
  /// (each at least 10), the rest is the training part. Small corpora use fewer words.
  int64_t size = 30'000;
  uint64_t seed = 1;             ///< another seed, other sentences and another division into parts
  std::filesystem::path output;  ///< folder, made if missing
};

/// The three parts of a corpus. No English and no German sentence occurs twice, in any part.
struct SampleCorpus {
  std::vector<sample::SentencePair> train, valid, test;
};

/// What was written, for the command line to print.
struct SampleCorpusSummary {
  int64_t train = 0, valid = 0, test = 0;  ///< sentence pairs
  int64_t pronouns = 0;                    ///< test sentences whose pronoun is checked
  int64_t english_words = 0;               ///< distinct words, upper and lower case told apart
  int64_t german_words = 0;
};

/// Generates English-German sentence pairs with a grammar whose "it" takes its meaning from the sentence:
/// "The animal didn't cross the street because it was too tired." (es, das Tier) or "... too wide." (sie, die Straße).
/// German must choose er, sie or es after the gender of what "it" stands for, so the corpus measures coreference.
/// The sentence "The animal didn't cross the street ..." is in the test part, both ways, whenever its words are known.
///   - no pair of nouns of a test sentence occurs in training within the same sentence pattern;
///   - every word of valid and test occurs in train, on each side;
///   - each English sentence has exactly one German translation;
///   - the same options yield the same sentences on every machine.
/// Throws Error(kUsage): "sample-corpus: --pair fr-xx is unknown; choose one of: en-de",
/// "sample-corpus: --size is 0, must be 100 to 200000".
SampleCorpus make_sample_corpus(const SampleCorpusOptions& options);

/// Writes make_sample_corpus to train.en, train.de, valid.en, valid.de, test.en, test.de (UTF-8, one sentence a line)
/// and test.pronouns.tsv (see PronounRow) in options.output, each file whole or not at all.
/// Throws also Error(kCannotWrite).
SampleCorpusSummary write_sample_corpus(const SampleCorpusOptions& options);

}  // namespace dragoman::data
