#include "training/loss_watch.h"

#include <fmt/format.h>

#include <cmath>

namespace dragoman::training {
namespace {

constexpr int64_t kStepsToSettle = 200;  // until then the loss may be worse than guessing
constexpr int64_t kLostWindows = 3;

}  // namespace

std::string LossWatch::warning(double loss, int64_t step) {
  const double guessing = std::log(static_cast<double>(choices_));
  lost_windows_ = loss > guessing && step > kStepsToSettle ? lost_windows_ + 1 : 0;
  return lost_windows_ != kLostWindows
             ? ""
             : fmt::format(
                   "the loss is {:.2f} nats a token at step {}, more than guessing would cost ({:.2f}): the "
                   "run has probably diverged; start anew with a lower --learning-rate, more --warmup-steps "
                   "or --clip-norm 1",
                   loss, step, guessing);
}

}  // namespace dragoman::training
