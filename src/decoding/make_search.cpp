#include "decoding/beam_search.h"
#include "decoding/greedy.h"
#include "decoding/sample_search.h"

namespace dragoman::decoding {

std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits,
                                            const SentenceRequest& request) {
  if (options.samples()) {
    return std::make_unique<SampleSearch>(options, limits, request.random_stream);
  }
  if (options.beam_size == 1 && options.finished_wanted() == 1) {
    return std::make_unique<GreedySearch>(options, limits);
  }
  return std::make_unique<BeamSearch>(options, limits, request);
}

}  // namespace dragoman::decoding
