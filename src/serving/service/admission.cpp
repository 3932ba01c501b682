#include "serving/service/admission.h"

#include <algorithm>

namespace dragoman::serving {
namespace {

constexpr std::chrono::duration<double> kSpan{0.5};
constexpr double kWeightOfNew = 0.3;  // weight of a new span in the mean speed
constexpr int64_t kLeastInWork = 512;
constexpr int64_t kLargeShare = 8;  // a request is large if it costs more than 1/8 of `in_work`

}  // namespace

int64_t estimated_tokens(std::string_view line) {
  constexpr int64_t kBytesPerToken = 4;
  constexpr int64_t kForEachLine = 2;
  return static_cast<int64_t>(line.size()) / kBytesPerToken + kForEachLine;
}

Admission::Admission(const AdmissionLimits& limits, double first_rate)
    : in_work_(limits.in_work),
      large_cost_(limits.in_work / kLargeShare),
      longest_wait_(limits.longest_wait),
      work_time_(limits.work_time.value_or(limits.longest_wait)),
      rate_(first_rate) {}

// Small requests count with their whole cost, so that the loop visits only the few large ones.
int64_t Admission::before_the_end_of(int64_t cost) const {
  int64_t sum = cost + inside_ - of_large_;
  for (const auto& [ticket, left] : large_) {
    sum += std::min(left, std::max(cost, large_cost_));
  }
  return sum;
}

std::optional<Admission::Ticket> Admission::enter(int64_t cost, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double most = static_cast<double>(in_work_now()) + rate_ * longest_wait_.count();
  if (inside_ > 0 && static_cast<double>(before_the_end_of(cost)) > most) {
    ++refused_;
    return std::nullopt;
  }
  const Ticket ticket = next_ticket_++;
  if (cost > large_cost_) {
    large_.emplace(ticket, cost);  // first, since the rest allocates no memory
    of_large_ += cost;
  }
  inside_ += cost;
  look_at_speed(now);
  return ticket;
}

void Admission::leave(Ticket ticket, int64_t cost, Outcome outcome, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  inside_ -= cost;
  done_in_span_ += outcome == Outcome::kDone ? cost : 0;
  if (const auto found = large_.find(ticket); found != large_.end()) {
    of_large_ -= cost;
    found->second -= cost;
    if (found->second <= 0) {
      large_.erase(found);
    }
  }
  look_at_speed(now);
}

int64_t Admission::in_work_now() const {
  const auto at_speed = static_cast<int64_t>(rate_ * work_time_.count());
  return rate_ == 0.0 ? in_work_ : std::min(in_work_, std::max(kLeastInWork, at_speed));
}

int64_t Admission::in_work() const {
  const std::lock_guard lock(mutex_);
  return in_work_now();
}

// Half of the work that the workers can hold keeps them busy.
void Admission::look_at_speed(Clock::time_point now) {
  is_busy_span_ = is_busy_span_ && inside_ >= in_work_now() / 2;
  const std::chrono::duration<double> seconds = now - span_begin_;
  if (is_busy_span_ && seconds < kSpan) {
    return;
  }
  if (is_busy_span_) {
    const double speed = static_cast<double>(done_in_span_) / seconds.count();
    rate_ = is_measured_ ? rate_ + kWeightOfNew * (speed - rate_) : speed;
    is_measured_ = true;
  }
  span_begin_ = now;
  done_in_span_ = 0;
  is_busy_span_ = inside_ >= in_work_now() / 2;
}

int64_t Admission::inside() const {
  const std::lock_guard lock(mutex_);
  return inside_;
}

uint64_t Admission::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

double Admission::rate() const {
  const std::lock_guard lock(mutex_);
  return rate_;
}

}  // namespace dragoman::serving
