#pragma once

#include <string>
#include <vector>

namespace dragoman::report {

/// Attention weights of one kind, by [layer][head], as row-major matrices. Rows are queries and columns are keys.
using AttentionGrid = std::vector<std::vector<std::vector<float>>>;

/// The data of the page of `dragoman attention`. An empty grid leaves out its part of the page.
struct AttentionPageData {
  std::string title;        ///< title of the page; empty means "Attention"
  std::string source_text;  ///< the input of the user; without encoder and cross-attention it is a prompt
  std::string translation;  ///< or the continuation of the prompt
  std::vector<std::string> source_pieces;   ///< S, with the end token
  std::vector<std::string> decoder_pieces;  ///< T, input of the decoder: begin token, then the target
  std::vector<std::string> target_pieces;   ///< T, predictions of the decoder, with the end token
  AttentionGrid encoder_self;               ///< matrices [S, S]
  AttentionGrid decoder_self;               ///< matrices [T, T], rows and columns named by decoder_pieces
  AttentionGrid cross;                      ///< matrices [T, S], rows named by target_pieces
  std::string from_word;  ///< the page begins with the attention from this source word; empty leaves it out
};

}  // namespace dragoman::report
