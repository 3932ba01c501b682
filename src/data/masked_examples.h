#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/examples.h"
#include "data/token_text.h"

namespace dragoman::data {

/// What a masked language model hides of a text (Devlin et al. 2019, section 3.1). Of the chosen pieces 80 % become the
/// mask, 10 % a random piece, and 10 % stay.
struct MaskOptions {
  double mask_share = 0.15;
  bool whole_words = false;

  static constexpr const char* kTitle = "Masked language model";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void MaskOptions::fields(Visit&& visit) {
  using base::Field;
  using O = MaskOptions;
  visit(Field("mask_share", &O::mask_share, "Share of the pieces of a text that are predicted", {0.01, 0.9}));
  visit(Field("whole_word_masks", &O::whole_words, "All pieces of a word are predicted, or none (true or false)"));
}

/// The pieces of a vocabulary as masking needs them.
struct MaskPieces {
  int32_t mask = -1;
  std::vector<int32_t> ordinary;  ///< all but the special ones
  std::vector<bool> continues;    ///< [V] goes on with a word
};

/// Returns: the id of [MASK] or <mask>; -1 if the vocabulary has neither.
int32_t mask_id(const Vocabulary& vocabulary);

/// Throws: Error(kUsage) if `mask` is -1, "masked-language-model: the tokenizer has no piece [MASK] or <mask>; ...".
void check_has_mask(int32_t mask);

/// Throws: as check_has_mask.
MaskPieces mask_pieces(const Vocabulary& vocabulary);

/// How running text becomes examples of a masked language model.
struct MaskedTextOptions {
  int64_t max_length = 128;       ///< of an example, in ids with those of the frame
  bool across_documents = false;  ///< an example may hold several documents; the frame's last id ends each
  MaskOptions masks;
  uint64_t seed = 1;
};

/// Examples of a masked language model. An example is a window of text in its frame, with some pieces hidden; the
/// hidden ones are the targets. Each epoch hides others, which follow from (seed, epoch, index). Across documents the
/// windows begin elsewhere in each epoch; less than one window of text is left out of an epoch.
/// Threads: any number; the object is immutable after construction.
class MaskedExamples : public Examples {
 public:
  /// The epoch whose masks validation uses.
  static constexpr uint64_t kValidationEpoch = ~uint64_t{0};

  /// Throws: Error(kBadData) if the text has no piece.
  MaskedExamples(const TokenText& text, const Vocabulary& vocabulary, const MaskedTextOptions& options);

  uint64_t size() const override { return windows_.size(); }
  int32_t max_length() const override { return static_cast<int32_t>(options_.max_length) - 1; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string report() const override;
  std::vector<std::pair<std::string, uint64_t>> facts() const override;
  std::string place(uint64_t line) const override;
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t epoch) const override;
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

 private:
  struct Place {
    uint64_t begin;
    uint64_t length;
  };
  uint64_t shift(uint64_t epoch) const;
  std::vector<int32_t> chosen_rows(const std::vector<int32_t>& ids, int64_t first, base::Random& random) const;

  std::vector<int32_t> ids_;
  TextFrame frame_;
  MaskPieces pieces_;
  MaskedTextOptions options_;
  std::vector<Place> windows_;  // of an epoch that is not shifted
  CorpusStatistics statistics_;
};

}  // namespace dragoman::data
