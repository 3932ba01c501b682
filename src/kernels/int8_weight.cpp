#include "kernels/int8_weight.h"

#include "tensor/arena.h"
#include "tensor/transfer.h"

namespace dragoman::kernels {
namespace {

int64_t padded(int64_t size) {
  return (size + Int8Weight::kMultiple - 1) / Int8Weight::kMultiple * Int8Weight::kMultiple;
}

Tensor columns_as_rows(const Tensor& values, Transpose stored) {
  const bool are_rows = stored == Transpose::kYes;
  const int64_t depth = values.dim(are_rows ? 1 : 0), columns = values.dim(are_rows ? 0 : 1);
  Tensor rows = Tensor::zeros({padded(columns), padded(depth)}, DType::kInt8);  // [N', K']
  const auto* from = values.data<int8_t>();
  for (int64_t column = 0; column < columns; ++column) {
    auto* to = rows.data<int8_t>() + column * rows.dim(1);
    for (int64_t k = 0; k < depth; ++k) {
      to[k] = are_rows ? from[column * depth + k] : from[k * columns + column];
    }
  }
  return rows;
}

}  // namespace

Int8Weight int8_weight(const QuantisedWeight& weight, Transpose stored) {
  const auto on_host = [&] {
    const tensor::HostScope scope;
    return columns_as_rows(weight.values, stored);
  };
  return {tensor::to_current_device(on_host()), tensor::to_current_device(weight.scales),
          weight.values.dim(stored == Transpose::kYes ? 1 : 0), stored};
}

}  // namespace dragoman::kernels
