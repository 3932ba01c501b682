#include "decoding/options.h"

#include <algorithm>
#include <cmath>

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::decoding {
namespace {}  // namespace

void SearchOptions::check() const {
  base::check_range("beam_size", beam_size, 1, 128);
  base::check_range("alpha", alpha, 0, 5);
  base::check_range("min_length", min_length, 0, 100000);
  base::check_range("max_length_ratio", max_length_ratio, 0, 100);
  base::check_range("max_length_extra", max_length_extra, 0, 100000);
  base::check_range("batch_tokens", static_cast<double>(batch_tokens), 1, 1000000);
  base::check_range("workers", workers, 0, 1024);
  base::check_range("alignment_layer", alignment_layer, -1, 511);
  base::check_usage(n_best >= 1 && n_best <= beam_size,
                    "n_best is {}, must be 1 to beam_size ({}); raise beam_size to get more translations", n_best,
                    beam_size);
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

std::string_view name_of(LengthPenalty kind) {
  return kind == LengthPenalty::kGnmt ? "gnmt" : "length";
}

LengthPenalty length_penalty_from(std::string_view name) {
  base::check_usage(name == "gnmt" || name == "length", "length_penalty is \"{}\", must be one of gnmt, length", name);
  return name == "gnmt" ? LengthPenalty::kGnmt : LengthPenalty::kLength;
}

}  // namespace dragoman::decoding
