#include "models/token_rows.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/transfer.h"

namespace dragoman::models {

TokenRows one_sentence(std::span<const int32_t> ids) {
  const int32_t offsets[] = {0, static_cast<int32_t>(ids.size())};
  return make_token_rows(ids, offsets);
}

TokenRows make_token_rows(std::span<const int32_t> ids, std::span<const int32_t> offsets, int64_t first_row) {
  const auto n_rows = static_cast<int64_t>(ids.size());
  base::check_argument(!offsets.empty() && offsets.front() == 0 && offsets.back() == n_rows,
                       "token rows: offsets must run from 0 to the number of ids ({})", n_rows);
  std::vector<int32_t> positions(ids.size());
  for (size_t sentence = 0; sentence + 1 < offsets.size(); ++sentence) {
    base::check_argument(offsets[sentence] <= offsets[sentence + 1], "token rows: offsets fall at sentence {}",
                         sentence);
    for (int32_t row = offsets[sentence]; row < offsets[sentence + 1]; ++row) {
      positions[static_cast<size_t>(row)] = row - offsets[sentence];
    }
  }
  return {tensor::host_tensor(ids), {tensor::host_tensor(offsets), tensor::host_tensor(positions), first_row}};
}

std::vector<int32_t> segments_of(std::span<const int32_t> second_begins, std::span<const int32_t> offsets) {
  std::vector<int32_t> segments(static_cast<size_t>(offsets.back()));
  for (size_t text = 0; text < second_begins.size(); ++text) {
    if (second_begins[text] > 0) {
      std::fill(segments.begin() + offsets[text] + second_begins[text], segments.begin() + offsets[text + 1], 1);
    }
  }
  return segments;
}

std::vector<int32_t> rows_of_all(std::span<const int32_t> chosen, std::span<const int32_t> chosen_offsets,
                                 std::span<const int32_t> offsets) {
  std::vector<int32_t> rows(chosen.begin(), chosen.end());
  for (size_t text = 0; text + 1 < chosen_offsets.size(); ++text) {
    for (int32_t at = chosen_offsets[text]; at < chosen_offsets[text + 1]; ++at) {
      rows[static_cast<size_t>(at)] += offsets[text];
    }
  }
  return rows;
}

}  // namespace dragoman::models
