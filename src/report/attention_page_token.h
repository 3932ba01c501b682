#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dragoman::report {

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

}  // namespace dragoman::report
