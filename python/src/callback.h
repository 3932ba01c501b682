#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "errors.h"

namespace dragoman::python {

namespace nb = nanobind;

/// Counts the texts under way whose end Python has not been told. At its end a program waits until there are none:
/// a thread that asks for the lock of an interpreter that is ending would end the process.
class CallsUnderWay {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  /// Returns: whether all have ended within the time.
  bool wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest, [&] { return count_ == 0; });
  }
  static CallsUnderWay& all() {
    static auto* calls = new CallsUnderWay;  // threads may outlive static objects
    return *calls;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t count_ = 0;
};

/// The Python functions that are told of one text under way. Threads of the library call them.
class Calls {
 public:
  /// @param on_part  may be None.  Requires: the GIL is held.
  Calls(nb::object on_part, nb::object on_done) : on_part_(std::move(on_part)), on_done_(std::move(on_done)) {
    CallsUnderWay::all().begin();
  }
  ~Calls() {
    if (!is_finished_) {  // nothing was started
      {
        const nb::gil_scoped_acquire acquired;
        forget();
      }
      CallsUnderWay::all().end();
    }
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  bool hears_parts() const { return !on_part_.is_none(); }

  /// Returns: whether on_part raised nothing. What it raises is reported as an error that no caller can get.
  template <typename... Args>
  bool part(Args&&... args) const {
    const nb::gil_scoped_acquire acquired;
    return call(on_part_, std::forward<Args>(args)...);
  }

  /// Calls on_done with the result, or None, and with the error, or None; then lets go of both functions.
  template <typename Result>
  void finish(Result& result, const std::exception_ptr& error) {
    {
      const nb::gil_scoped_acquire acquired;
      call(on_done_, error == nullptr ? nb::cast(std::move(result)) : nb::none(), exception_of(error));
      forget();
    }
    CallsUnderWay::all().end();
  }

 private:
  template <typename... Args>
  static bool call(const nb::object& function, Args&&... args) {
    try {
      function(std::forward<Args>(args)...);
      return true;
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("dragoman");
      return false;
    }
  }

  void forget() {
    on_part_.reset();
    on_done_.reset();
    is_finished_ = true;
  }

  nb::object on_part_, on_done_;
  bool is_finished_ = false;
};

/// Holds what computes with threads of its own. They may wait for the GIL, so it ends without.
template <typename Held>
class WithoutGil {
 public:
  explicit WithoutGil(std::unique_ptr<Held> held) : held_(std::move(held)) {}
  WithoutGil(WithoutGil&&) noexcept = default;
  WithoutGil& operator=(WithoutGil&&) = delete;
  ~WithoutGil() {
    if (held_ != nullptr) {
      const nb::gil_scoped_release released;
      held_.reset();
    }
  }

  const Held& operator*() const { return *held_; }
  const Held* operator->() const { return held_.get(); }

 private:
  std::unique_ptr<Held> held_;
};

}  // namespace dragoman::python
