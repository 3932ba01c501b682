#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace dragoman::training {
namespace {

// The share of a run in which wsd falls.
constexpr double kWsdDecay = 0.2;

// Half a cosine from 1 to `end` while `progress` goes from 0 to 1.
double cosine_fall(double progress, double end) {
  return end + (1.0 - end) * 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(progress, 1.0)));
}

}  // namespace

void ScheduleOptions::check() const {
  base::check_fields(*this);
  base::check_usage(kind != ScheduleKind::kNoam || warmup_steps >= 1,
                    "warmup_steps is 0, the noam schedule needs >= 1");
  base::check_usage(max_steps >= 1, "max_steps is {}, must be >= 1", max_steps);
  base::check_usage(kind != ScheduleKind::kCosineTime || total_seconds > 0.0,
                    "total_minutes is {}, the cosine-time schedule needs a limit; give --total-minutes",
                    total_seconds / 60.0);
}

double learning_rate(const ScheduleOptions& options, int64_t step, double seconds) {
  const auto now = static_cast<double>(std::max<int64_t>(step, 1));
  const auto warmup = static_cast<double>(options.warmup_steps);
  if (options.kind == ScheduleKind::kNoam) {
    return options.learning_rate / std::sqrt(static_cast<double>(options.d_model)) *
           std::min(1.0 / std::sqrt(now), now * std::pow(warmup, -1.5));
  }
  const double end = options.final_fraction;
  if (options.kind == ScheduleKind::kCosineTime) {
    const double rise = now < warmup ? now / warmup : 1.0;
    return options.learning_rate * rise * cosine_fall(seconds / options.total_seconds, end);
  }
  if (now < warmup) {
    return options.learning_rate * now / warmup;
  }
  switch (options.kind) {
    case ScheduleKind::kInverseSqrt:
      return options.learning_rate * std::sqrt(std::max(warmup, 1.0) / now);
    case ScheduleKind::kCosine: {
      const double length = std::max(static_cast<double>(options.max_steps) - warmup, 1.0);
      return options.learning_rate * cosine_fall((now - warmup) / length, end);
    }
    case ScheduleKind::kWsd: {
      const auto last = static_cast<double>(options.max_steps), begin = (1.0 - kWsdDecay) * last;
      const double progress = std::clamp((now - begin) / std::max(last - begin, 1.0), 0.0, 1.0);
      return options.learning_rate * (1.0 - progress * (1.0 - end));
    }
    default:
      return options.learning_rate;
  }
}

}  // namespace dragoman::training
