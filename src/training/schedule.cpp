#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace dragoman::training {

void ScheduleOptions::check() const {
  base::check_usage(learning_rate > 0.0 && learning_rate <= 100.0,
                    "learning_rate is {}, must be above 0 and at most 100", learning_rate);
  base::check_usage(warmup_steps >= 0, "warmup_steps is {}, must be >= 0", warmup_steps);
  base::check_usage(kind != ScheduleKind::kNoam || warmup_steps >= 1,
                    "warmup_steps is 0, the noam schedule needs >= 1");
  base::check_usage(max_steps >= 1, "max_steps is {}, must be >= 1", max_steps);
}

double learning_rate(const ScheduleOptions& options, int64_t step) {
  const auto now = static_cast<double>(std::max<int64_t>(step, 1));
  const auto warmup = static_cast<double>(options.warmup_steps);
  if (options.kind == ScheduleKind::kNoam) {
    return options.learning_rate / std::sqrt(static_cast<double>(options.d_model)) *
           std::min(1.0 / std::sqrt(now), now * std::pow(warmup, -1.5));
  }
  if (now < warmup) {
    return options.learning_rate * now / warmup;
  }
  switch (options.kind) {
    case ScheduleKind::kInverseSqrt:
      return options.learning_rate * std::sqrt(std::max(warmup, 1.0) / now);
    case ScheduleKind::kCosine: {
      const double length = std::max(static_cast<double>(options.max_steps) - warmup, 1.0);
      const double progress = std::min((now - warmup) / length, 1.0);
      const double fall = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
      return options.learning_rate * (options.final_fraction + (1.0 - options.final_fraction) * fall);
    }
    default:
      return options.learning_rate;
  }
}

std::string_view name_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kNoam:
      return "noam";
    case ScheduleKind::kInverseSqrt:
      return "inverse-sqrt";
    case ScheduleKind::kCosine:
      return "cosine";
    case ScheduleKind::kConstant:
      return "constant";
  }
  return "unknown";
}

ScheduleKind schedule_kind_from(std::string_view name) {
  for (const ScheduleKind kind :
       {ScheduleKind::kNoam, ScheduleKind::kInverseSqrt, ScheduleKind::kCosine, ScheduleKind::kConstant}) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  base::fail(base::ErrorKind::kUsage, "schedule is \"{}\", must be one of noam, inverse-sqrt, cosine, constant", name);
}

}  // namespace dragoman::training
