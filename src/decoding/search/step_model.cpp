#include "decoding/search/step_model.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::decoding {

void StepModel::step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  const tensor::Tensor logits = step(rows);  // [R, V]
  kernels::backend_of(logits).best_of_rows(logits, k, best);
}

tensor::Tensor StepModel::step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  tensor::Tensor logits = step(rows);  // [R, V]
  kernels::backend_of(logits).best_of_rows(logits, k, best);
  return logits;
}

void StepModel::restrict(int32_t, std::span<const int32_t>) {
  base::fail(base::ErrorKind::kRuntime, "step model: cannot be restricted to some tokens");
}

tensor::Tensor StepModel::prefill(int32_t slot, std::span<const int32_t> ids) {
  tensor::Tensor all;  // [ids, V]
  for (size_t i = 0; i < ids.size(); ++i) {
    const StepRow row{slot, 0, ids[i]};
    const tensor::Tensor logits = step({&row, 1});  // [1, V]
    if (i == 0) {
      all = tensor::Tensor::empty({static_cast<int64_t>(ids.size()), logits.dim(1)});
    }
    all.rows(static_cast<int64_t>(i), static_cast<int64_t>(i) + 1).copy_from(logits);
  }
  return all;
}

}  // namespace dragoman::decoding
