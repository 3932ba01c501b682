#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/names.h"

namespace dragoman::base {

/// The values that a number may have: low to high. Without limits by default.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< low itself is not allowed

  /// NaN lies in no range.
  bool holds(double value) const { return (above_low ? value > low : value >= low) && value <= high; }
  bool limits() const { return low > -std::numeric_limits<double>::infinity(); }
  /// Returns: "1 to 128", "above 0, to 1", "0 or more", "" for a range without limits.
  std::string text() const;
};

/// The title of the options that are used most. --help shows them first.
inline constexpr const char* kMostUsed = "Most used";

/// How a field stands on the command line.
enum class Flag {
  kValue,   ///< --beam-size 4, --early-stop false
  kSwitch,  ///< --shortlist
  kNone,    ///< not at all, or only among the flags of those commands that add it by name
};

/// Whether a field decides the outcome, as the size of a model does, or only the way to it, as the number of threads
/// does.
enum class Decides { kOutcome, kCourse };

/// What a field may be on the processes that work on one run together.
enum class AcrossProcesses {
  kSame,    ///< the same on all of them, which is checked before the first step
  kLeader,  ///< that of the leading process counts, the others may have anything
  kOwn,     ///< each process has its own
};

/// One field of an options struct: all that is known of it beside its type and its default, which the struct states.
///   Field("workers", &SearchOptions::workers, "Threads; 0 = one a core", {0, 1024}).course()
template <typename Struct, typename Value>
struct Field {
  const char* name;  ///< in errors and JSON
  Value Struct::*member;
  const char* help;
  Range range;
  const char* unit;  ///< of a number, e.g. "tokens"; may be empty
  Decides decides = Decides::kOutcome;
  AcrossProcesses across = AcrossProcesses::kSame;
  Flag flag = Flag::kValue;
  const char* flag_name = "";  ///< "--vocab-size" where it is not the name: "--beam-size"
  const char* group = "";      ///< in --help, where it is not the title of the table

  constexpr Field(const char* name_in, Value Struct::*member_in, const char* help_in, Range range_in = {},
                  const char* unit_in = "")
      : name(name_in), member(member_in), help(help_in), range(range_in), unit(unit_in) {}

  /// Each returns the row with one thing changed.
  constexpr Field course() const { return with(&Field::decides, Decides::kCourse); }
  constexpr Field of_leader() const { return with(&Field::across, AcrossProcesses::kLeader); }
  constexpr Field of_each_process() const { return with(&Field::across, AcrossProcesses::kOwn); }
  constexpr Field as_switch() const { return with(&Field::flag, Flag::kSwitch); }
  constexpr Field without_flag() const { return with(&Field::flag, Flag::kNone); }
  constexpr Field under(const char* other_flag) const { return with(&Field::flag_name, other_flag); }
  constexpr Field in(const char* title) const { return with(&Field::group, title); }

  /// Returns: the title above the field in --help, its own or the `kTitle` of its struct.
  constexpr const char* title() const { return *group != '\0' ? group : Struct::kTitle; }
  std::string flag_spelling() const;
  /// Returns: help, unit and range: "Hypotheses kept a sentence (1 to 128)".
  std::string description() const;

 private:
  template <typename T>
  constexpr Field with(T Field::*part, T value) const {
    Field changed = *this;
    changed.*part = value;
    return changed;
  }
};

/// An options struct whose static `fields(visit)` calls `visit(Field)` for one field after the other. The title of the
/// table in --help is its static `kTitle`.
template <typename Struct>
concept HasFields = requires {
  Struct::fields([](const auto&) {});
};

/// An options struct with groups of fields: its static `parts(visit)` calls `visit(member pointer)` for one after the
/// other.
template <typename Struct>
concept HasParts = requires {
  Struct::parts([](auto) {});
};

/// Calls visit(part) for the struct itself, as std::identity(), and for each of its groups. std::invoke(part, options)
/// is the group of `options`.
template <HasFields Struct, typename Visit>
void for_each_part(Visit&& visit) {
  visit(std::identity());
  if constexpr (HasParts<Struct>) {
    Struct::parts(visit);
  }
}

/// The type of a group.
template <typename Struct, typename Part>
using PartOf = std::remove_cvref_t<std::invoke_result_t<Part, Struct&>>;

/// Returns: the row of a member. Throws std::bad_optional_access for a member without one.
template <HasFields Struct, typename Value>
Field<Struct, Value> field_of(Value Struct::*member) {
  std::optional<Field<Struct, Value>> found;
  Struct::fields([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field.member), Value Struct::*>) {
      if (field.member == member) {
        found = field;
      }
    }
  });
  return found.value();
}

/// A number that a range limits: not a truth value.
template <typename Value>
concept Number = std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>;

/// Checks one field. Throws Error(kUsage): "beam_size is 0, must be 1 to 128".
template <typename Struct, typename Value>
void check_field(const Field<Struct, Value>& field, const Struct& options) {
  if constexpr (Number<Value>) {
    const Value value = options.*field.member;
    check_usage(field.range.holds(static_cast<double>(value)), "{} is {}, must be {}", field.name, value,
                field.range.text());
  }
}

/// Checks all fields, those of the groups included. Throws as `check_field` does.
template <HasFields Struct>
void check_fields(const Struct& options) {
  for_each_part<Struct>([&](auto part) {
    PartOf<Struct, decltype(part)>::fields([&](const auto& field) { check_field(field, std::invoke(part, options)); });
  });
}

/// Returns: a value as the command line and the documentation write it: "true", "0.6", "gnmt".
template <typename Value>
std::string text_of(const Value& value) {
  if constexpr (Chosen<Value>) {
    return std::string(name_of(value));
  } else {
    return fmt::format("{}", value);
  }
}

std::string flag_spelling(std::string_view name);
std::string described(std::string_view help, std::string_view unit, const Range& range);

template <typename Struct, typename Value>
std::string Field<Struct, Value>::flag_spelling() const {
  return *flag_name != '\0' ? flag_name : base::flag_spelling(name);
}

template <typename Struct, typename Value>
std::string Field<Struct, Value>::description() const {
  return described(help, unit, range);
}

}  // namespace dragoman::base
