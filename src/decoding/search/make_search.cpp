#include "decoding/search/make_search.h"

#include "base/ascii.h"
#include "base/error.h"
#include "decoding/search/alternatives_search.h"
#include "decoding/search/banned_phrases.h"
#include "decoding/search/beam_search.h"
#include "decoding/search/greedy.h"
#include "decoding/search/sample_search.h"

namespace dragoman::decoding {
namespace {

// No search finds such a translation: it would go on to the longest length.
void check_not_banned(const Phrases& phrases, const RuleOptions& rules) {
  if (rules.banned == nullptr) {
    return;
  }
  for (const Phrase& phrase : phrases.all) {
    const std::string_view banned = rules.banned->found_in(phrase.text);
    base::check_usage(banned.empty(), "phrases: \"{}\" is demanded, and \"{}\" is banned; leave out one of them",
                      base::trim(phrase.text, " "), banned);
  }
}

}  // namespace

std::unique_ptr<SentenceSearch> make_search(const SearchOptions& options, const SearchLimits& limits,
                                            const SentenceRequest& request) {
  base::check_usage(!options.samples() || request.phrases.empty(),
                    "phrases: sampling cannot be made to hold phrases; leave sampling_temperature at 0");
  check_not_banned(request.phrases, options.rules);
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
