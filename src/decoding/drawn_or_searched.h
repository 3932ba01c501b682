#pragma once

#include "base/error.h"
#include "decoding/search/options.h"

namespace dragoman::decoding {

/// Settles for a language model whether its text is drawn or searched: a beam draws nothing, and what limits a draw is
/// left out where there is none.
/// @param is_given  whether the user gave the temperature; otherwise it is a default that a beam replaces
/// Throws: Error(kUsage), "beam_size is 4 and temperature 0.8: text is either searched or drawn; leave one out".
inline void settle_drawn_or_searched(SearchOptions& search, bool is_given) {
  if (search.beam_size > 1) {
    base::check_usage(!is_given || !search.samples(),
                      "beam_size is {} and temperature {}: text is either searched or drawn; leave one out",
                      search.beam_size, search.sampling.temperature);
    search.sampling.temperature = 0.0;
  }
  if (!search.samples()) {
    search.sampling = {.seed = search.sampling.seed};
  }
}

}  // namespace dragoman::decoding
