#pragma once

#include <cstdint>

#include "base/fields.h"

namespace dragoman::training {

/// How the learning rate moves with the step.
enum class ScheduleKind {
  kNoam,         ///< factor * D^-0.5 * min(step^-0.5, step * warmup^-1.5) (paper, section 5.3, eq. 3)
  kInverseSqrt,  ///< linear warm-up to the peak, then peak * sqrt(warmup / step)
  kCosine,       ///< linear warm-up to the peak, then half a cosine down to `final_fraction` of it at max_steps
  kCosineTime,   ///< linear warm-up to the peak, times half a cosine over `total_seconds` of training
  kConstant,     ///< linear warm-up to the peak, then the peak
  kWsd,          ///< the same until the last fifth of max_steps, then a line down to `final_fraction` of the peak
                 ///< (warm-up, stable, decay: Hu et al. 2024, section 4)
};

constexpr base::Names<ScheduleKind> names_of(ScheduleKind) {
  return {"schedule",
          {{ScheduleKind::kNoam, "noam"},
           {ScheduleKind::kInverseSqrt, "inverse-sqrt"},
           {ScheduleKind::kCosine, "cosine"},
           {ScheduleKind::kCosineTime, "cosine-time"},
           {ScheduleKind::kConstant, "constant"},
           {ScheduleKind::kWsd, "wsd"}}};
}
inline ScheduleKind schedule_kind_from(std::string_view name) {
  return base::from_name<ScheduleKind>(name);
}
using base::name_of;

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kInverseSqrt;
  double learning_rate = 5e-4;   ///< the peak; for noam the factor in front of the formula (1 in the paper)
  int64_t warmup_steps = 4000;   ///< 0 = no warm-up (noam needs >= 1)
  int64_t max_steps = 100'000;   ///< where cosine and wsd end; Trainer sets it
  double final_fraction = 0.01;  ///< of the peak, at the end of cosine, cosine-time and wsd
  int64_t d_model = 512;         ///< noam only; Trainer sets it
  double total_seconds = 0.0;    ///< where cosine-time ends; Trainer sets it

  static constexpr const char* kTitle = "Learning rate";  ///< in --help
  /// Calls visit(base::Field) for each field that Trainer does not set.
  template <typename Visit>
  static void fields(Visit&& visit);

  /// Throws Error(kUsage): "warmup_steps is 0, the noam schedule needs >= 1"; "total_minutes is 0, the cosine-time
  /// schedule needs a limit; give --total-minutes".
  void check() const;
};

template <typename Visit>
void ScheduleOptions::fields(Visit&& visit) {
  using base::Field;
  using O = ScheduleOptions;
  visit(Field("schedule", &O::kind, "How the learning rate moves"));
  visit(Field("learning_rate", &O::learning_rate, "Peak rate; for noam the factor of the formula", {0, 100, true})
            .in(base::kMostUsed));
  visit(Field("warmup_steps", &O::warmup_steps, "Updates until the peak", {0}));
}

/// Learning rate of update `step` (from 1). A pure function: resuming needs no state.
/// @param seconds  of training before this update. Of interest to cosine-time alone, which therefore ends its cosine
///   within the time given on a machine of any speed, and for the same reason is never the same twice to the last bit
double learning_rate(const ScheduleOptions& options, int64_t step, double seconds = 0.0);

}  // namespace dragoman::training
