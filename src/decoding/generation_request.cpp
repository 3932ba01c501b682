#include "decoding/generation_request.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::decoding {

SearchOptions GenerationOptions::generation_search() {
  SearchOptions search;
  search.beam_size = 1;
  search.length.min_length = 0;
  search.length.max_length_extra = 100'000;  // max_tokens is the limit
  search.sampling.temperature = 0.8;
  search.sampling.top_p = 0.95;
  return search;
}

void GenerationOptions::check() const {
  base::check_usage(max_tokens >= 1, "max_tokens is {}, must be 1 or more", max_tokens);
  base::check_usage(std::ranges::find(stop, "") == stop.end(), "stop: a stop string is empty; leave it out");
  base::check_usage(search.n_best == 1, "n_best is {}, must be 1 where text is generated; ask for samples instead",
                    search.n_best);
  base::check_usage(context_keep >= 0, "context_keep is {}, must be 0 or more", context_keep);
  base::check_usage(context_keep == 0 || context_shift,
                    "context_keep is {}, but nothing leaves the context; give context_shift too", context_keep);
  base::check_usage(!context_shift || search.length.min_length == 0,
                    "min_length is {}, must be 0 with context_shift, which searches a text part by part",
                    search.length.min_length);
  search.check();
}

void GenerationOptions::check_fits(int64_t context) const {
  base::check_usage(!context_shift || context_keep <= context - kLeastThatMoves,
                    "context_keep is {}, must be {} or less: the model has a context of {}, and some tokens must leave",
                    context_keep, context - kLeastThatMoves, context);
}

}  // namespace dragoman::decoding
