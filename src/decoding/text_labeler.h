#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/encoder_input.h"
#include "data/labels.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/text_encoder.h"
#include "models/encoder_only/encoder_only.h"

namespace dragoman::decoding {

/// The classes of some texts.
struct TextClasses {
  std::vector<float> probabilities;  ///< [B, C]
  int64_t labels = 0;                ///< C
  int64_t cut = 0;                   ///< texts that were longer than the model takes, which lost their end

  std::span<const float> of(size_t text) const {
    return std::span(probabilities).subspan(text * static_cast<size_t>(labels), static_cast<size_t>(labels));
  }
  /// Returns: the most probable label of a text; of equal ones the first.
  int32_t best(size_t text) const;
};

/// The tags of the words of one sentence.
struct WordTags {
  std::vector<int32_t> tags;         ///< one for each word
  std::vector<float> probabilities;  ///< of these tags

  /// Adds the tags of a window whose first word is number `first_word` of the sentence. Of the words that have tags
  /// already the earlier half keeps them: it is farther from the end of the earlier window.
  void append(const WordTags& window, size_t first_word);
};

/// A piece that may stand in a hidden place.
struct MaskCandidate {
  int32_t id = 0;
  std::string piece;  ///< as text, without spaces around it
  float probability = 0.0F;
};

/// The candidates of each hidden place of one text, the most probable first.
using FilledMasks = std::vector<std::vector<MaskCandidate>>;

/// Computes the logits [K, C] of each input: with a head for classes one row, otherwise the rows that
/// EncoderInput::word_rows names. Requires: the model has a head.
void logits_batch(const models::EncoderOnly& model, EncoderBatch batch, const UseEncoded& use);

/// Returns: the softmax of one row of logits [C].
std::vector<float> probabilities_of(std::span<const float> logits);

/// An encoder, its vocabulary and the labels of its head. Results have the same bits for a text alone and in any batch.
/// Threads: any number may use one object.
class TextLabeler {
 public:
  /// Throws: Error(kBadData) unless there are as many labels as the head has, none without a head.
  TextLabeler(std::shared_ptr<const models::EncoderOnly> model, data::Vocabulary vocabulary, data::Labels labels);

  /// A text in windows (EncodeOptions::stride) has the mean of their probabilities; a pair is cut all the same.
  /// Requires: a head for classes.
  TextClasses classify(std::span<const data::TextOrPair> texts, const EncodeOptions& options = {}) const;
  /// Of a word in two windows the tag counts of the one where the word is farther from an edge that is not the end of
  /// the sentence.
  /// Requires: a head for tags; no sentence is without words.
  std::vector<WordTags> tag(std::span<const std::vector<std::string>> sentences,
                            const EncodeOptions& options = {}) const;
  /// Returns the `most` best pieces for each mask token in each text. What is longer than the model takes is cut.
  /// Requires: a head for words. Throws: Error(kBadData), "fill-mask: text 3 has no [MASK]; ...".
  std::vector<FilledMasks> fill(std::span<const std::string> texts, int most, const EncodeOptions& options = {}) const;
  /// The same for inputs of masked_input. Requires: each has a mask.
  std::vector<FilledMasks> fill(const std::vector<data::EncoderInput>& inputs, int most,
                                const EncodeOptions& options = {}) const;

  /// What `fill` and `tag` do before and behind logits_batch, for one input.
  /// Returns: the input of a text, whose `word_rows` are those of its mask pieces; none if it has no mask.
  data::EncoderInput masked_input(const std::string& text) const;
  /// Returns: "has no [MASK]; ..." for an input without a mask, to be written behind its name; empty for others.
  std::string lack_of_mask(const data::EncoderInput& input) const;
  /// Returns: the input with these rows.
  data::EncoderInput with_masks(data::EncoderInput input) const;
  WordTags tags_of(std::span<const float> logits) const;
  /// @param logits  [masks, V]
  FilledMasks candidates_of(std::span<const float> logits, size_t masks, int most) const;

  /// Returns: the piece that hides a place, such as [MASK]; empty if the vocabulary has none.
  std::string mask_piece() const { return mask_ < 0 ? std::string() : vocabulary_.piece(mask_); }
  const std::shared_ptr<const models::EncoderOnly>& shared_model() const { return model_; }
  const models::EncoderOnly& model() const { return *model_; }
  const data::Vocabulary& vocabulary() const { return vocabulary_; }
  const data::Labels& labels() const { return labels_; }

 private:
  std::shared_ptr<const models::EncoderOnly> model_;
  data::Vocabulary vocabulary_;
  data::Labels labels_;
  int32_t mask_;  // -1 if the vocabulary has none
};

/// An encoder with any head, or without one, from its folder; without labels.json labels are numbers.
/// Throws: as load_encoder.
TextLabeler load_labeler(const std::filesystem::path& folder, std::optional<kernels::Precision> precision = {});

/// Checks that the encoder has this head.
/// @param name  of the model, such as its folder. @param command  "classify". Both are for the error.
/// Throws: Error(kUsage), "DIR: holds an encoder with head tags, classify needs classes; train it with --task
/// classify".
void check_head(const TextLabeler& labeler, models::EncoderHead head, const std::string& name,
                const std::string& command);

/// An encoder with this head. @param command  "classify", for
/// errors
/// Throws: as load_encoder and check_head.
TextLabeler load_labeler(const std::filesystem::path& folder, models::EncoderHead head, const std::string& command,
                         std::optional<kernels::Precision> precision = {});

}  // namespace dragoman::decoding
