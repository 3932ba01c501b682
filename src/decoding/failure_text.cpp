#include "decoding/failure_text.h"

#include <new>

namespace dragoman::decoding {

std::string failure_text(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "the system refused memory; use smaller batches";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace dragoman::decoding
