#include "decoding/search/options.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman::decoding {
namespace {

void check_n_best(const SearchOptions& options) {
  if (options.samples() || options.alternatives) {
    return base::check_range("n_best", options.n_best, 1, kWidestBeam);
  }
  base::check_usage(options.n_best >= 1 && options.n_best <= options.beam_size,
                    "n_best is {}, must be 1 to beam_size ({}); raise beam_size to get more translations",
                    options.n_best, options.beam_size);
  base::check_usage(options.n_best <= options.finished_wanted(),
                    "n_best is {}, but a search with patience {} ends with {} finished; raise patience or beam_size",
                    options.n_best, options.beam.patience, options.finished_wanted());
}

}  // namespace

void SearchOptions::check() const {
  base::check_fields(*this);
  base::check_fields(execution);
  base::check_usage(samples() || (sampling.top_k == 0 && sampling.top_p == 1.0),
                    "sampling_top_k is {} and sampling_top_p {}, but sampling_temperature is 0, which draws nothing; "
                    "give a temperature such as 1",
                    sampling.top_k, sampling.top_p);
  base::check_usage(beam.rule == BeamRule::kShrinking || beam.patience == 1.0,
                    "patience is {}, but beam_rule full has an end of its own; leave patience at 1", beam.patience);
  check_n_best(*this);
}

int SearchOptions::finished_wanted() const {
  return std::max(1, static_cast<int>(std::lround(beam.patience * beam_size)));
}

int64_t LengthOptions::longest(int64_t source_length, int64_t max_positions) const {
  const double wanted = std::floor(max_length_ratio * static_cast<double>(source_length)) + max_length_extra;
  return std::clamp(static_cast<int64_t>(std::min(wanted, 1e9)), int64_t{1}, max_positions);
}

double length_penalty(const RankingOptions& options, int64_t length) {
  const auto len = static_cast<double>(length);
  return std::pow(options.length_penalty == LengthPenalty::kGnmt ? (5.0 + len) / 6.0 : len, options.alpha);
}

}  // namespace dragoman::decoding
