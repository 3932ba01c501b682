#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/labelled_text.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// What an encoder reads for one text, with what stands around it (TextFrame).
struct EncoderInput {
  std::vector<int32_t> ids;
  int32_t second_begin = 0;          ///< where the second text begins; 0 = there is one text
  std::vector<int32_t> word_rows{};  ///< of text in words: the row of the first piece of each word
  size_t first_word = 0;             ///< of text in words: which word of the sentence the first of these is
  bool is_cut = false;               ///< the end of a text is left out, because it is longer than the model takes
};

/// Returns the ids of a text or of a pair. What is too long loses its end; of a pair the longer text loses pieces
/// first.
/// @param max_length  ids, with those of the frame.  Requires: max_length leaves room for a piece of each text
EncoderInput encoder_input(const Vocabulary& vocabulary, const TextOrPair& text, int64_t max_length);

/// Returns a text that is too long as windows, each in its frame: neighbours share `stride` pieces, and the last one
/// holds the rest, as the `tokenizers` package makes them. Other texts, pairs, and all with stride 0, are one input, as
/// from encoder_input.
/// Throws: Error(kUsage), "stride is 40, must be below 38, the pieces that a window of this model holds".
std::vector<EncoderInput> encoder_windows(const Vocabulary& vocabulary, const TextOrPair& text, int64_t max_length,
                                          int64_t stride);

/// Returns the ids of a sentence in words: each word is cut into pieces by itself, as with a space before it. A word
/// without any piece becomes unk. A sentence that is too long becomes several inputs, which hold all its words; a word
/// that is too long alone loses its end.
/// @param stride  an input begins with the last words of the one before that have as many pieces together, at most
/// Throws: as encoder_windows.
std::vector<EncoderInput> word_inputs(const Vocabulary& vocabulary, const std::vector<std::string>& words,
                                      int64_t max_length, int64_t stride = 0);

/// Returns the number of ids around a text, or around a pair and between its texts.
int64_t frame_size(const TextFrame& frame, bool is_pair);

/// Returns `ids` with what stands around one text.
std::vector<int32_t> framed(const TextFrame& frame, std::vector<int32_t> ids);

}  // namespace dragoman::data
