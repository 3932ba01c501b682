#include "data/chat/template_tests.h"

#include <cstdlib>

#include "base/error.h"

namespace dragoman::data {
namespace {

using Arguments = TemplateFunction::Arguments;
using Value = TemplateValue;
using ValueKind = TemplateValue::Kind;

template <ValueKind... kinds>
Value is_one_of(const Value& subject, Arguments, TemplateBudget&) {
  return Value::truth((subject.is(kinds) || ...));
}

template <bool expected>
Value is_truth(const Value& subject, Arguments, TemplateBudget&) {
  return Value::truth(subject.is(ValueKind::kBool) && subject.as_bool() == expected);
}

Value is_defined(const Value& subject, Arguments, TemplateBudget&) {
  return Value::truth(!subject.is(ValueKind::kUndefined));
}

template <int64_t rest>
Value has_rest_of_two(const Value& subject, Arguments, TemplateBudget&) {
  return Value::truth(std::abs(whole_argument(subject, "the value") % 2) == rest);
}

Value is_divisible(const Value& subject, Arguments arguments, TemplateBudget&) {
  const int64_t divisor = whole_argument(arguments[0], "divisor");
  base::check_data(divisor != 0, "a division by 0");
  return Value::truth(divisor == -1 || whole_argument(subject, "the value") % divisor == 0);
}

Value is_in(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  return Value::truth(contains(arguments[0], subject, budget));
}

template <bool expected>
Value is_equal(const Value& subject, Arguments arguments, TemplateBudget& budget) {
  return Value::truth(are_equal(subject, arguments[0], budget) == expected);
}

template <bool (*holds)(int)>
Value is_ordered(const Value& subject, Arguments arguments, TemplateBudget&) {
  return Value::truth(holds(compared(subject, arguments[0])));
}
constexpr bool below(int order) {
  return order < 0;
}
constexpr bool at_most(int order) {
  return order <= 0;
}
constexpr bool above(int order) {
  return order > 0;
}
constexpr bool at_least(int order) {
  return order >= 0;
}

}  // namespace

const std::vector<TemplateFunction>& template_tests() {
  constexpr auto kTest = TemplateFunction::Kind::kTest;
  static const std::vector<TemplateFunction> kAll = {
      {kTest, "defined", 0, 0, {}, is_defined},
      {kTest, "undefined", 0, 0, {}, is_one_of<ValueKind::kUndefined>},
      {kTest, "none", 0, 0, {}, is_one_of<ValueKind::kNone>},
      {kTest, "boolean", 0, 0, {}, is_one_of<ValueKind::kBool>},
      {kTest, "true", 0, 0, {}, is_truth<true>},
      {kTest, "false", 0, 0, {}, is_truth<false>},
      {kTest, "integer", 0, 0, {}, is_one_of<ValueKind::kInteger>},
      {kTest, "float", 0, 0, {}, is_one_of<ValueKind::kNumber>},
      {kTest, "number", 0, 0, {}, is_one_of<ValueKind::kBool, ValueKind::kInteger, ValueKind::kNumber>},
      {kTest, "string", 0, 0, {}, is_one_of<ValueKind::kText>},
      {kTest, "mapping", 0, 0, {}, is_one_of<ValueKind::kDict>},
      {kTest,
       "iterable",
       0,
       0,
       {},
       is_one_of<ValueKind::kUndefined, ValueKind::kText, ValueKind::kList, ValueKind::kDict>},
      {kTest,
       "sequence",
       0,
       0,
       {},
       is_one_of<ValueKind::kUndefined, ValueKind::kText, ValueKind::kList, ValueKind::kDict>},
      {kTest, "odd", 0, 0, {}, has_rest_of_two<1>},
      {kTest, "even", 0, 0, {}, has_rest_of_two<0>},
      {kTest, "divisibleby", 1, 1, {"num"}, is_divisible},
      {kTest, "in", 1, 1, {"seq"}, is_in},
      {kTest, "equalto", 1, 1, {"other"}, is_equal<true>},
      {kTest, "eq", 1, 1, {"other"}, is_equal<true>},
      {kTest, "==", 1, 1, {"other"}, is_equal<true>},
      {kTest, "ne", 1, 1, {"other"}, is_equal<false>},
      {kTest, "!=", 1, 1, {"other"}, is_equal<false>},
      {kTest, "lt", 1, 1, {"other"}, is_ordered<below>},
      {kTest, "le", 1, 1, {"other"}, is_ordered<at_most>},
      {kTest, "gt", 1, 1, {"other"}, is_ordered<above>},
      {kTest, "ge", 1, 1, {"other"}, is_ordered<at_least>},
  };
  return kAll;
}

}  // namespace dragoman::data
