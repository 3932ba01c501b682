#pragma once

#include <string>
#include <vector>

namespace dragoman::report {

/// Attention weights of one kind: [layer][head] -> row-major matrix, rows = queries, columns = keys.
using AttentionGrid = std::vector<std::vector<std::vector<float>>>;

/// What the page of `dragoman attention` shows. A grid may be empty: its part of the page is then left out.
struct AttentionPageData {
  std::string title;        ///< of the page; empty: "Attention"
  std::string source_text;  ///< as the user gave it
  std::string translation;
  std::vector<std::string> source_pieces;   ///< S, the end token included
  std::vector<std::string> decoder_pieces;  ///< T, what the decoder reads: begin token, then the target shifted by one
  std::vector<std::string> target_pieces;   ///< T, what the decoder predicts there; the end token included
  AttentionGrid encoder_self;               ///< matrices [S, S]
  AttentionGrid decoder_self;               ///< matrices [T, T], rows and columns named by decoder_pieces
  AttentionGrid cross;                      ///< matrices [T, S], rows named by target_pieces
  std::string from_word;  ///< the page opens with where this source word looks, layer by layer; empty: left out
};

}  // namespace dragoman::report
