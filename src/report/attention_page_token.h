#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dragoman::report {

/// The attention weights from one token to all tokens, for each head.
struct TokenAttention {
  std::vector<std::string> tokens;          ///< S
  size_t query = 0;                         ///< index of the query token
  std::vector<std::vector<float>> weights;  ///< [head][S]
  std::string description;                  ///< text for aria-label
};

/// Returns a compact inline <svg>. The tokens stand from top to bottom, with one cell for each head beside each token.
/// Arcs lead from the query token; their width is the mean weight. The element has its own colours for light and dark
/// pages; text has the colour of the page. Throws: Error(kRuntime) if `query` or the sizes are inconsistent, "attention
/// from token: head 2 has 9 weights for 10 tokens; give one weight a token".
std::string attention_from_token_svg(const TokenAttention& attention);

}  // namespace dragoman::report
