#include "distributed/mpi_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/lap.h"

namespace dragoman::distributed {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartLimit = 60s;
constexpr double kSpinSeconds = 0.5e-3;      // after the last message, while a thread waits
constexpr auto kShortRest = 50us;            // between polls while a thread waits
constexpr auto kLongRest = 200us;            // between polls while sums are in flight and all threads compute
constexpr auto kIdleRest = 50ms;             // between polls without operations
constexpr double kOwnWordsFirst = 1.0;       // seconds that rank 0 waits before it reports the error of another rank
constexpr double kLeaderSpeaksWithin = 4.0;  // seconds after which a failing rank reports its own error
constexpr double kLookSeconds = 0.2;         // between two looks at whether this process is idle
constexpr auto kEndLimit = 5s;               // for MPI to end all processes

// Processor time of all threads but the calling one.
double busy_seconds() {
  return base::processor_seconds() - base::processor_seconds(CLOCK_THREAD_CPUTIME_ID);
}

struct HostAndProcess {
  std::array<char, 256> host{};
  int64_t process = 0;
};

std::string ranks_text(const std::vector<int>& ranks, const MpiEngine& engine) {
  std::string text;
  for (const int rank : ranks) {
    text += (text.empty() ? "" : ", ") + engine.name_of(rank);
  }
  return text;
}

}  // namespace

MpiEngine::MpiEngine(const JoinOptions& options) : options_(options) {
  thread_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  const bool in_time = to_owners_.wait_for(lock, kStartLimit, [&] { return started_ || start_error_; });
  if (in_time && !start_error_) {
    return;
  }
  const std::string text = start_error_.value_or(
      fmt::format("the processes that mpirun started did not all join within {} s", kStartLimit.count()));
  lock.unlock();
  if (in_time) {
    thread_.join();
  } else {
    thread_.detach();  // inside MPI_Init; the process ends with the error
  }
  base::fail(base::ErrorKind::kRuntime, "mpi: {}", text);
}

MpiEngine::~MpiEngine() {
  std::unique_lock lock(mutex_);
  leaving_ = true;
  to_engine_.notify_all();
  if (to_owners_.wait_for(lock, kEndLimit * 2, [&] { return left_; })) {
    lock.unlock();
    thread_.join();
    return;
  }
  std::fprintf(stderr, "dragoman: mpi: rank %d waits for others that do not leave\n", rank_);
  ::_exit(static_cast<int>(base::ErrorKind::kRuntime));
}

std::string MpiEngine::name_of(int rank) const {
  return names_[static_cast<size_t>(rank)];
}

void MpiEngine::begin(MpiOperation& operation) {
  const std::lock_guard lock(mutex_);
  new_operations_.push_back(&operation);
  if (operation.is_sum() && sums_under_way_++ == 0) {
    sums_since_ = base::steady_seconds();
  }
  to_engine_.notify_one();
}

void MpiEngine::wait_for(const MpiOperation& operation) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  to_owners_.wait(lock, [&] { return operation.done; });
  --waiting_;
}

void MpiEngine::wait_for_sums() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  to_owners_.wait(lock, [&] { return sums_under_way_ == 0; });
  --waiting_;
}

double MpiEngine::take_sum_seconds() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sum_seconds_, 0.0);
}

void MpiEngine::end_all(int status, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = {status, text};
    to_engine_.notify_one();
  }
  // The engine or mpirun ends the process. This thread ends it if both are stuck.
  std::this_thread::sleep_for(std::chrono::duration<double>(kLeaderSpeaksWithin) + 2 * kEndLimit);
  std::fprintf(stderr, "dragoman: %s: %s\n", name_of(rank_).c_str(), text.c_str());
  ::_exit(status);
}

void MpiEngine::run() {
  try {
    start_mpi();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    start_error_ = error.what();
    to_owners_.notify_all();
    return;
  }
  try {
    work();
    pulse_.reset();
  } catch (const std::exception& error) {
    end_run(static_cast<int>(base::ErrorKind::kRuntime), fmt::format("{}: {}", name_of(rank_), error.what()));
  }
  MPI_Finalize();
  const std::lock_guard lock(mutex_);
  left_ = true;
  to_owners_.notify_all();
}

void MpiEngine::start_mpi() {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  HostAndProcess own;
  ::gethostname(own.host.data(), own.host.size() - 1);
  own.process = ::getpid();
  std::vector<HostAndProcess> all(static_cast<size_t>(size_));
  check_mpi(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD),
            "MPI_Allgather");
  processes_here_ = 0;
  for (const HostAndProcess& other : all) {
    names_.push_back(fmt::format("rank {} ({}, process {})", names_.size(), other.host.data(), other.process));
    processes_here_ += other.host == own.host ? 1 : 0;
  }
  pulse_.emplace(rank_, size_, options_.timeout_seconds, base::steady_seconds());
  idle_.emplace(base::steady_seconds(), busy_seconds());
  const std::lock_guard lock(mutex_);
  started_ = true;
  to_owners_.notify_all();
}

void MpiEngine::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      take_new_operations(lock);
      if (leaving_ && operations_.empty()) {
        return;
      }
    }
    const bool moved = advance_operations();
    look_after_the_others(moved);
    rest(moved);
  }
}

void MpiEngine::take_new_operations(std::unique_lock<std::mutex>& lock) {
  std::vector<MpiOperation*> begun;
  begun.swap(new_operations_);
  if (begun.empty()) {
    return;
  }
  lock.unlock();
  for (MpiOperation* operation : begun) {
    operation->start(rank_, size_);
    operations_.push_back(operation);
  }
  idle_since_ = base::steady_seconds();
  lock.lock();
}

// Returns true if an operation has ended.
bool MpiEngine::advance_operations() {
  const size_t before = operations_.size();
  std::erase_if(operations_, [&](MpiOperation* operation) {
    const bool done = operation->advance();
    if (done) {
      finish(*operation);
    }
    return done;
  });
  return operations_.size() < before;
}

void MpiEngine::finish(MpiOperation& operation) {
  const std::lock_guard lock(mutex_);
  operation.done = true;
  if (operation.is_sum() && --sums_under_way_ == 0) {
    sum_seconds_ += base::steady_seconds() - sums_since_;
  }
  to_owners_.notify_all();
}

void MpiEngine::rest(bool moved) {
  if (moved) {
    idle_since_ = base::steady_seconds();
    return;
  }
  std::unique_lock lock(mutex_);
  if (!new_operations_.empty() || leaving_) {
    return;
  }
  if (operations_.empty()) {
    to_engine_.wait_for(lock, kIdleRest);
  } else if (waiting_ > 0 && base::steady_seconds() - idle_since_ < kSpinSeconds) {
    lock.unlock();
    std::this_thread::yield();
  } else {
    to_engine_.wait_for(lock, waiting_ > 0 ? kShortRest : kLongRest);
  }
}

// The engine polls far more often than processor times are worth reading.
void MpiEngine::look_at_idleness(double now) {
  if (now < next_look_) {
    return;
  }
  next_look_ = now + kLookSeconds;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    waits = waiting_ > 0;
  }
  stuck_seconds_ = idle_->idle(now, busy_seconds(), waits, std::exchange(moved_, false));
}

void MpiEngine::look_after_the_others(bool moved) {
  const double now = base::steady_seconds();
  moved_ = moved_ || moved;
  look_at_idleness(now);
  const std::vector<int> silent = pulse_->beat(now, stuck_seconds_);
  if (pulse_->all_stuck() > options_.timeout_seconds) {
    end_run(
        static_cast<int>(base::ErrorKind::kRuntime),
        fmt::format("all {} processes have waited for each other for {:.0f} s: they do not do the same, as with other "
                    "options or another program on one of them; all processes end, the last checkpoint is whole, and "
                    "the same command on all goes on from it",
                    size_, options_.timeout_seconds));
  }
  if (!silent.empty()) {
    end_run(static_cast<int>(base::ErrorKind::kRuntime),
            fmt::format("{} has not been heard of for {:.0f} s: stopped, hung, or its network is down; all processes "
                        "end, the last checkpoint is whole, and the same command goes on from it",
                        ranks_text(silent, *this), options_.timeout_seconds));
  }
  act_on_failure();
}

// Ends the run after a fatal error of this rank, or of another rank if this one is rank 0.
void MpiEngine::act_on_failure() {
  std::optional<Failure> own;
  {
    const std::lock_guard lock(mutex_);
    own = failure_;
  }
  const auto& words = pulse_->last_words();
  if (!own && !words) {
    return;
  }
  if (rank_ == 0 && own) {
    end_run(own->status, own->text);
  }
  const double now = base::steady_seconds();
  if (failed_at_ == 0.0) {
    failed_at_ = now;
    if (own) {
      pulse_->send_last_words(own->status, own->text);
    }
  } else if (words && now - failed_at_ > kOwnWordsFirst) {
    end_run(words->status, fmt::format("{}: {}", name_of(words->rank), words->text));
  } else if (own && now - failed_at_ > kLeaderSpeaksWithin) {
    end_run(own->status, fmt::format("{}: {}", name_of(rank_), own->text));
  }
}

// Prints the error and ends all processes.
void MpiEngine::end_run(int status, const std::string& text) {
  const std::string line = "dragoman: " + text + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  std::thread([status] {
    std::this_thread::sleep_for(kEndLimit);
    ::_exit(status);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, status);
  ::_exit(status);
}

}  // namespace dragoman::distributed
