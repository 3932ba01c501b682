#include "kernels/cross_entropy.h"

#include "base/error.h"

namespace dragoman::kernels {

void check_loss_options(const LossOptions& options, const char* op) {
  base::check_argument(options.label_smoothing >= 0 && options.label_smoothing < 1,
                       "{}: label_smoothing is {}, must be in [0, 1)", op, options.label_smoothing);
}

}  // namespace dragoman::kernels
