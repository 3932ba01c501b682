#include "c_api/search.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"
#include "c_api/handles.h"

namespace dragoman::c_api {
namespace {

constexpr const char* kOwner = "search";
constexpr double kLongestTimeout = 1e9;

nlohmann::json parse(const char* json) try { return base::parse_json(json, kOwner); } catch (const base::Error& error) {
  throw base::Error(base::ErrorKind::kUsage, error.what());  // an argument, not a file
}

}  // namespace

void read_search(const char* json, std::span<const std::string_view> fields, decoding::SearchOptions& options) {
  if (json == nullptr) {
    return;
  }
  const nlohmann::json tree = parse(json);
  const base::JsonFields object(tree, kOwner, base::ErrorKind::kUsage);
  for (const std::string_view field : fields) {
    base::check_usage(!object.has(std::string(field)), "search: \"{}\" has a field of the options struct; set it there",
                      field);
  }
  const auto all = [](const auto&) { return true; };
  object.check_known(base::names_of_fields<decoding::SearchOptions>(all));
  base::read_fields(object, options, all);
}

CallEnd end_of(const dragoman_cancellation* cancellation, double timeout_seconds, const char* function) {
  base::check_usage(timeout_seconds >= 0 && timeout_seconds <= kLongestTimeout,
                    "{}: timeout_seconds is {}, must be 0 to {}", function, timeout_seconds, kLongestTimeout);
  CallEnd end;
  if (cancellation != nullptr) {
    end.cancel = cancellation->source.get_token();
  }
  if (timeout_seconds > 0) {
    end.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                          std::chrono::duration<double>(timeout_seconds));
  }
  return end;
}

bool PartCallback::tell(size_t index, size_t tokens, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const dragoman_part part = {sizeof(dragoman_part), index, tokens, text.c_str(), text.size()};
  return on_part_(&part, user_) == 0;
}

int32_t finish_reason_of(decoding::FinishReason reason) {
  switch (reason) {
    case decoding::FinishReason::kEndOfSentence:
      return DRAGOMAN_END;
    case decoding::FinishReason::kLengthLimit:
      return DRAGOMAN_LENGTH_LIMIT;
    case decoding::FinishReason::kPhrasesMissing:
      return DRAGOMAN_PHRASES_MISSING;
    case decoding::FinishReason::kCancelled:
      return DRAGOMAN_CANCELLED;
    case decoding::FinishReason::kDeadline:
      return DRAGOMAN_DEADLINE;
  }
  return DRAGOMAN_END;
}

}  // namespace dragoman::c_api
