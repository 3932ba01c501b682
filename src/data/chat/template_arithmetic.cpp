#include "data/chat/template_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

using ValueKind = TemplateValue::Kind;
using Value = TemplateValue;

[[noreturn]] void fail_operands(std::string_view name, const Value& left, const Value& right) {
  base::fail(base::ErrorKind::kBadData, "{} of {} and {} is not supported", name, described(left), described(right));
}

Value of_integers(std::string_view name, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  if (name == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (name == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (name == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else {  // // and %, which round down
    base::check_data(b != 0, "a division by 0");
    overflows = a == INT64_MIN && b == -1;
    if (!overflows) {
      const bool rounds = a % b != 0 && (a < 0) != (b < 0);
      result = name == "//" ? a / b - static_cast<int64_t>(rounds) : a % b + (rounds ? b : 0);
    }
  }
  base::check_data(!overflows, "{} of {} and {} is beyond 64 bits", name, a, b);
  return Value::integer(result);
}

Value of_numbers(std::string_view name, double a, double b) {
  if (name == "+") {
    return Value::number(a + b);
  }
  if (name == "-") {
    return Value::number(a - b);
  }
  if (name == "*") {
    return Value::number(a * b);
  }
  base::check_data(b != 0.0, "a division by 0");
  if (name == "/") {
    return Value::number(a / b);
  }
  const double rest = std::fmod(a, b);
  const double modulus = rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
  return Value::number(name == "%" ? modulus : std::floor((a - modulus) / b + 0.5));
}

Value joined(const Value& left, const Value& right, TemplateBudget& budget) {
  budget.spend_bytes(left.as_text().size() + right.as_text().size());
  return Value::text(left.as_text() + right.as_text());
}

// A number of a bound or an argument.
int64_t whole(const Value& value, const char* what) {
  base::check_data(value.is(ValueKind::kInteger) || value.is(ValueKind::kBool), "{} is {}, must be a whole number",
                   what, described(value));
  return value.as_integer();
}

}  // namespace

TemplateValue template_arithmetic(std::string_view name, const TemplateValue& left, const TemplateValue& right,
                                  TemplateBudget& budget) {
  if (name == "~") {
    return joined(Value::text(written(left)), Value::text(written(right)), budget);
  }
  if (left.is_number() && right.is_number()) {
    const bool has_fraction = left.is(ValueKind::kNumber) || right.is(ValueKind::kNumber) || name == "/";
    return has_fraction ? of_numbers(name, left.as_number(), right.as_number())
                        : of_integers(name, left.as_integer(), right.as_integer());
  }
  if (name == "+" && left.is(ValueKind::kText) && right.is(ValueKind::kText)) {
    return joined(left, right, budget);
  }
  if (name == "+" && left.is(ValueKind::kList) && right.is(ValueKind::kList)) {
    Value::Items items = visited(left, budget);
    const Value::Items more = visited(right, budget);
    items.insert(items.end(), more.begin(), more.end());
    return Value::list(std::move(items));
  }
  if (name == "*" && left.is(ValueKind::kText) && right.is(ValueKind::kInteger)) {
    std::string text;
    for (int64_t i = 0; i < right.as_integer(); ++i) {
      budget.spend_bytes(left.as_text().size());
      text += left.as_text();
    }
    return Value::text(std::move(text));
  }
  fail_operands(name, left, right);
}

TemplateValue template_negative(const TemplateValue& value) {
  base::check_data(value.is_number(), "- of {} is not supported", described(value));
  return value.is(ValueKind::kNumber) ? Value::number(-value.as_number()) : of_integers("-", 0, value.as_integer());
}

TemplateValue template_slice(const TemplateValue& value, const TemplateBounds& bounds, TemplateBudget& budget) {
  base::check_data(value.is(ValueKind::kList) || value.is(ValueKind::kText), "{} has no slice", described(value));
  const Value::Items items = visited(value, budget);
  const auto size = static_cast<int64_t>(items.size());
  const int64_t step = bounds.step.is(ValueKind::kNone) ? 1 : whole(bounds.step, "the step of a slice");
  base::check_data(step != 0, "the step of a slice is 0");
  const auto place = [&](const Value& bound, int64_t missing) {
    if (bound.is(ValueKind::kNone)) {
      return missing;
    }
    const int64_t given = whole(bound, "a bound of a slice");
    const int64_t from_begin = given < 0 ? std::max(given, -size - 1) + size : given;
    return std::clamp(from_begin, step > 0 ? int64_t{0} : int64_t{-1}, step > 0 ? size : size - 1);
  };
  const int64_t first = place(bounds.first, step > 0 ? 0 : size - 1);
  const int64_t last = place(bounds.last, step > 0 ? size : -1);
  Value::Items chosen;
  std::string text;
  const int64_t stride = std::clamp(step, -size - 1, size + 1);
  for (int64_t i = first; step > 0 ? i < last : i > last; i += stride) {
    chosen.push_back(items[static_cast<size_t>(i)]);
    text += value.is(ValueKind::kText) ? chosen.back().as_text() : std::string();
  }
  return value.is(ValueKind::kText) ? Value::text(std::move(text)) : Value::list(std::move(chosen));
}

TemplateValue template_range(const TemplateValue::Items& arguments, TemplateBudget& budget) {
  const char* const what = "range: an argument";
  const int64_t first = arguments.size() > 1 ? whole(arguments[0], what) : 0;
  const int64_t last = whole(arguments[arguments.size() > 1 ? 1 : 0], what);
  const int64_t step = arguments.size() > 2 ? whole(arguments[2], what) : 1;
  base::check_data(step != 0, "range: the step is 0");
  Value::Items items;
  for (int64_t i = first; step > 0 ? i < last : i > last;) {
    budget.spend();
    items.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  return Value::list(std::move(items));
}

}  // namespace dragoman::data
