#include "kernels/check_ids.h"

#include "base/error.h"
#include "tensor/transfer.h"

namespace dragoman::kernels {

void check_ids(const tensor::Tensor& ids, int64_t size, int64_t limit, const char* op, const char* argument) {
  base::check_argument(ids.dtype() == tensor::DType::kInt32, "{}: {} is {}, must be int32", op, argument,
                       tensor::dtype_name(ids.dtype()));
  tensor::check_shape(ids, {size}, op, argument);
  if (!ids.device().is_host()) {
    return;  // checked where they were brought to the device
  }
  const tensor::HostView<int32_t> values(ids);
  for (size_t index = 0; index < values.size(); ++index) {
    base::check_argument(0 <= values[index] && values[index] < limit, "{}: {}[{}] is {}, must be in [0, {})", op,
                         argument, index, values[index], limit);
  }
}

void check_float(const tensor::Tensor& tensor, const char* op, const char* argument) {
  base::check_argument(tensor.dtype() == tensor::DType::kFloat32 || tensor.dtype() == tensor::DType::kFloat64,
                       "{}: {} is {}, must be float32 (or float64 for checks)", op, argument,
                       tensor::dtype_name(tensor.dtype()));
}

}  // namespace dragoman::kernels
