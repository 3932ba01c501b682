#pragma once

#include <string>
#include <vector>

namespace dragoman::decoding {

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

/// One self-contained HTML page (no outside resource, plain JavaScript, the data inside as JSON): an overview of all
/// layers and heads of each kind, an enlarged heat map and the tokens with arcs between them, both with weights on
/// hover and keyboard focus. Weights keep four decimals; one that is not finite is shown as "not a number".
/// Throws Error(kRuntime): "attention page: cross layer 0 head 1 has 30 weights, but 5 x 7 pieces; ...".
std::string attention_page(const AttentionPageData& data);

/// Where one token looks, head by head.
struct TokenAttention {
  std::vector<std::string> tokens;          ///< S
  size_t query = 0;                         ///< index of the token that looks
  std::vector<std::vector<float>> weights;  ///< [head][S]
  std::string description;                  ///< what is drawn, for aria-label
};

/// A compact inline <svg>: the tokens from top to bottom with one cell a head beside each, and arcs from the query
/// token, as thick as the mean weight. Brings its own colours, for light and dark pages; text takes the page's colour.
/// Throws Error(kRuntime) if `query` or the sizes do not fit:
/// "attention from token: head 2 has 9 weights for 10 tokens; give one weight a token".
std::string attention_from_token_svg(const TokenAttention& attention);

/// Encoder self-attention of `data` from the piece that spells `data.from_word`: one figure a layer, as HTML.
/// Throws Error(kUsage): "attention: no piece of the sentence spells 'it'; its pieces are The, animal, ...".
std::string attention_from_word(const AttentionPageData& data);

}  // namespace dragoman::decoding
