#include "decoding/search/make_search.h"

#include "base/error.h"
#include "decoding/search/alternatives_search.h"
#include "decoding/search/beam_search.h"
#include "decoding/search/greedy.h"
#include "decoding/search/sample_search.h"

namespace dragoman::decoding {

std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits,
                                            const SentenceRequest& request) {
  base::check_usage(!options.samples() || request.phrases.empty(),
                    "phrases: sampling cannot be made to hold phrases; leave sampling_temperature at 0");
  if (options.alternatives) {
    return std::make_unique<AlternativesSearch>(options, limits, request, make_search);
  }
  if (options.samples()) {
    return std::make_unique<SampleSearch>(options, limits, request);
  }
  if (options.beam_size == 1 && options.finished_wanted() == 1 && request.phrases.empty() && !request.keeps_tree) {
    return std::make_unique<GreedySearch>(options, limits, request);
  }
  return std::make_unique<BeamSearch>(options, limits, request);
}

}  // namespace dragoman::decoding
