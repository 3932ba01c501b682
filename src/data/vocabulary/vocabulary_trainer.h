#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// How a sub-word vocabulary is learned. `fields` says of each field what it means and which values it may have.
struct VocabularyOptions {
  enum class Type { kUnigram, kBpe, kByteBpe, kCharacters, kWordPiece };

  int32_t size = 10000;        ///< the four special pieces included
  Type type = Type::kUnigram;  ///< unigram language model (Kudo 2018), byte-pair encoding (Sennrich 2016)
                               ///< of characters or of bytes (Radford et al. 2019), single characters, or WordPiece
  double character_coverage = 1.0;  ///< the rest becomes unk (or bytes)
  std::string normalization = "nmt_nfkc";
  uint64_t max_lines = 2'000'000;  ///< chosen evenly over all files by `seed`
  bool byte_fallback = false;      ///< 256 more pieces instead of unk
  std::string whole_words;         ///< with commas between them
  uint64_t seed = 1;

  static constexpr const char* kTitle = "Vocabulary";  ///< in --help
  /// Calls visit(base::Field) for each field but `seed`.
  template <typename Visit>
  static void fields(Visit&& visit);
};

constexpr base::Names<VocabularyOptions::Type> names_of(VocabularyOptions::Type) {
  return {"vocabulary_type",
          {{VocabularyOptions::Type::kUnigram, "unigram"},
           {VocabularyOptions::Type::kBpe, "bpe"},
           {VocabularyOptions::Type::kByteBpe, "byte-bpe"},
           {VocabularyOptions::Type::kCharacters, "characters"},
           {VocabularyOptions::Type::kWordPiece, "word-piece"}}};
}

template <typename Visit>
void VocabularyOptions::fields(Visit&& visit) {
  using base::Field;
  using O = VocabularyOptions;
  visit(Field("vocabulary_size", &O::size, "Sub-word pieces (of each side when separate)", {5, 1'000'000})
            .under("--vocab-size")
            .in(base::kMostUsed));
  visit(Field("vocabulary_type", &O::type,
              "Sub-word model; byte-bpe and characters are for language models, word-piece and characters for encoders")
            .under("--vocab-type"));
  visit(Field("character_coverage", &O::character_coverage,
              "Share of characters that get a piece; 1 for alphabets, 0.9995 suits Chinese", {0.98, 1}));
  visit(Field("normalization", &O::normalization,
              "Of text before it is cut; identity keeps full-width punctuation: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, "
              "identity"));
  visit(Field("vocabulary_lines", &O::max_lines, "Lines the pieces are learned from at most, drawn evenly; 0 = all")
            .under("--vocab-lines"));
  visit(Field("whole_words", &O::whole_words,
              "Words that are one piece behind a space, with commas between them; for words with an apostrophe or "
              "hyphen, which are cut there otherwise")
            .under("--vocab-words"));
  visit(Field("byte_fallback", &O::byte_fallback, "Unknown characters become bytes (true or false)"));
}

/// Returns: the values that VocabularyOptions::normalization may have.
std::vector<std::string> normalizations();

/// A vocabulary and how it came out.
struct TrainedVocabulary {
  Vocabulary vocabulary;
  uint64_t lines_used = 0;
  std::string note;  ///< empty, or the difference from the options: "vocabulary: 10000 pieces were asked for, ..."
};

/// Learns one vocabulary from all lines of `files`, which hold both languages for a joint vocabulary. Equal files and
/// options give equal bytes. Blank lines and lines above 16 KiB are ignored. If the text is too small for `size`, the
/// result is the largest possible vocabulary, and `note` says so. Disables the log of SentencePiece for the whole
/// process. Throws: Error(kUsage) for a type that is not unigram or bpe, an option out of range, or a size below the
/// number of characters; Error(kBadData) if a file cannot be read or there is no text.
TrainedVocabulary train_vocabulary(const std::vector<std::filesystem::path>& files, const VocabularyOptions& options);

}  // namespace dragoman::data
