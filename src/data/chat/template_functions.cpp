#include "data/chat/template_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "data/chat/template_item.h"
#include "data/chat/template_tests.h"
#include "data/chat/template_text.h"

namespace dragoman::data {
namespace {

using Arguments = TemplateFunction::Arguments;
using FunctionKind = TemplateFunction::Kind;
using ValueKind = TemplateValue::Kind;
using Value = TemplateValue;

bool is_given(const Value& argument) {
  return !argument.is(ValueKind::kUndefined);
}

Value made(std::string text, TemplateBudget& budget) {
  budget.spend_bytes(text.size());
  return Value::text(std::move(text));
}

Value strip(const Value& subject, Arguments arguments, TextEnds ends, TemplateBudget& budget) {
  const std::string text = written(subject);
  if (is_given(arguments[0]) && !arguments[0].is(ValueKind::kNone)) {
    budget.spend_bytes(4 * text.size());
    return made(stripped(text, text_argument(arguments[0], "characters"), ends), budget);
  }
  return made(std::string(stripped(text, ends)), budget);
}

template <TextEnds ends>
Value strip_at(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  return strip(subject, arguments, ends, budget);
}

template <std::string (*change)(std::string_view)>
Value change_text(const Value& subject, Arguments, TemplateBudget& budget) {
  return made(change(written(subject)), budget);
}

Value length(const Value& subject, Arguments, TemplateBudget& budget) {
  size_t count = 0;
  if (subject.is(ValueKind::kText)) {
    budget.spend_bytes(subject.as_text().size());
    count = static_cast<size_t>(std::ranges::count_if(subject.as_text(), [](char c) { return (c & 0xC0) != 0x80; }));
  } else {
    base::check_data(subject.is(ValueKind::kUndefined) || subject.is(ValueKind::kList) || subject.is(ValueKind::kDict),
                     "{} has no length", described(subject));
    count = subject.is(ValueKind::kUndefined) ? 0
            : subject.is(ValueKind::kList)    ? subject.items().size()
                                              : subject.entries().size();
  }
  return Value::integer(static_cast<int64_t>(count));
}

Value join(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const std::string between = written(arguments[0]);
  std::string text;
  bool is_first = true;
  for (const Value& item : visited(subject, budget)) {
    const std::string one = written(item);
    budget.spend_bytes(between.size() + one.size());
    text += is_first ? "" : between;
    text += one;
    is_first = false;
  }
  return Value::text(std::move(text));
}

Value to_list(const Value& subject, Arguments, TemplateBudget& budget) {
  return Value::list(visited(subject, budget));
}

Value first(const Value& subject, Arguments, TemplateBudget& budget) {
  const Value::Items items = visited(subject, budget);
  return items.empty() ? Value::undefined("the first item of nothing") : items.front();
}

Value last(const Value& subject, Arguments, TemplateBudget& budget) {
  const Value::Items items = visited(subject, budget);
  return items.empty() ? Value::undefined("the last item of nothing") : items.back();
}

Value reverse(const Value& subject, Arguments, TemplateBudget& budget) {
  Value::Items items = visited(subject, budget);
  std::ranges::reverse(items);
  if (!subject.is(ValueKind::kText)) {
    return Value::list(std::move(items));
  }
  std::string text;
  for (const Value& item : items) {
    text += item.as_text();
  }
  return made(std::move(text), budget);
}

Value replace(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const std::string text = written(subject), from = written(arguments[0]), to = written(arguments[1]);
  const bool has_count = is_given(arguments[2]) && !arguments[2].is(ValueKind::kNone);
  int64_t most = has_count ? whole_argument(arguments[2], "count") : -1;
  base::check_data(!from.empty(), "replace: the text to replace is empty");
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string::npos && most != 0; at = text.find(from, begin)) {
    budget.spend_bytes(to.size());
    result.append(text, begin, at - begin).append(to);
    begin = at + from.size();
    --most;
  }
  return made(result + text.substr(begin), budget);
}

Value otherwise(const Value& subject, Arguments arguments, TemplateBudget&) {
  const bool also_false = is_true(arguments[1]);
  const bool is_missing = subject.is(ValueKind::kUndefined) || (also_false && !is_true(subject));
  return !is_missing ? subject : is_given(arguments[0]) ? arguments[0] : Value::text("");
}

Value to_text(const Value& subject, Arguments, TemplateBudget& budget) {
  return made(written(subject), budget);
}

// Python's int() of a text takes white space and a sign.
Value to_integer(const Value& subject, Arguments arguments, TemplateBudget&) {
  constexpr double kMost = 9e18;
  const Value missing = is_given(arguments[0]) ? arguments[0] : Value::integer(0);
  if (subject.is(ValueKind::kNumber)) {
    const double value = subject.as_number();
    return std::abs(value) < kMost ? Value::integer(static_cast<int64_t>(value)) : missing;
  }
  if (subject.is_number()) {
    return Value::integer(subject.as_integer());
  }
  if (!subject.is(ValueKind::kText)) {
    return missing;
  }
  std::string_view text = stripped(subject.as_text(), TextEnds::kBoth);
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) {
    return Value::integer(value);
  }
  double number = 0.0;
  const auto read_number = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = read_number.ec == std::errc() && read_number.ptr == text.data() + text.size();
  return is_number && std::abs(number) < kMost ? Value::integer(static_cast<int64_t>(number)) : missing;
}

Value entries_of(const Value& subject, Arguments, TemplateBudget& budget) {
  if (subject.is(ValueKind::kUndefined)) {
    return Value::list({});
  }
  base::check_data(subject.is(ValueKind::kDict), "items: {} is no object", described(subject));
  Value::Items items;
  for (const auto& [name, value] : subject.entries()) {
    budget.spend_bytes(name.size());
    items.push_back(Value::list({Value::text(name), value}));
  }
  return Value::list(std::move(items));
}

Value names_of(const Value& subject, Arguments, TemplateBudget& budget) {
  base::check_data(subject.is(ValueKind::kDict), "keys: {} is no object", described(subject));
  return Value::list(visited(subject, budget));
}

Value values_of(const Value& subject, Arguments, TemplateBudget& budget) {
  base::check_data(subject.is(ValueKind::kDict), "values: {} is no object", described(subject));
  Value::Items items;
  for (const auto& [name, value] : subject.entries()) {
    budget.spend();
    items.push_back(value);
  }
  return Value::list(std::move(items));
}

Value get(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  base::check_data(subject.is(ValueKind::kDict), "get: {} is no object", described(subject));
  budget.spend(subject.entries().size());
  const Value* found = arguments[0].is(ValueKind::kText) ? subject.find(arguments[0].as_text()) : nullptr;
  return found != nullptr ? *found : is_given(arguments[1]) ? arguments[1] : Value::none();
}

Value to_json(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  constexpr int64_t kWidest = 16;
  base::check_data(!is_true(arguments[1]), "tojson: ensure_ascii is true, which is not supported");
  const bool has_lines = is_given(arguments[0]) && !arguments[0].is(ValueKind::kNone);
  const int64_t indent = has_lines ? whole_argument(arguments[0], "indent") : -1;
  base::check_data(!has_lines || (indent >= 0 && indent <= kWidest), "tojson: indent is {}, must be 0 to {}", indent,
                   kWidest);
  return Value::text(template_json(subject, indent, budget));
}

// The items that a filter chooses from; none of a value that is false.
Value::Items candidates(const Value& subject, TemplateBudget& budget) {
  return is_true(subject) ? visited(subject, budget) : Value::Items();
}

// A test of an item that a filter names, with its argument. Without a name an item must be true.
class ItemTest {
 public:
  explicit ItemTest(Arguments arguments) : argument_(arguments.subspan(1, 1)) {
    if (!is_given(arguments[0])) {
      return;
    }
    const std::string& name = text_argument(arguments[0], "test");
    test_ = find_template_function(FunctionKind::kTest, name);
    base::check_data(test_ != nullptr, "test \"{}\" is not supported", name);
    base::check_data(test_->least == (is_given(arguments[1]) ? 1 : 0), "test \"{}\" has another number of arguments",
                     name);
  }
  bool holds(const Value& value, TemplateBudget& budget) const {
    return is_true(test_ == nullptr ? value : test_->run(value, argument_, budget));
  }

 private:
  const TemplateFunction* test_ = nullptr;
  Arguments argument_;
};

template <bool expected>
Value select(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const ItemTest test(arguments);
  Value::Items chosen = candidates(subject, budget);
  std::erase_if(chosen, [&](const Value& item) { return test.holds(item, budget) != expected; });
  return Value::list(std::move(chosen));
}

// The test is one of an attribute of each item.
template <bool expected>
Value select_where(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const std::string& path = text_argument(arguments[0], "attribute");
  base::check_data(path.find('.') == std::string::npos, "attribute is \"{}\", must be a plain name", path);
  const ItemTest test(arguments.subspan(1));
  Value::Items chosen = candidates(subject, budget);
  std::erase_if(chosen, [&](const Value& item) {
    return test.holds(template_item(item, arguments[0], "item", budget), budget) != expected;
  });
  return Value::list(std::move(chosen));
}

Value map_attribute(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  Value::Items values;
  for (const Value& item : candidates(subject, budget)) {
    values.push_back(template_item(item, arguments[0], "item", budget));
  }
  return Value::list(std::move(values));
}

Value same(const Value& subject, Arguments, TemplateBudget&) {
  return subject;
}

Value split(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const std::string& text = text_argument(subject, "split: the value");
  budget.spend_bytes(8 * text.size());
  Value::Items parts;
  if (!is_given(arguments[0]) || arguments[0].is(ValueKind::kNone)) {
    base::check_data(!is_given(arguments[1]), "split: a number of parts needs a separator");
    for (std::string& word : words_of(text)) {
      parts.push_back(made(std::move(word), budget));
    }
    return Value::list(std::move(parts));
  }
  const std::string& separator = text_argument(arguments[0], "split: the separator");
  base::check_data(!separator.empty(), "split: the separator is empty");
  int64_t most = is_given(arguments[1]) ? whole_argument(arguments[1], "split: the number of parts") : -1;
  size_t begin = 0;
  for (size_t at = text.find(separator); at != std::string::npos && most != 0; at = text.find(separator, begin)) {
    parts.push_back(made(text.substr(begin, at - begin), budget));
    begin = at + separator.size();
    --most;
  }
  parts.push_back(made(text.substr(begin), budget));
  return Value::list(std::move(parts));
}

// Whether a text begins or ends with one of several.
template <bool at_begin>
Value has_affix(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  const std::string& text = text_argument(subject, "the value");
  const Value::Items affixes =
      arguments[0].is(ValueKind::kList) ? visited(arguments[0], budget) : Value::Items{arguments[0]};
  return Value::truth(std::ranges::any_of(affixes, [&](const Value& one) {
    const std::string& affix = text_argument(one, "the argument");
    return at_begin ? text.starts_with(affix) : text.ends_with(affix);
  }));
}

template <std::string (*change)(std::string_view)>
Value change_only_text(const Value& subject, Arguments, TemplateBudget& budget) {
  return made(change(text_argument(subject, "the value")), budget);
}

template <TextEnds ends>
Value strip_only_text(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  static_cast<void>(text_argument(subject, "the value"));
  return strip(subject, arguments, ends, budget);
}

const std::vector<TemplateFunction>& functions() {
  constexpr auto kFilter = FunctionKind::kFilter, kMethod = FunctionKind::kMethod;
  static const std::vector<TemplateFunction> kAll = {
      {kFilter, "trim", 0, 1, {"chars"}, strip_at<TextEnds::kBoth>},
      {kFilter, "upper", 0, 0, {}, change_text<upper_case>},
      {kFilter, "lower", 0, 0, {}, change_text<lower_case>},
      {kFilter, "capitalize", 0, 0, {}, change_text<capitalized>},
      {kFilter, "title", 0, 0, {}, change_text<title_case>},
      {kFilter, "length", 0, 0, {}, length},
      {kFilter, "count", 0, 0, {}, length},
      {kFilter, "join", 0, 1, {"d"}, join},
      {kFilter, "list", 0, 0, {}, to_list},
      {kFilter, "first", 0, 0, {}, first},
      {kFilter, "last", 0, 0, {}, last},
      {kFilter, "reverse", 0, 0, {}, reverse},
      {kFilter, "replace", 2, 3, {"old", "new", "count"}, replace},
      {kFilter, "default", 0, 2, {"default_value", "boolean"}, otherwise},
      {kFilter, "d", 0, 2, {"default_value", "boolean"}, otherwise},
      {kFilter, "string", 0, 0, {}, to_text},
      {kFilter, "int", 0, 1, {"default"}, to_integer},
      {kFilter, "items", 0, 0, {}, entries_of},
      {kFilter, "tojson", 0, 0, {"indent", "ensure_ascii"}, to_json},
      {kFilter, "safe", 0, 0, {}, same},
      {kFilter, "select", 0, 2, {"test", "argument"}, select<true>},
      {kFilter, "reject", 0, 2, {"test", "argument"}, select<false>},
      {kFilter, "selectattr", 1, 3, {"attribute", "test", "argument"}, select_where<true>},
      {kFilter, "rejectattr", 1, 3, {"attribute", "test", "argument"}, select_where<false>},
      {kFilter, "map", 1, 0, {"attribute"}, map_attribute},
      {kMethod, "strip", 0, 1, {"chars"}, strip_only_text<TextEnds::kBoth>},
      {kMethod, "lstrip", 0, 1, {"chars"}, strip_only_text<TextEnds::kLeft>},
      {kMethod, "rstrip", 0, 1, {"chars"}, strip_only_text<TextEnds::kRight>},
      {kMethod, "upper", 0, 0, {}, change_only_text<upper_case>},
      {kMethod, "lower", 0, 0, {}, change_only_text<lower_case>},
      {kMethod, "capitalize", 0, 0, {}, change_only_text<capitalized>},
      {kMethod, "split", 0, 2, {"sep", "maxsplit"}, split},
      {kMethod, "startswith", 1, 1, {"prefix"}, has_affix<true>},
      {kMethod, "endswith", 1, 1, {"suffix"}, has_affix<false>},
      {kMethod, "replace", 2, 3, {"old", "new", "count"}, replace},
      {kMethod, "items", 0, 0, {}, entries_of},
      {kMethod, "keys", 0, 0, {}, names_of},
      {kMethod, "values", 0, 0, {}, values_of},
      {kMethod, "get", 1, 2, {"key", "default"}, get},
  };
  return kAll;
}

const std::vector<TemplateFunction>& functions_of(FunctionKind kind) {
  return kind == FunctionKind::kTest ? template_tests() : functions();
}

}  // namespace

const TemplateFunction* find_template_function(TemplateFunction::Kind kind, std::string_view name) {
  const std::vector<TemplateFunction>& all = functions_of(kind);
  const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.kind == kind && one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string template_function_names(TemplateFunction::Kind kind) {
  std::string names;
  for (const TemplateFunction& one : functions_of(kind)) {
    if (one.kind == kind) {
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
  }
  return names;
}

}  // namespace dragoman::data
