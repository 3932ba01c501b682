#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dragoman::data {

/// A limit of the work that one run of a template may do, so that a hostile template ends.
class TemplateBudget {
 public:
  static constexpr size_t kMostSteps = 4'000'000;
  static constexpr size_t kBytesOfAStep = 16;

  /// Throws: Error(kBadData): "the template does more than 4000000 steps; it may not end".
  void spend(size_t steps = 1);
  /// Counts a text that was made.
  void spend_bytes(size_t bytes) { spend(bytes / kBytesOfAStep + 1); }

 private:
  size_t left_ = kMostSteps;
};

/// A value of a chat template, with the meaning that it has in Python. Lists and objects are immutable and shared.
/// All functions throw Error(kBadData) without the place in the template, which the caller adds.
class TemplateValue {
 public:
  enum class Kind { kUndefined, kNone, kBool, kInteger, kNumber, kText, kList, kDict, kNamespace };
  using Items = std::vector<TemplateValue>;
  using Entries = std::vector<std::pair<std::string, TemplateValue>>;  ///< in the order of the text
  struct Namespace {
    Entries entries;
  };
  static constexpr int kDeepest = 64;  ///< nesting of lists and objects

  /// A value that is not defined. @param name  for errors: "message.name"
  static TemplateValue undefined(std::string name = {});
  static TemplateValue none() { return TemplateValue(std::monostate()); }
  static TemplateValue truth(bool value) { return TemplateValue(value); }
  static TemplateValue integer(int64_t value) { return TemplateValue(value); }
  static TemplateValue number(double value) { return TemplateValue(value); }
  static TemplateValue text(std::string value);
  /// Throws: Error(kBadData), "lists and objects nest deeper than 64".
  static TemplateValue list(Items items);
  /// As `list`; of equal names the last one counts.
  static TemplateValue dict(Entries entries);
  /// @param entries  outlives the value
  static TemplateValue reference(Namespace& entries) { return TemplateValue(&entries); }

  TemplateValue() : TemplateValue(undefined()) {}

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }
  [[nodiscard]] bool is(Kind kind) const { return this->kind() == kind; }
  [[nodiscard]] bool is_number() const;  ///< also a bool, as in Python
  [[nodiscard]] bool as_bool() const { return std::get<bool>(value_); }
  /// Requires: a bool or an integer.
  [[nodiscard]] int64_t as_integer() const;
  /// Requires: is_number().
  [[nodiscard]] double as_number() const;
  [[nodiscard]] const std::string& as_text() const { return *std::get<std::shared_ptr<const std::string>>(value_); }
  [[nodiscard]] const Items& items() const { return std::get<std::shared_ptr<const ListNode>>(value_)->items; }
  [[nodiscard]] const Entries& entries() const;
  [[nodiscard]] Namespace& as_namespace() const { return *std::get<Namespace*>(value_); }
  /// Returns the name of a value that is not defined.
  [[nodiscard]] const std::string& missing_name() const { return *std::get<Undefined>(value_).name; }

  /// Returns the entry of an object or namespace, or null.
  [[nodiscard]] const TemplateValue* find(std::string_view name) const;

 private:
  struct Undefined {
    std::shared_ptr<const std::string> name;
  };
  struct ListNode {
    Items items;
    int depth;
  };
  struct DictNode {
    Entries entries;
    int depth;
  };
  using Value = std::variant<Undefined, std::monostate, bool, int64_t, double, std::shared_ptr<const std::string>,
                             std::shared_ptr<const ListNode>, std::shared_ptr<const DictNode>, Namespace*>;
  explicit TemplateValue(Value value) : value_(std::move(value)) {}
  [[nodiscard]] int depth() const;

  Value value_;
};

/// Returns the kind of a value for errors: "a list", "undefined (message.name)".
[[nodiscard]] std::string described(const TemplateValue& value);

/// Returns what Python's bool() returns.
[[nodiscard]] bool is_true(const TemplateValue& value);

/// Returns what Python's == returns.
[[nodiscard]] bool are_equal(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);

/// Returns a number below, at or above 0, as `a` is below, at or above `b`.
/// Throws: Error(kBadData) unless both are numbers or both are texts.
[[nodiscard]] int compared(const TemplateValue& a, const TemplateValue& b);

/// Returns a value as a template writes it. Throws: Error(kBadData) for a list or an object: "a list cannot be written
/// as text; use tojson".
[[nodiscard]] std::string written(const TemplateValue& value);

/// Returns a number as Python writes it: "1.0", "1e+16".
[[nodiscard]] std::string python_number(double value);

/// Returns the values that a loop visits: those of a list, the names of an object, the characters of a text; none for
/// an undefined value. Throws: Error(kBadData) for other values.
[[nodiscard]] TemplateValue::Items visited(const TemplateValue& value, TemplateBudget& budget);

/// Returns whether `value` is in a list, an object or a text. Throws: as `visited`.
[[nodiscard]] bool contains(const TemplateValue& container, const TemplateValue& value, TemplateBudget& budget);

/// Returns a value as JSON text, as json.dumps of Python. @param indent  below 0: one line
[[nodiscard]] std::string template_json(const TemplateValue& value, int64_t indent, TemplateBudget& budget);

}  // namespace dragoman::data
