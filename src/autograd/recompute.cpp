#include "autograd/recompute.h"

#include <utility>

namespace dragoman::autograd {

Variable recompute(const char* name, std::function<Variable()> part) {
  Tape* const outer = Tape::active();
  if (outer == nullptr) {
    return part();
  }
  Tape dropped(*outer);
  const TapeScope nothing_kept(&dropped);
  const Variable once = part();
  if (!once.requires_grad()) {
    return once;
  }
  Variable output(once.value(), /*requires_grad=*/true);
  output.set_rounded(once.rounded());
  outer->push(name, output, [part = std::move(part)](const Tensor& grad_output) {
    Tape tape;
    Variable again;
    {
      const TapeScope recorded(&tape);
      again = part();
    }
    tape.backward_from(again, grad_output);
  });
  return output;
}

}  // namespace dragoman::autograd
