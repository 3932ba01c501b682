#include "kernels/dropout.h"

#include "base/error.h"

namespace dragoman::kernels {

void check_dropout(const Dropout& dropout, const char* op) {
  base::check_argument(dropout.probability >= 0.0F && dropout.probability < 1.0F,
                       "{}: probability is {}, must be in [0, 1)", op, dropout.probability);
}

}  // namespace dragoman::kernels
