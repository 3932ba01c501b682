#pragma once

#include <cstdint>
#include <string>

namespace dragoman::training {

/// Notices a run that has diverged although its gradients stay finite: its loss exceeds ln V, which guessing
/// among V answers without looking at the text would cost.
class LossWatch {
 public:
  explicit LossWatch(int64_t choices) : choices_(choices) {}

  /// Returns a warning with the third window in a row whose loss is too high; otherwise nothing.
  /// @param loss  nats a token of the window that ends with `step`
  std::string warning(double loss, int64_t step);

 private:
  int64_t choices_;
  int64_t lost_windows_ = 0;  // in a row
};

}  // namespace dragoman::training
