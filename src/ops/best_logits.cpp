#include "ops/best_logits.h"

#include "kernels/backends/backend_of.h"
#include "kernels/cpu/output/logit_screen.h"

namespace dragoman::ops {

void best_of_product(const Tensor& x, const Weight& weight, const Tensor& bias, int k, BestLogits& best) {
  if (weight.packed == nullptr) {
    Tensor logits = Tensor::empty({x.dim(0), weight.shape()[0]});  // [R, V]
    multiply_weight(x, weight, Transpose::kYes, bias, logits);
    return kernels::backend_of(logits).best_of_rows(logits, k, best);
  }
  const PackedMatrix& matrix = weight.packed->forward();  // [D, V]
  const kernels::LogitScreen* screen = best.choice_from() > 0 ? weight.packed->screen() : nullptr;
  if (screen != nullptr) {
    return screen->best(x, matrix, bias, best.choice_from(), best);
  }
  kernels::best_of_matrix(x, matrix, bias, k, best);
}

}  // namespace dragoman::ops
