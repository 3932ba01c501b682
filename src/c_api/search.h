#pragma once

#include <dragoman.h>

#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "decoding/search/options.h"
#include "decoding/search/sentence_request.h"

namespace dragoman::c_api {

/// Reads further options by name over `options`.
/// @param json  an object; null = none.  @param fields  those that the options struct has fields of its own for
/// Throws: Error(kUsage), "search: unknown key "alpa"; did you mean "alpha"?", and for an option of `fields`.
void read_search(const char* json, std::span<const std::string_view> fields, decoding::SearchOptions& options);

/// When a call is to end.
struct CallEnd {
  std::stop_token cancel;
  std::optional<decoding::Deadline> deadline;
};
/// Throws: Error(kUsage), "dragoman_translate: timeout_seconds is -1, must be 0 to 1000000000".
CallEnd end_of(const dragoman_cancellation* cancellation, double timeout_seconds, const char* function);

/// The callback of a call. Threads: any number may tell it; the callback runs in one of them at a time.
class PartCallback {
 public:
  PartCallback(dragoman_on_part on_part, void* user) : on_part_(on_part), user_(user) {}
  explicit operator bool() const { return on_part_ != nullptr; }
  /// Returns: whether the text is to go on.
  bool tell(size_t index, size_t tokens, const std::string& text);

 private:
  dragoman_on_part on_part_;
  void* user_;
  std::mutex mutex_;
};

/// Returns: the number that dragoman.h gives a reason.
int32_t finish_reason_of(decoding::FinishReason reason);

}  // namespace dragoman::c_api
