#include "decoding/search/options.h"

#include <algorithm>
#include <cmath>

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::decoding {
namespace {

void check_n_best(const SearchOptions& options) {
  if (options.samples() || options.alternatives) {
    return base::check_range("n_best", options.n_best, 1, 128);
  }
  base::check_usage(options.n_best >= 1 && options.n_best <= options.beam_size,
                    "n_best is {}, must be 1 to beam_size ({}); raise beam_size to get more translations",
                    options.n_best, options.beam_size);
  base::check_usage(options.n_best <= options.finished_wanted(),
                    "n_best is {}, but a search with patience {} ends with {} finished; raise patience or beam_size",
                    options.n_best, options.patience, options.finished_wanted());
}

}  // namespace

void SearchOptions::check() const {
  base::check_range("beam_size", beam_size, 1, 128);
  base::check_range("alpha", alpha, -5, 5);
  base::check_range("min_length", min_length, 0, 100000);
  base::check_range("max_length_ratio", max_length_ratio, 0, 100);
  base::check_range("max_length_extra", max_length_extra, 0, 100000);
  base::check_range("batch_tokens", static_cast<double>(batch_tokens), 1, 1000000);
  base::check_range("workers", workers, 0, 1024);
  base::check_range("threads_per_worker", threads_per_worker, 0, 64);
  base::check_range("alignment_layer", alignment_layer, -1, 511);
  base::check_range("repetition_penalty", repetition_penalty, 1, 10);
  base::check_range("no_repeat_ngram", no_repeat_ngram, 0, 100);
  base::check_range("sampling_temperature", sampling_temperature, 0, 100);
  base::check_range("sampling_top_k", sampling_top_k, 0, 1000000);
  base::check_usage(sampling_top_p > 0 && sampling_top_p <= 1, "sampling_top_p is {}, must be above 0, to 1",
                    sampling_top_p);
  base::check_usage(samples() || (sampling_top_k == 0 && sampling_top_p == 1.0),
                    "sampling_top_k is {} and sampling_top_p {}, but sampling_temperature is 0, which draws nothing; "
                    "give a temperature such as 1",
                    sampling_top_k, sampling_top_p);
  base::check_range("patience", patience, 0.1, 10);
  base::check_usage(beam_rule == BeamRule::kShrinking || patience == 1.0,
                    "patience is {}, but beam_rule full has an end of its own; leave patience at 1", patience);
  base::check_range("coverage_penalty", coverage_penalty, 0, 10);
  base::check_range("reverse_weight", reverse_weight, 0, 10);
  check_n_best(*this);
}

int SearchOptions::finished_wanted() const {
  return std::max(1, static_cast<int>(std::lround(patience * beam_size)));
}

int64_t SearchOptions::max_length(int64_t source_length, int64_t max_positions) const {
  const double wanted = std::floor(max_length_ratio * static_cast<double>(source_length)) + max_length_extra;
  return std::clamp(static_cast<int64_t>(std::min(wanted, 1e9)), int64_t{1}, max_positions);
}

double length_penalty(LengthPenalty kind, double alpha, int64_t length) {
  const auto len = static_cast<double>(length);
  return std::pow(kind == LengthPenalty::kGnmt ? (5.0 + len) / 6.0 : len, alpha);
}

int worker_count(int asked) {
  return asked > 0 ? asked : base::cpu_count();
}

std::string_view name_of(BeamRule rule) {
  return rule == BeamRule::kFull ? "full" : "shrinking";
}

BeamRule beam_rule_from(std::string_view name) {
  base::check_usage(name == "full" || name == "shrinking", "beam_rule is \"{}\", must be shrinking or full", name);
  return name == "full" ? BeamRule::kFull : BeamRule::kShrinking;
}

std::string_view name_of(LengthPenalty kind) {
  return kind == LengthPenalty::kGnmt ? "gnmt" : "length";
}

LengthPenalty length_penalty_from(std::string_view name) {
  base::check_usage(name == "gnmt" || name == "length", "length_penalty is \"{}\", must be one of gnmt, length", name);
  return name == "gnmt" ? LengthPenalty::kGnmt : LengthPenalty::kLength;
}

}  // namespace dragoman::decoding
