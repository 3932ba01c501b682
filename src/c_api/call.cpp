#include "c_api/call.h"

#include <new>
#include <string>

namespace dragoman::c_api {
namespace {

// The message of the last call of this thread: `text`, unless there was no memory to keep it.
struct LastError {
  std::string text;
  const char* fixed = nullptr;
};
thread_local LastError last_error;

void keep(const char* text) noexcept {
  last_error.fixed = nullptr;
  try {
    last_error.text = text;
  } catch (...) {
    last_error.fixed = "out of memory, also for the message";
  }
}

dragoman_status status_of(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::kUsage:
      return DRAGOMAN_USAGE_ERROR;
    case base::ErrorKind::kBadData:
      return DRAGOMAN_BAD_DATA;
    case base::ErrorKind::kCannotWrite:
      return DRAGOMAN_CANNOT_WRITE;
    case base::ErrorKind::kRuntime:
      break;
  }
  return DRAGOMAN_RUNTIME_ERROR;
}

}  // namespace

void forget_error() noexcept {
  last_error.fixed = nullptr;
  last_error.text.clear();
}

dragoman_status status_of_exception(std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const base::Error& known) {
    keep(known.what());
    return status_of(known.kind());
  } catch (const std::bad_alloc&) {
    last_error.fixed = "out of memory; give fewer texts at a time, or a smaller model";
    return DRAGOMAN_NO_MEMORY;
  } catch (const std::exception& other) {
    keep(other.what());
  } catch (...) {
    keep("a callback threw something that is no std::exception");
  }
  return DRAGOMAN_RUNTIME_ERROR;
}

}  // namespace dragoman::c_api

using namespace dragoman::c_api;

const char* dragoman_last_error(void) {
  return last_error.fixed != nullptr ? last_error.fixed : last_error.text.c_str();
}

const char* dragoman_version(void) {
  static_assert(std::string_view(DRAGOMAN_VERSION) == DRAGOMAN_PROJECT_VERSION, "include/dragoman.h: other version");
  return DRAGOMAN_VERSION;
}
