#include "ops/offsets.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "tensor/transfer.h"

namespace dragoman::ops {

std::vector<int32_t> checked_offsets(const Tensor& offsets, int64_t n_rows, const char* op) {
  base::check_argument(offsets.dtype() == DType::kInt32 && offsets.rank() == 1,
                       "{}: offsets are {} {}, must be int32 [B]", op, tensor::dtype_name(offsets.dtype()),
                       offsets.shape());
  const tensor::HostView<int32_t> ends(offsets);
  base::check_argument(ends.size() > 0 && ends.front() == 0 && ends.back() == n_rows,
                       "{}: offsets run from {} to {}, must run from 0 to the number of rows, {}", op,
                       ends.size() == 0 ? 0 : ends.front(), ends.size() == 0 ? 0 : ends.back(), n_rows);
  const auto fall = std::ranges::adjacent_find(ends.span(), std::greater<>());
  base::check_argument(fall == ends.span().end(), "{}: offsets fall after element {}; they must not", op,
                       fall - ends.span().begin());
  return {ends.begin(), ends.end()};
}

}  // namespace dragoman::ops
