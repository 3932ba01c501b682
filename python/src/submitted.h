#pragma once

#include <stop_token>

namespace dragoman::python {

/// A text under way, which may be cancelled.
class Submitted {
 public:
  void cancel() { stop_.request_stop(); }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
};

}  // namespace dragoman::python
