#include "data/chat/template_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

using ValueKind = TemplateValue::Kind;

int three_way(double a, double b) {
  return a < b ? -1 : static_cast<int>(a > b);
}

bool equal_entries(const TemplateValue::Entries& a, const TemplateValue& b, TemplateBudget& budget) {
  return a.size() == b.entries().size() && std::ranges::all_of(a, [&](const auto& entry) {
           const TemplateValue* other = b.find(entry.first);
           return other != nullptr && are_equal(entry.second, *other, budget);
         });
}

}  // namespace

void TemplateBudget::spend(size_t steps) {
  base::check_data(steps <= left_, "the template does more than {} steps; it may not end", kMostSteps);
  left_ -= steps;
}

TemplateValue TemplateValue::undefined(std::string name) {
  return TemplateValue(Undefined{std::make_shared<const std::string>(std::move(name))});
}

TemplateValue TemplateValue::text(std::string value) {
  return TemplateValue(std::make_shared<const std::string>(std::move(value)));
}

TemplateValue TemplateValue::list(Items items) {
  int depth = 0;
  for (const TemplateValue& item : items) {
    depth = std::max(depth, item.depth());
  }
  base::check_data(depth < kDeepest, "lists and objects nest deeper than {}", kDeepest);
  return TemplateValue(std::make_shared<const ListNode>(ListNode{std::move(items), depth + 1}));
}

TemplateValue TemplateValue::dict(Entries entries) {
  Entries unique;
  int depth = 0;
  for (auto& [name, value] : entries) {
    depth = std::max(depth, value.depth());
    const auto same = std::ranges::find(unique, name, &Entries::value_type::first);
    if (same != unique.end()) {
      same->second = std::move(value);
    } else {
      unique.emplace_back(name, std::move(value));
    }
  }
  base::check_data(depth < kDeepest, "lists and objects nest deeper than {}", kDeepest);
  return TemplateValue(std::make_shared<const DictNode>(DictNode{std::move(unique), depth + 1}));
}

int TemplateValue::depth() const {
  if (const auto* list = std::get_if<std::shared_ptr<const ListNode>>(&value_)) {
    return (*list)->depth;
  }
  const auto* dict = std::get_if<std::shared_ptr<const DictNode>>(&value_);
  return dict != nullptr ? (*dict)->depth : 0;
}

bool TemplateValue::is_number() const {
  return is(ValueKind::kBool) || is(ValueKind::kInteger) || is(ValueKind::kNumber);
}

int64_t TemplateValue::as_integer() const {
  return is(ValueKind::kBool) ? static_cast<int64_t>(as_bool()) : std::get<int64_t>(value_);
}

double TemplateValue::as_number() const {
  return is(ValueKind::kNumber) ? std::get<double>(value_) : static_cast<double>(as_integer());
}

const TemplateValue::Entries& TemplateValue::entries() const {
  return is(ValueKind::kNamespace) ? as_namespace().entries
                                   : std::get<std::shared_ptr<const DictNode>>(value_)->entries;
}

const TemplateValue* TemplateValue::find(std::string_view name) const {
  const auto found = std::ranges::find(entries(), name, &Entries::value_type::first);
  return found == entries().end() ? nullptr : &found->second;
}

std::string described(const TemplateValue& value) {
  switch (value.kind()) {
    case ValueKind::kUndefined:
      return value.missing_name().empty() ? "undefined" : fmt::format("undefined ({})", value.missing_name());
    case ValueKind::kNone:
      return "none";
    case ValueKind::kBool:
    case ValueKind::kInteger:
    case ValueKind::kNumber:
      return written(value);
    case ValueKind::kText:
      return "a text";
    case ValueKind::kList:
      return "a list";
    case ValueKind::kDict:
      return "an object";
    case ValueKind::kNamespace:
      return "a namespace";
  }
  return {};
}

bool is_true(const TemplateValue& value) {
  switch (value.kind()) {
    case ValueKind::kUndefined:
    case ValueKind::kNone:
      return false;
    case ValueKind::kBool:
    case ValueKind::kInteger:
    case ValueKind::kNumber:
      return value.as_number() != 0.0;
    case ValueKind::kText:
      return !value.as_text().empty();
    case ValueKind::kList:
      return !value.items().empty();
    case ValueKind::kDict:
      return !value.entries().empty();
    case ValueKind::kNamespace:
      return true;
  }
  return false;
}

bool are_equal(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget) {
  budget.spend();
  if (a.is_number() && b.is_number()) {
    return compared(a, b) == 0;
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case ValueKind::kText:
      budget.spend_bytes(std::min(a.as_text().size(), b.as_text().size()));
      return a.as_text() == b.as_text();
    case ValueKind::kList:
      return std::ranges::equal(a.items(), b.items(),
                                [&](const auto& left, const auto& right) { return are_equal(left, right, budget); });
    case ValueKind::kDict:
      return equal_entries(a.entries(), b, budget);
    case ValueKind::kNamespace:
      return &a.as_namespace() == &b.as_namespace();
    default:
      return true;  // none or undefined
  }
}

int compared(const TemplateValue& a, const TemplateValue& b) {
  if (a.is(ValueKind::kText) && b.is(ValueKind::kText)) {
    return a.as_text().compare(b.as_text());  // the order of bytes in UTF-8 is that of code points
  }
  base::check_data(a.is_number() && b.is_number(), "{} and {} have no order", described(a), described(b));
  if (a.is(ValueKind::kNumber) || b.is(ValueKind::kNumber)) {
    return three_way(a.as_number(), b.as_number());
  }
  return a.as_integer() < b.as_integer() ? -1 : static_cast<int>(a.as_integer() > b.as_integer());
}

std::string python_number(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  constexpr int kLargestPlain = 16;  // digits before the point
  constexpr int kSmallestPlain = -4;
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::scientific).ptr;
  std::string scientific(digits, end);  // "1.5e+02"
  const int exponent = value == 0.0 ? 0 : std::stoi(scientific.substr(scientific.find('e') + 1));
  if (exponent < kSmallestPlain || exponent >= kLargestPlain) {
    return scientific;
  }
  const auto plain_end = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed).ptr;
  const std::string plain(digits, plain_end);
  return plain.find('.') == std::string::npos ? plain + ".0" : plain;
}

std::string written(const TemplateValue& value) {
  switch (value.kind()) {
    case ValueKind::kUndefined:
      return "";
    case ValueKind::kNone:
      return "None";
    case ValueKind::kBool:
      return value.as_bool() ? "True" : "False";
    case ValueKind::kInteger:
      return std::to_string(value.as_integer());
    case ValueKind::kNumber:
      return python_number(value.as_number());
    case ValueKind::kText:
      return value.as_text();
    default:
      base::fail(base::ErrorKind::kBadData, "{} cannot be written as text; use tojson", described(value));
  }
}

TemplateValue::Items visited(const TemplateValue& value, TemplateBudget& budget) {
  TemplateValue::Items items;
  switch (value.kind()) {
    case ValueKind::kUndefined:
      return items;
    case ValueKind::kList:
      budget.spend(value.items().size());
      return value.items();
    case ValueKind::kDict:
      for (const auto& [name, unused] : value.entries()) {
        budget.spend_bytes(name.size());
        items.push_back(TemplateValue::text(name));
      }
      return items;
    case ValueKind::kText:
      budget.spend(4 * value.as_text().size());  // each character becomes a value
      for (const char32_t character : base::decode_utf8(value.as_text())) {
        items.push_back(TemplateValue::text(base::encode_utf8({&character, 1})));
      }
      return items;
    default:
      base::fail(base::ErrorKind::kBadData, "{} has no items", described(value));
  }
}

bool contains(const TemplateValue& container, const TemplateValue& value, TemplateBudget& budget) {
  if (container.is(ValueKind::kText)) {
    base::check_data(value.is(ValueKind::kText), "{} cannot be in a text", described(value));
    budget.spend_bytes(container.as_text().size());
    return container.as_text().find(value.as_text()) != std::string::npos;
  }
  if (container.is(ValueKind::kDict)) {
    budget.spend(container.entries().size());
    return value.is(ValueKind::kText) && container.find(value.as_text()) != nullptr;
  }
  const TemplateValue::Items items = visited(container, budget);
  return std::ranges::any_of(items, [&](const TemplateValue& item) { return are_equal(item, value, budget); });
}

namespace {

// Writes JSON as json.dumps of Python, which puts a space behind "," and ":".
class JsonWriter {
 public:
  JsonWriter(int64_t indent, TemplateBudget& budget) : indent_(indent), budget_(budget) {}

  void write(const TemplateValue& value, int64_t level) {
    switch (value.kind()) {
      case ValueKind::kNone:
        return add("null");
      case ValueKind::kBool:
        return add(value.as_bool() ? "true" : "false");
      case ValueKind::kNumber:
        return add(number(value.as_number()));
      case ValueKind::kText:
        return add(quoted(value.as_text()));
      case ValueKind::kList:
        return write_all('[', ']', value.items(), level, [&](const TemplateValue& item) { write(item, level + 1); });
      case ValueKind::kDict:
        return write_all('{', '}', value.entries(), level, [&](const auto& entry) {
          add(quoted(entry.first) + ": ");
          write(entry.second, level + 1);
        });
      case ValueKind::kInteger:
        return add(written(value));
      default:
        base::fail(base::ErrorKind::kBadData, "tojson: {} is no JSON", described(value));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string quoted(const std::string& text) { return base::dump_json(nlohmann::json(text)); }
  static std::string number(double value) {
    return std::isnan(value)   ? "NaN"
           : std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity")
                               : python_number(value);
  }
  void add(const std::string& text) {
    budget_.spend_bytes(text.size());
    text_ += text;
  }
  void begin_line(int64_t level) {
    if (indent_ >= 0) {
      add("\n" + std::string(static_cast<size_t>(indent_ * level), ' '));
    }
  }
  template <typename All, typename WriteOne>
  void write_all(char begin, char end, const All& all, int64_t level, WriteOne&& write_one) {
    add({begin});
    for (auto one = all.begin(); one != all.end(); ++one) {
      if (one != all.begin()) {
        add(indent_ >= 0 ? "," : ", ");
      }
      begin_line(level + 1);
      write_one(*one);
    }
    if (!all.empty()) {
      begin_line(level);
    }
    add({end});
  }

  int64_t indent_;
  TemplateBudget& budget_;
  std::string text_;
};

}  // namespace

std::string template_json(const TemplateValue& value, int64_t indent, TemplateBudget& budget) {
  JsonWriter writer(indent, budget);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace dragoman::data
