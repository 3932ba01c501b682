// Filters, tests and calls in expressions.
#include <fmt/format.h>

#include <algorithm>

#include "data/chat/template_expressions.h"
#include "data/chat/template_functions.h"

namespace dragoman::data {
namespace {

using ExpressionKind = TemplateExpression::Kind;
using FunctionKind = TemplateFunction::Kind;
using TokenKind = TemplateToken::Kind;
using Ptr = TemplateExpressionPtr;

constexpr std::string_view kCalls[] = {"range", "namespace", "raise_exception", "strftime_now"};

std::string_view kind_name(FunctionKind kind) {
  return kind == FunctionKind::kFilter ? "filter" : kind == FunctionKind::kTest ? "test" : "method";
}

}  // namespace

Ptr TemplateExpressions::read_filters(Ptr subject) {
  while (true) {
    if (tokens_.is_operator("|")) {
      tokens_.next();
      subject = read_filter(std::move(subject));
    } else if (tokens_.is_name("is")) {
      tokens_.next();
      subject = read_test(std::move(subject));
    } else if (tokens_.is_operator("(")) {
      tokens_.fail("a call of an expression is not supported");
    } else {
      return subject;
    }
  }
}

Ptr TemplateExpressions::read_filter(Ptr subject) {
  const TemplateToken& name = tokens_.expect(TokenKind::kName, "the name of a filter");
  return apply(FunctionKind::kFilter, name, std::move(subject),
               tokens_.is_operator("(") ? read_arguments() : Arguments());
}

// An argument of a test may stand without brackets: x is equalto 3.
Ptr TemplateExpressions::read_test(Ptr subject) {
  const bool is_not = tokens_.take_name("not");
  const TemplateToken& name = tokens_.expect(TokenKind::kName, "the name of a test");
  Arguments arguments;
  const bool is_bare =
      tokens_.is(TokenKind::kText) || tokens_.is(TokenKind::kInteger) || tokens_.is(TokenKind::kNumber) ||
      tokens_.is_operator("[") || tokens_.is_operator("{") ||
      (tokens_.is(TokenKind::kName) && !tokens_.is_name("else") && !tokens_.is_name("or") && !tokens_.is_name("and"));
  if (tokens_.is_operator("(")) {
    arguments = read_arguments();
  } else if (is_bare) {
    if (tokens_.is_name("is")) {
      tokens_.fail("a second \"is\" is not supported");
    }
    arguments.values.push_back(read_postfix(read_primary()));
    arguments.names.emplace_back();
  }
  Ptr test = apply(FunctionKind::kTest, name, std::move(subject), std::move(arguments));
  return is_not ? make(ExpressionKind::kNot, name.line, std::move(test)) : std::move(test);
}

TemplateExpressions::Arguments TemplateExpressions::read_arguments() {
  Arguments arguments;
  tokens_.expect_operator("(");
  while (!tokens_.take_operator(")")) {
    if (!arguments.values.empty()) {
      tokens_.expect_operator(",");
      if (tokens_.take_operator(")")) {
        break;
      }
    }
    const bool has_name = tokens_.is(TokenKind::kName) && tokens_.is_operator("=", 1);
    arguments.names.push_back(has_name ? tokens_.next().text : "");
    if (has_name) {
      tokens_.next();
    } else if (arguments.names.size() > 1 && !arguments.names[arguments.names.size() - 2].empty()) {
      tokens_.fail("an argument without a name stands behind one with a name");
    }
    arguments.values.push_back(read());
  }
  return arguments;
}

// A function that is not a filter, a test or a method.
Ptr TemplateExpressions::read_call(const TemplateToken& name) {
  if (std::ranges::find(kCalls, name.text) == std::end(kCalls)) {
    tokens_.fail(fmt::format("function \"{}\" is not supported; known are {}", name.text, fmt::join(kCalls, ", ")));
  }
  Arguments arguments = read_arguments();
  const auto named =
      static_cast<size_t>(std::ranges::count_if(arguments.names, [](const auto& one) { return !one.empty(); }));
  const bool is_namespace = name.text == "namespace";
  const size_t count = arguments.values.size();
  if (is_namespace ? named != count : named > 0 || count == 0 || count > (name.text == "range" ? 3U : 1U)) {
    tokens_.fail(fmt::format("function \"{}\" has arguments that are not supported", name.text));
  }
  Ptr expression = make(ExpressionKind::kCall, name.line, std::move(arguments.values));
  expression->name = name.text;
  expression->names = std::move(arguments.names);
  return expression;
}

// Puts each argument at the place of its parameter.
Ptr TemplateExpressions::apply(FunctionKind kind, const TemplateToken& name, Ptr subject, Arguments arguments) {
  const TemplateFunction* function = find_template_function(kind, name.text);
  if (function == nullptr) {
    tokens_.fail(fmt::format("{} \"{}\" is not supported; known are {}", kind_name(kind), name.text,
                             template_function_names(kind)));
  }
  std::vector<Ptr> parts(1 + function->parameters.size());
  parts[0] = std::move(subject);
  for (size_t i = 0; i < arguments.values.size(); ++i) {
    const std::string& keyword = arguments.names[i];
    size_t place = i;
    if (!keyword.empty()) {
      place = static_cast<size_t>(std::ranges::find(function->parameters, keyword) - function->parameters.begin());
    } else if (i >= function->positional) {
      place = function->parameters.size();
    }
    if (place >= function->parameters.size() || parts[1 + place] != nullptr) {
      tokens_.fail(fmt::format("{} \"{}\" has an argument {}that is not supported", kind_name(kind), name.text,
                               keyword.empty() ? "" : fmt::format("\"{}\" ", keyword)));
    }
    parts[1 + place] = std::move(arguments.values[i]);
  }
  for (size_t i = 0; i < function->least; ++i) {
    if (parts[1 + i] == nullptr) {
      tokens_.fail(
          fmt::format("{} \"{}\" needs its argument \"{}\"", kind_name(kind), name.text, function->parameters[i]));
    }
  }
  Ptr expression = make(ExpressionKind::kFunction, name.line, std::move(parts));
  expression->name = name.text;
  expression->function = function;
  check_test_name(*function, *expression);
  return expression;
}

// selectattr and rejectattr name a test as a text.
void TemplateExpressions::check_test_name(const TemplateFunction& function, const TemplateExpression& applied) const {
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const TemplateExpression* part = applied.parts[1 + i].get();
    const bool is_name = function.parameters[i] == "test" && part != nullptr &&
                         part->kind == ExpressionKind::kLiteral && part->literal.is(TemplateValue::Kind::kText);
    if (is_name && find_template_function(FunctionKind::kTest, part->literal.as_text()) == nullptr) {
      tokens_.fail(fmt::format("test \"{}\" is not supported; known are {}", part->literal.as_text(),
                               template_function_names(FunctionKind::kTest)));
    }
  }
}

}  // namespace dragoman::data
