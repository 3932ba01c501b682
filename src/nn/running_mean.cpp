#include "nn/running_mean.h"

#include "ops/scan.h"

namespace dragoman::nn {

Variable RaggedRunningMean::scan(const Variable& x, const Variable& keep) {
  return ops::scan(x, keep, rows_.offsets);  // [N, D]
}

}  // namespace dragoman::nn
