#include "errors.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace dragoman::python {
namespace {

namespace nb = nanobind;

// The reason of the system that a message names: "absent", "denied", or "".
const char* reason_of(std::string_view text) {
  const auto names = [text](int error) { return text.find(std::strerror(error)) != std::string_view::npos; };
  return names(ENOENT) ? "absent" : names(EACCES) || names(EPERM) ? "denied" : "";
}

nb::object exception_of(const base::Error& error) {
  const nb::module_ errors = nb::module_::import_("dragoman.errors");
  return errors.attr("error_of")(error.exit_status(), reason_of(error.what()), error.what());
}

void translate(const std::exception_ptr& error, void* /*unused*/) {
  try {
    std::rethrow_exception(error);
  } catch (const base::Error& known) {
    const nb::object exception = exception_of(known);
    PyErr_SetObject(exception.type().ptr(), exception.ptr());
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator(translate);
}

nb::object exception_of(const std::exception_ptr& error) {
  if (error == nullptr) {
    return nb::none();
  }
  try {
    std::rethrow_exception(error);
  } catch (const base::Error& known) {
    return exception_of(known);
  } catch (nb::python_error& raised) {
    return nb::borrow(raised.value());
  } catch (const std::exception& other) {
    return nb::module_::import_("dragoman.errors").attr("Error")(other.what());
  }
}

}  // namespace dragoman::python
