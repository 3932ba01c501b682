#include "models/token_rows.h"

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

}  // namespace dragoman::models
