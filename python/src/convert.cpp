#include "convert.h"

#include <fmt/format.h>

namespace dragoman::python {
namespace {

nlohmann::json json_of_list(const std::string& name, nb::handle list) {
  nlohmann::json values = nlohmann::json::array();
  for (const nb::handle value : list) {
    values.push_back(json_of(name, value));
  }
  return values;
}

// A whole number of any kind, as those of NumPy are; null if the value is none.
nlohmann::json integer_of(const std::string& name, nb::handle value) {
  const auto number = nb::steal<nb::object>(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    throw nb::python_error();
  }
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) {
    return small;
  }
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    base::fail(base::ErrorKind::kUsage, "{} is beyond 64 bits; give a smaller number", name);
  }
  return large;
}

}  // namespace

nlohmann::json json_of(const std::string& name, nb::handle value) {
  if (value.is_none()) {
    return nullptr;
  }
  if (nb::isinstance<nb::bool_>(value)) {
    return nb::cast<bool>(value);
  }
  if (nb::isinstance<nb::str>(value)) {
    return nb::cast<std::string>(value);
  }
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    return json_of_list(name, value);
  }
  if (PyIndex_Check(value.ptr()) != 0) {
    return integer_of(name, value);
  }
  if (PyNumber_Check(value.ptr()) != 0 && nb::hasattr(value, "__float__")) {
    return nb::cast<double>(nb::float_(value));
  }
  throw nb::type_error(
      fmt::format("{}: a value of type {} cannot be an option", name, nb::type_name(value.type()).c_str()).c_str());
}

nlohmann::json json_of_options(const nb::dict& options) {
  nlohmann::json tree = nlohmann::json::object();
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (!value.is_none()) {
      tree[name] = json_of(name, value);
    }
  }
  return tree;
}

}  // namespace dragoman::python
