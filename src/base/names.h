#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// The names of the enumerators of `Enum` in JSON, in YAML and on the command line. The header that declares an
/// enumeration declares the table of its names beside it, and `name_of`, `from_name` and `choices` find that table:
///   constexpr base::Names<Tying> names_of(Tying) { return {"tying", {{Tying::kNone, "none"}, {Tying::kAll, "all"}}}; }
/// An enumerator without a row cannot be chosen.
template <typename Enum>
class Names {
 public:
  struct Row {
    Enum value;
    std::string_view name;
  };

  /// @param option  the name of the option in errors. A table of more than 16 rows does not compile
  constexpr Names(const char* option, std::initializer_list<Row> rows) : option_(option), count_(rows.size()) {
    size_t i = 0;
    for (const Row& row : rows) {
      rows_.at(i++) = row;
    }
  }
  constexpr const char* option() const { return option_; }
  constexpr const Row* begin() const { return rows_.data(); }
  constexpr const Row* end() const { return rows_.data() + count_; }

 private:
  const char* option_;
  std::array<Row, 16> rows_{};
  size_t count_;
};

/// An enumeration with a table of names.
template <typename Enum>
concept Named = requires(Enum value) {
  names_of(value).option();
};

/// Declared for enumerations with names, and for optional ones, which are empty under the name "auto".
template <Named Enum>
Enum enumeration_of(const Enum*);
template <Named Enum>
Enum enumeration_of(const std::optional<Enum>*);

/// A type whose values are chosen by name.
template <typename T>
concept Chosen = requires(const T* value) {
  enumeration_of(value);
};

/// Returns: the name of `value`; "none" for an enumerator without a row, "auto" for an empty optional.
template <Named Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& row : names_of(value)) {
    if (row.value == value) {
      return row.name;
    }
  }
  return "none";
}
template <Named Enum>
constexpr std::string_view name_of(std::optional<Enum> value) {
  return value ? name_of(*value) : "auto";
}

/// Returns: the names of all values of T in the order of the table; "auto" comes first for an optional.
template <Chosen T>
std::vector<std::string> choices() {
  std::vector<std::string> names(Named<T> ? 0 : 1, "auto");
  for (const auto& row : names_of(decltype(enumeration_of(static_cast<const T*>(nullptr))){})) {
    names.emplace_back(row.name);
  }
  return names;
}

/// Throws Error(kUsage): "tying is \"both\", must be one of none, target, all".
[[noreturn]] void refuse_name(const char* option, std::string_view name, const std::vector<std::string>& choices);

/// Returns: the value of that name. Throws as `refuse_name` does.
template <Chosen T>
T from_name(std::string_view name) {
  const auto names = names_of(decltype(enumeration_of(static_cast<const T*>(nullptr))){});
  if (!Named<T> && name == "auto") {
    return T{};
  }
  for (const auto& row : names) {
    if (row.name == name) {
      return row.value;
    }
  }
  refuse_name(names.option(), name, choices<T>());
}

}  // namespace dragoman::base
