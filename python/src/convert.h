#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/field_json.h"

namespace dragoman::python {

namespace nb = nanobind;

/// Returns: a Python value as JSON: None, bool, int, float, str, numbers of NumPy, and lists and dicts with such
/// values. Throws: nb::type_error for another value, "beam_size: a value of type complex cannot be an option".
nlohmann::json json_of(const std::string& name, nb::handle value);

/// Returns: the options of a call as a JSON object. An option that is None counts as not given.
nlohmann::json json_of_options(const nb::dict& options);

/// Any field belongs to the options of a call.
inline constexpr auto kEveryField = [](const auto&) { return true; };

/// Lays the options of a call over `structs`, whose fields have different names.
/// @param call  begins the messages: "translate"
/// Throws: Error(kUsage), `translate: unknown key "beam_sise"; did you mean "beam_size"?`, and as base::read_field and
/// base::check_fields.
template <base::HasFields... Structs>
void lay_options_over(const std::string& call, const nb::dict& options, Structs&... structs) {
  const nlohmann::json tree = json_of_options(options);
  const base::JsonFields object(tree, call, base::ErrorKind::kUsage);
  std::vector<std::string> known;
  const auto add_names = [&](const std::vector<std::string>& names) {
    known.insert(known.end(), names.begin(), names.end());
  };
  (add_names(base::names_of_fields<Structs>(kEveryField)), ...);
  object.check_known(known);
  (base::read_fields(object, structs, kEveryField), ...);
  (base::check_fields(structs), ...);
}

/// Appends a row for each field of `Options`: (name, type, default, choices, help). The stubs and the documentation are
/// made of them.
template <base::HasFields Options>
void append_option_rows(nb::list& rows, const Options& defaults) {
  base::for_each_part<Options>([&](auto part) {
    base::PartOf<Options, decltype(part)>::fields([&](const auto& field) {
      const auto& value = std::invoke(part, defaults).*field.member;
      using Value = std::remove_cvref_t<decltype(value)>;
      std::vector<std::string> choices;
      const char* type = "str";
      if constexpr (base::Chosen<Value>) {
        choices = base::choices<Value>();
      } else if constexpr (std::is_same_v<Value, bool>) {
        type = "bool";
      } else if constexpr (std::is_integral_v<Value>) {
        type = "int";
      } else if constexpr (std::is_floating_point_v<Value>) {
        type = "float";
      }
      rows.append(nb::make_tuple(field.name, type, base::text_of(value), choices, field.description()));
    });
  });
}

}  // namespace dragoman::python
