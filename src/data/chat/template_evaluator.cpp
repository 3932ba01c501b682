#include "data/chat/template_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <memory>

#include "base/error.h"
#include "base/utf8.h"
#include "data/chat/template_arithmetic.h"
#include "data/chat/template_functions.h"
#include "data/chat/template_item.h"
#include "data/chat/template_lexer.h"

namespace dragoman::data {
namespace {

using Expression = TemplateExpression;
using ExpressionKind = Expression::Kind;
using ValueKind = TemplateValue::Kind;
using Statement = TemplateStatement;
using StatementKind = Statement::Kind;
using Value = TemplateValue;

class Evaluator {
 public:
  Evaluator(const TemplateInput& input, const std::string& name)
      : input_(input), name_(name), scopes_(1, input.variables) {}

  std::string run(const TemplateBody& body) try {
    std::string text;
    run_body(body, text);
    return text;
  } catch (const base::Error& error) {
    fail_at(name_, line_, error.what());
  }

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // ---- statements ----

  Flow run_body(const TemplateBody& body, std::string& text) {
    for (const Statement& statement : body) {
      if (const Flow flow = run_statement(statement, text); flow != Flow::kNext) {
        return flow;
      }
    }
    return Flow::kNext;
  }

  Flow run_statement(const Statement& statement, std::string& text) {
    budget_.spend();
    line_ = statement.line;
    switch (statement.kind) {
      case StatementKind::kData:
        add(statement.text, text);
        return Flow::kNext;
      case StatementKind::kOutput:
        add(written(value_of(*statement.expression)), text);
        return Flow::kNext;
      case StatementKind::kIf:
        return run_body(is_true(value_of(*statement.expression)) ? statement.body : statement.otherwise, text);
      case StatementKind::kFor:
        return run_for(statement, text);
      case StatementKind::kSet:
        set(statement.names[0], value_of(*statement.expression));
        return Flow::kNext;
      case StatementKind::kSetAttribute:
        set_attribute(statement);
        return Flow::kNext;
      case StatementKind::kSetBody:
        set_body(statement);
        return Flow::kNext;
      case StatementKind::kBreak:
        return Flow::kBreak;
      case StatementKind::kContinue:
        return Flow::kContinue;
    }
    return Flow::kNext;
  }

  void add(const std::string& part, std::string& text) {
    budget_.spend_bytes(part.size());
    text += part;
  }

  Flow run_for(const Statement& statement, std::string& text) {
    const Value::Items items = chosen_items(statement);
    scopes_.emplace_back();
    Flow flow = Flow::kNext;
    for (size_t i = 0; i < items.size() && flow != Flow::kBreak; ++i) {
      budget_.spend();
      scopes_.back().clear();
      assign(statement, items[i]);
      set("loop", loop_value(items, i));
      flow = run_body(statement.body, text);
    }
    scopes_.pop_back();
    if (!items.empty()) {
      return Flow::kNext;
    }
    scopes_.emplace_back();
    flow = run_body(statement.otherwise, text);
    scopes_.pop_back();
    return flow;
  }

  // The items for which the condition of the loop holds.
  Value::Items chosen_items(const Statement& statement) {
    Value::Items items = visited(value_of(*statement.expression), budget_);
    if (statement.condition == nullptr) {
      return items;
    }
    Value::Items chosen;
    scopes_.emplace_back();
    for (Value& item : items) {
      budget_.spend();
      assign(statement, item);
      if (is_true(value_of(*statement.condition))) {
        chosen.push_back(std::move(item));
      }
    }
    scopes_.pop_back();
    return chosen;
  }

  void assign(const Statement& statement, const Value& item) {
    if (statement.names.size() == 1) {
      return set(statement.names[0], item);
    }
    const Value::Items parts = visited(item, budget_);
    base::check_data(parts.size() == statement.names.size(), "an item of the loop has {} parts, the loop has {} names",
                     parts.size(), statement.names.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      set(statement.names[i], parts[i]);
    }
  }

  static Value loop_value(const Value::Items& items, size_t i) {
    const auto place = static_cast<int64_t>(i), size = static_cast<int64_t>(items.size());
    return Value::dict({{"index", Value::integer(place + 1)},
                        {"index0", Value::integer(place)},
                        {"revindex", Value::integer(size - place)},
                        {"revindex0", Value::integer(size - place - 1)},
                        {"first", Value::truth(i == 0)},
                        {"last", Value::truth(i + 1 == items.size())},
                        {"length", Value::integer(size)},
                        {"previtem", i > 0 ? items[i - 1] : Value::undefined("loop.previtem")},
                        {"nextitem", i + 1 < items.size() ? items[i + 1] : Value::undefined("loop.nextitem")}});
  }

  void set(const std::string& name, Value value) {
    Value::Entries& scope = scopes_.back();
    budget_.spend(scope.size());
    const auto found = std::ranges::find(scope, name, &Value::Entries::value_type::first);
    if (found == scope.end()) {
      scope.emplace_back(name, std::move(value));
    } else {
      found->second = std::move(value);
    }
  }

  void set_attribute(const Statement& statement) {
    Value value = value_of(*statement.expression);
    const Value target = look_up(statement.names[0]);
    base::check_data(target.is(ValueKind::kNamespace), "{} is {}, must be a namespace", statement.names[0],
                     described(target));
    Value::Entries& entries = target.as_namespace().entries;
    budget_.spend(entries.size());
    const auto found = std::ranges::find(entries, statement.names[1], &Value::Entries::value_type::first);
    if (found == entries.end()) {
      entries.emplace_back(statement.names[1], std::move(value));
    } else {
      found->second = std::move(value);
    }
  }

  void set_body(const Statement& statement) {
    std::string inner;
    scopes_.emplace_back();
    run_body(statement.body, inner);
    scopes_.pop_back();
    set(statement.names[0], Value::text(std::move(inner)));
  }

  Value look_up(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      budget_.spend(scope->size());
      const auto found = std::ranges::find(*scope, name, &Value::Entries::value_type::first);
      if (found != scope->end()) {
        return found->second;
      }
    }
    // The functions are values too, for "strftime_now is defined".
    const bool is_function =
        name == "range" || name == "namespace" || name == "raise_exception" || name == "strftime_now";
    return is_function ? Value::truth(true) : Value::undefined(name);
  }

  // ---- expressions ----

  Value value_of(const Expression& expression) {
    budget_.spend();
    switch (expression.kind) {
      case ExpressionKind::kLiteral:
        return expression.literal;
      case ExpressionKind::kName:
        return look_up(expression.name);
      case ExpressionKind::kList:
        return Value::list(values_of(expression));
      case ExpressionKind::kDict:
        return dict_of(expression);
      case ExpressionKind::kAttribute:
        return template_item(value_of(*expression.parts[0]), Value::text(expression.name),
                             place_of(*expression.parts[0]), budget_);
      case ExpressionKind::kItem: {
        const Value subject = value_of(*expression.parts[0]);
        return template_item(subject, value_of(*expression.parts[1]), place_of(*expression.parts[0]), budget_);
      }
      case ExpressionKind::kSlice:
        return slice_of(expression);
      case ExpressionKind::kCall:
        return call(expression);
      case ExpressionKind::kFunction:
        return apply(expression);
      default:
        return operation(expression);
    }
  }

  Value operation(const Expression& expression) {
    const Expression& first = *expression.parts[0];
    switch (expression.kind) {
      case ExpressionKind::kNot:
        return Value::truth(!is_true(value_of(first)));
      case ExpressionKind::kNegative:
        return template_negative(value_of(first));
      case ExpressionKind::kAnd: {
        Value left = value_of(first);
        return is_true(left) ? value_of(*expression.parts[1]) : left;
      }
      case ExpressionKind::kOr: {
        Value left = value_of(first);
        return is_true(left) ? left : value_of(*expression.parts[1]);
      }
      case ExpressionKind::kConditional:
        if (is_true(value_of(*expression.parts[1]))) {
          return value_of(first);
        }
        return expression.parts[2] == nullptr ? Value::undefined() : value_of(*expression.parts[2]);
      case ExpressionKind::kCompare:
        return compare(expression);
      default: {
        const Value left = value_of(first);
        return template_arithmetic(expression.name, left, value_of(*expression.parts[1]), budget_);
      }
    }
  }

  Value::Items values_of(const Expression& expression) {
    Value::Items values;
    for (const auto& part : expression.parts) {
      values.push_back(value_of(*part));
    }
    return values;
  }

  Value dict_of(const Expression& expression) {
    Value::Entries entries;
    for (size_t i = 0; i < expression.parts.size(); ++i) {
      budget_.spend(i);  // the names are compared
      entries.emplace_back(expression.names[i], value_of(*expression.parts[i]));
    }
    return Value::dict(std::move(entries));
  }

  // The place of a value in errors.
  static std::string place_of(const Expression& expression) {
    return expression.kind == ExpressionKind::kName        ? expression.name
           : expression.kind == ExpressionKind::kAttribute ? place_of(*expression.parts[0]) + "." + expression.name
                                                           : "a value";
  }

  // A comparison chain holds if each of its comparisons holds.
  Value compare(const Expression& expression) {
    Value left = value_of(*expression.parts[0]);
    for (size_t i = 0; i < expression.names.size(); ++i) {
      Value right = value_of(*expression.parts[i + 1]);
      if (!holds(expression.names[i], left, right)) {
        return Value::truth(false);
      }
      left = std::move(right);
    }
    return Value::truth(true);
  }

  bool holds(const std::string& name, const Value& left, const Value& right) {
    if (name == "==" || name == "!=") {
      return are_equal(left, right, budget_) == (name == "==");
    }
    if (name == "in" || name == "not in") {
      return contains(right, left, budget_) == (name == "in");
    }
    const int order = compared(left, right);
    return name == "<" ? order < 0 : name == "<=" ? order <= 0 : name == ">" ? order > 0 : order >= 0;
  }

  Value slice_of(const Expression& expression) {
    const Value subject = value_of(*expression.parts[0]);
    const auto bound = [&](size_t part) {
      const auto& written_bound = expression.parts[part];
      return written_bound == nullptr ? Value::none() : value_of(*written_bound);
    };
    const Value first = bound(1), last = bound(2), step = bound(3);
    return template_slice(subject, {first, last, step}, budget_);
  }

  Value apply(const Expression& expression) {
    const Value subject = value_of(*expression.parts[0]);
    Value::Items arguments;
    for (size_t i = 1; i < expression.parts.size(); ++i) {
      const auto& part = expression.parts[i];
      arguments.push_back(part == nullptr ? Value::undefined() : value_of(*part));
    }
    const bool is_method = expression.function->kind == TemplateFunction::Kind::kMethod;
    base::check_data(!is_method || !subject.is(ValueKind::kUndefined), "{} is undefined, so it has no {}",
                     subject.is(ValueKind::kUndefined) && !subject.missing_name().empty()
                         ? subject.missing_name()
                         : place_of(*expression.parts[0]),
                     expression.name);
    return expression.function->run(subject, arguments, budget_);
  }

  Value call(const Expression& expression) {
    Value::Items values = values_of(expression);
    if (expression.name == "namespace") {
      Value::Namespace& made = namespaces_.emplace_back();
      for (size_t i = 0; i < values.size(); ++i) {
        made.entries.emplace_back(expression.names[i], std::move(values[i]));
      }
      return Value::reference(made);
    }
    if (expression.name == "range") {
      return template_range(values, budget_);
    }
    base::check_data(values[0].is(ValueKind::kText), "{}: the argument is {}, must be a text", expression.name,
                     described(values[0]));
    if (expression.name == "raise_exception") {
      line_ = expression.line;
      base::fail(base::ErrorKind::kBadData, "the template refuses the conversation: {}", values[0].as_text());
    }
    return time_text(values[0].as_text());
  }

  Value time_text(const std::string& format) const {
    constexpr size_t kLongest = 100;
    base::check_data(format.size() <= kLongest && format.find("%%") == std::string::npos,
                     "strftime_now: format \"{}\" is not supported", format.substr(0, kLongest));
    const std::time_t seconds = std::chrono::system_clock::to_time_t(input_.now);
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[16 * kLongest];
    const size_t bytes = std::strftime(text, sizeof(text), format.c_str(), &local);
    return Value::text(base::repair_utf8({text, bytes}));
  }

  const TemplateInput& input_;
  const std::string& name_;
  int line_ = 1;
  TemplateBudget budget_;
  std::vector<Value::Entries> scopes_;  // the innermost last
  std::deque<Value::Namespace> namespaces_;
};

}  // namespace

std::string run_template(const TemplateBody& body, const TemplateInput& input, const std::string& name) {
  return Evaluator(input, name).run(body);
}

}  // namespace dragoman::data
