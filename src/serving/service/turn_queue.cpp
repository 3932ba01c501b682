#include "serving/service/turn_queue.h"

#include <algorithm>
#include <numeric>

#include "serving/http/http_message.h"

namespace dragoman::serving {
namespace {

using decoding::FinishReason;

// The time between two searches for waiting jobs that are cancelled or late.
constexpr std::chrono::milliseconds kLookAgain{100};

// Returns the HttpError, or std::bad_alloc if there is no memory for it.
std::exception_ptr error_of(int status, const char* message) noexcept {
  try {
    return std::make_exception_ptr(HttpError(status, message));
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr cancelled() {
  return error_of(status::kUnavailable, "the request was cancelled");
}

// Without memory for `done` the destructor of the exchange answers the client.
void tell(const decltype(QueuedJob::done)& done, const std::exception_ptr& error) noexcept {
  try {
    done(error);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace

struct TurnQueue::Active {
  QueuedJob job;
  Clock::time_point arrived;
  Admission::Ticket ticket = 0;
  size_t next = 0;     // the part to begin next
  size_t in_work = 0;  // number of parts
  std::exception_ptr error;

  bool is_unfinished() const { return next < job.costs.size() || in_work > 0; }
};

TurnQueue::TurnQueue(const AdmissionLimits& limits, double first_rate, OnBegun on_begun)
    : admission_(limits, first_rate), on_begun_(std::move(on_begun)), thread_([this] { run(); }) {}

TurnQueue::~TurnQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  mail_.notify_one();
  thread_.join();
}

void TurnQueue::submit(QueuedJob job) {
  const int64_t cost = std::accumulate(job.costs.begin(), job.costs.end(), int64_t{0});
  Jobs arriving(1);  // all memory is allocated before the admission
  const auto& active = arriving.front() = std::make_shared<Active>();
  const auto ticket = admission_.enter(cost);
  if (!ticket) {
    throw HttpError(status::kUnavailable, "The server is busy, try again", {{"Retry-After", "1"}});
  }
  try {
    if (job.on_admitted) {
      job.on_admitted();
    }
  } catch (...) {
    admission_.leave(*ticket, cost, Admission::Outcome::kGivenUp);
    throw;
  }
  active->job = std::move(job);
  active->ticket = *ticket;
  active->arrived = Clock::now();
  ++jobs_;
  {
    const std::lock_guard lock(mutex_);
    arrived_.splice(arrived_.end(), arriving);
  }
  mail_.notify_one();
}

void TurnQueue::run() {
  std::list<Finished> finished;
  while (receive_mail(finished)) {
    for (Finished& part : finished) {
      record(part);
    }
    finished.clear();
    feed();
  }
}

// Waits for mail. Returns false if the service ends and all jobs are done.
bool TurnQueue::receive_mail(std::list<Finished>& finished) {
  std::unique_lock lock(mutex_);
  const auto has_mail = [this] { return !arrived_.empty() || !finished_.empty() || (ending_ && jobs_ == 0); };
  if (turns_.empty()) {
    mail_.wait(lock, has_mail);
  } else {
    mail_.wait_for(lock, kLookAgain, has_mail);
  }
  std::swap(finished, finished_);
  turns_.splice(turns_.end(), arrived_);
  return !(ending_ && jobs_ == 0 && finished.empty() && turns_.empty());
}

void TurnQueue::record(Finished& finished) {
  Active& active = *finished.job;
  const int64_t cost = active.job.costs[finished.part];
  in_work_ -= cost;
  --active.in_work;
  const PartEnd& end = finished.end;
  if (end.error != nullptr) {
    give_up_parts(active, end.error, failed_);
  } else if (end.reason == FinishReason::kDeadline) {
    give_up_parts(active, error_of(status::kGatewayTimeout, active.job.late), timed_out_);
  } else if (end.reason == FinishReason::kCancelled) {
    give_up_parts(active, cancelled(), cancelled_);
  } else {
    source_tokens_ += end.source_tokens;
    target_tokens_ += end.target_tokens;
  }
  // A part that reported its progress may have ended before its estimated cost was done.
  const bool is_done = active.error == nullptr && finished.progress == 0;
  admission_.leave(active.ticket, cost - finished.progress,
                   is_done ? Admission::Outcome::kDone : Admission::Outcome::kGivenUp);
  end_if_done(active);
}

// Begins one part of each job in turn while Admission allows more work.
void TurnQueue::feed() {
  const Clock::time_point now = Clock::now();
  if (now - swept_ >= kLookAgain) {
    sweep(now);
  }
  const int64_t most_in_work = admission_.in_work();
  while (in_work_ < most_in_work && !turns_.empty()) {
    Jobs turn;
    turn.splice(turn.begin(), turns_, turns_.begin());
    const std::shared_ptr<Active>& active = turn.front();
    drop_if_late(*active, now);
    if (active->next < active->job.costs.size()) {
      begin_part(active);
    }
    if (active->next < active->job.costs.size()) {
      turns_.splice(turns_.end(), turn);
    } else {
      end_if_done(*active);  // a job without parts, or given up before a part was begun
    }
  }
}

// Gives up the waiting jobs that are cancelled or late.
void TurnQueue::sweep(Clock::time_point now) {
  swept_ = now;
  std::erase_if(turns_, [&](const std::shared_ptr<Active>& active) {
    drop_if_late(*active, now);
    end_if_done(*active);
    return active->next == active->job.costs.size();
  });
}

void TurnQueue::drop_if_late(Active& active, Clock::time_point now) {
  if (active.job.cancel.stop_requested()) {
    give_up_parts(active, cancelled(), cancelled_);
  } else if (now >= active.job.deadline) {
    give_up_parts(active, error_of(status::kGatewayTimeout, active.job.late), timed_out_);
  }
}

void TurnQueue::begin_part(const std::shared_ptr<Active>& active) {
  std::shared_ptr<std::list<Finished>> finished;
  try {  // the place for the result is allocated now, so that no result is lost if memory is exhausted later
    finished = std::make_shared<std::list<Finished>>(1);
  } catch (...) {
    return give_up_parts(*active, std::current_exception(), failed_);
  }
  const size_t part = active->next++;
  ++active->in_work;
  in_work_ += active->job.costs[part];
  if (part == 0) {
    on_begun_(std::chrono::duration<double>(Clock::now() - active->arrived).count());
  }
  // The last reference to a job and its models must not end in a thread of these models, so the job is sent by mail.
  finished->front().job = active;
  finished->front().part = part;
  const PartReport report(*this, finished);
  try {
    active->job.begin(part, report);
  } catch (...) {
    report.end({.error = std::current_exception()});
  }
}

void TurnQueue::add_progress(Finished& part, int64_t cost) {
  const int64_t rest = part.job->job.costs[part.part] - part.progress;
  const int64_t done = std::min(cost, rest);
  part.progress += done;
  admission_.leave(part.job->ticket, done, Admission::Outcome::kDone);
}

void TurnQueue::send_finished(std::list<Finished>& one) {
  const std::lock_guard lock(mutex_);
  finished_.splice(finished_.end(), one);
  mail_.notify_one();
}

// The first error becomes the error of the job. Its waiting parts are never begun.
void TurnQueue::give_up_parts(Active& active, const std::exception_ptr& error, std::atomic<uint64_t>& counter) {
  if (active.error == nullptr) {
    active.error = error;
    ++counter;
  }
  for (; active.next < active.job.costs.size(); ++active.next) {
    admission_.leave(active.ticket, active.job.costs[active.next], Admission::Outcome::kGivenUp);
  }
}

void TurnQueue::end_if_done(Active& active) {
  if (active.is_unfinished()) {
    return;
  }
  const auto done = std::move(active.job.done);
  active.job.done = nullptr;
  if (!done) {
    return;
  }
  --jobs_;  // first: a client with the answer may read the metrics
  try {
    done(active.error);
  } catch (...) {
    tell(done, std::current_exception());
  }
}

ServiceCounts TurnQueue::counts() const {
  return {.waiting_cost = admission_.inside(),
          .jobs = jobs_,
          .source_tokens = source_tokens_,
          .target_tokens = target_tokens_,
          .rejected = admission_.refused(),
          .cancelled = cancelled_,
          .timed_out = timed_out_,
          .failed = failed_,
          .rate = admission_.rate()};
}

}  // namespace dragoman::serving
