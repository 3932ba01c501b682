#include "data/chat/template_expressions.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman::data {
namespace {

using ExpressionKind = TemplateExpression::Kind;
using FunctionKind = TemplateFunction::Kind;
using TokenKind = TemplateToken::Kind;
using Ptr = TemplateExpressionPtr;

constexpr size_t kMostItems = 1000;  // of a list or an object that is written in a template
constexpr std::string_view kLoopNames[] = {"index",    "index0",    "first",    "last",    "length",
                                           "revindex", "revindex0", "previtem", "nextitem"};
// Methods of Python's dict, which stand before entries of these names.
constexpr std::string_view kDictMethods[] = {"items",   "keys",   "values", "get",        "copy",    "pop",
                                             "popitem", "update", "clear",  "setdefault", "fromkeys"};

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

Ptr TemplateExpressions::make(ExpressionKind kind, int line, std::vector<Ptr> parts) const {
  auto expression = std::make_unique<TemplateExpression>();
  expression->kind = kind;
  expression->line = line;
  for (const Ptr& part : parts) {
    expression->depth = std::max(expression->depth, part == nullptr ? 0 : part->depth + 1);
  }
  if (expression->depth > kDeepestTemplate) {
    tokens_.fail(fmt::format("an expression nests deeper than {}", kDeepestTemplate));
  }
  expression->parts = std::move(parts);
  return expression;
}

Ptr TemplateExpressions::literal(TemplateValue value, int line) const {
  Ptr expression = make(ExpressionKind::kLiteral, line, std::vector<Ptr>());
  expression->literal = std::move(value);
  return expression;
}

Ptr TemplateExpressions::read(bool with_condition) {
  if (++depth_ > kDeepestTemplate) {
    tokens_.fail(fmt::format("an expression nests deeper than {}", kDeepestTemplate));
  }
  Ptr expression = read_or();
  while (with_condition && tokens_.take_name("if")) {
    const int line = tokens_.line();
    Ptr condition = read_or();
    Ptr otherwise = tokens_.take_name("else") ? read() : nullptr;
    expression =
        make(ExpressionKind::kConditional, line, std::move(expression), std::move(condition), std::move(otherwise));
  }
  --depth_;
  return expression;
}

Ptr TemplateExpressions::read_list(bool with_condition) {
  const int line = tokens_.line();
  Ptr first = read(with_condition);
  if (!tokens_.is_operator(",")) {
    return first;
  }
  std::vector<Ptr> items;
  items.push_back(std::move(first));
  while (tokens_.take_operator(",") && !tokens_.is_operator(")") && !tokens_.is(TokenKind::kBlockEnd) &&
         !tokens_.is(TokenKind::kOutputEnd)) {
    items.push_back(read(with_condition));
  }
  return make(ExpressionKind::kList, line, std::move(items));
}

Ptr TemplateExpressions::read_or() {
  Ptr left = read_and();
  while (tokens_.take_name("or")) {
    left = make(ExpressionKind::kOr, tokens_.line(), std::move(left), read_and());
  }
  return left;
}

Ptr TemplateExpressions::read_and() {
  Ptr left = read_not();
  while (tokens_.take_name("and")) {
    left = make(ExpressionKind::kAnd, tokens_.line(), std::move(left), read_not());
  }
  return left;
}

Ptr TemplateExpressions::read_not() {
  int count = 0;
  while (tokens_.take_name("not")) {
    ++count;
  }
  Ptr expression = read_comparison();
  for (; count > 0; --count) {
    expression = make(ExpressionKind::kNot, tokens_.line(), std::move(expression));
  }
  return expression;
}

std::string TemplateExpressions::read_compare_operator() {
  for (const char* name : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (tokens_.take_operator(name)) {
      return name;
    }
  }
  if (tokens_.take_name("in")) {
    return "in";
  }
  if (tokens_.is_name("not") && tokens_.is_name("in", 1)) {
    tokens_.next();
    tokens_.next();
    return "not in";
  }
  return "";
}

Ptr TemplateExpressions::read_comparison() {
  const int line = tokens_.line();
  std::vector<Ptr> parts;
  std::vector<std::string> names;
  parts.push_back(read_sum());
  for (std::string name = read_compare_operator(); !name.empty(); name = read_compare_operator()) {
    names.push_back(std::move(name));
    parts.push_back(read_sum());
  }
  if (names.empty()) {
    return std::move(parts.front());
  }
  Ptr expression = make(ExpressionKind::kCompare, line, std::move(parts));
  expression->names = std::move(names);
  return expression;
}

Ptr TemplateExpressions::read_sum() {
  Ptr left = read_concatenation();
  while (tokens_.is_operator("+") || tokens_.is_operator("-")) {
    const TemplateToken& token = tokens_.next();
    left = make(ExpressionKind::kArithmetic, token.line, std::move(left), read_concatenation());
    left->name = token.text;
  }
  return left;
}

Ptr TemplateExpressions::read_concatenation() {
  Ptr left = read_product();
  while (tokens_.is_operator("~")) {
    const TemplateToken& token = tokens_.next();
    left = make(ExpressionKind::kArithmetic, token.line, std::move(left), read_product());
    left->name = token.text;
  }
  return left;
}

Ptr TemplateExpressions::read_product() {
  Ptr left = read_sign(true);
  while (tokens_.is_operator("*") || tokens_.is_operator("/") || tokens_.is_operator("//") ||
         tokens_.is_operator("%")) {
    const TemplateToken& token = tokens_.next();
    left = make(ExpressionKind::kArithmetic, token.line, std::move(left), read_sign(true));
    left->name = token.text;
  }
  if (tokens_.is_operator("**")) {
    tokens_.fail("operator \"**\" is not supported");
  }
  return left;
}

// A sign stands before filters: -1|string is (-1)|string.
Ptr TemplateExpressions::read_sign(bool with_filter) {
  const int line = tokens_.line();
  Ptr expression;
  if (tokens_.take_operator("-")) {
    if (++depth_ > kDeepestTemplate) {
      tokens_.fail(fmt::format("an expression nests deeper than {}", kDeepestTemplate));
    }
    expression = make(ExpressionKind::kNegative, line, read_sign(false));
    --depth_;
  } else if (tokens_.is_operator("+")) {
    tokens_.fail("the sign \"+\" is not supported");
  } else {
    expression = read_primary();
  }
  expression = read_postfix(std::move(expression));
  return with_filter ? read_filters(std::move(expression)) : std::move(expression);
}

Ptr TemplateExpressions::read_word() {
  const TemplateToken& token = tokens_.next();
  const std::string& name = token.text;
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    return literal(TemplateValue::truth(name == "true" || name == "True"), token.line);
  }
  if (name == "none" || name == "None") {
    return literal(TemplateValue::none(), token.line);
  }
  if (tokens_.is_operator("(")) {
    return read_call(token);
  }
  Ptr expression = make(ExpressionKind::kName, token.line, std::vector<Ptr>());
  expression->name = name;
  return expression;
}

Ptr TemplateExpressions::read_primary() {
  const TemplateToken& token = tokens_.peek();
  switch (token.kind) {
    case TokenKind::kName:
      return read_word();
    case TokenKind::kInteger:
      return literal(TemplateValue::integer(tokens_.next().integer), token.line);
    case TokenKind::kNumber:
      return literal(TemplateValue::number(tokens_.next().number), token.line);
    case TokenKind::kText: {
      std::string text;
      while (tokens_.is(TokenKind::kText)) {
        text += tokens_.next().text;
      }
      return literal(TemplateValue::text(std::move(text)), token.line);
    }
    default:
      break;
  }
  if (tokens_.take_operator("(")) {
    if (tokens_.take_operator(")")) {
      return make(ExpressionKind::kList, token.line, std::vector<Ptr>());
    }
    Ptr expression = read_list();
    tokens_.expect_operator(")");
    return expression;
  }
  if (tokens_.is_operator("[")) {
    return read_list_literal();
  }
  if (tokens_.is_operator("{")) {
    return read_dict_literal();
  }
  tokens_.fail_expected("an expression");
}

Ptr TemplateExpressions::read_list_literal() {
  const int line = tokens_.next().line;
  std::vector<Ptr> items;
  while (!tokens_.take_operator("]")) {
    if (!items.empty()) {
      tokens_.expect_operator(",");
      if (tokens_.take_operator("]")) {
        break;
      }
    }
    items.push_back(read());
    if (items.size() > kMostItems) {
      tokens_.fail(fmt::format("a list has more than {} items", kMostItems));
    }
  }
  return make(ExpressionKind::kList, line, std::move(items));
}

Ptr TemplateExpressions::read_dict_literal() {
  const int line = tokens_.next().line;
  std::vector<Ptr> values;
  std::vector<std::string> names;
  while (!tokens_.take_operator("}")) {
    if (!values.empty()) {
      tokens_.expect_operator(",");
      if (tokens_.take_operator("}")) {
        break;
      }
    }
    if (!tokens_.is(TokenKind::kText)) {
      tokens_.fail("a name of an entry that is no quoted text is not supported");
    }
    names.push_back(tokens_.next().text);
    tokens_.expect_operator(":");
    values.push_back(read());
    if (values.size() > kMostItems) {
      tokens_.fail(fmt::format("an object has more than {} entries", kMostItems));
    }
  }
  Ptr expression = make(ExpressionKind::kDict, line, std::move(values));
  expression->names = std::move(names);
  return expression;
}

Ptr TemplateExpressions::read_postfix(Ptr subject) {
  while (true) {
    if (tokens_.is_operator(".")) {
      subject = read_attribute(std::move(subject));
    } else if (tokens_.is_operator("[")) {
      subject = read_subscript(std::move(subject));
    } else if (tokens_.is_operator("(")) {
      tokens_.fail("a call of an expression is not supported");
    } else {
      return subject;
    }
  }
}

Ptr TemplateExpressions::read_attribute(Ptr subject) {
  const int line = tokens_.next().line;
  if (tokens_.is(TokenKind::kInteger)) {
    Ptr place = literal(TemplateValue::integer(tokens_.next().integer), line);
    return make(ExpressionKind::kItem, line, std::move(subject), std::move(place));
  }
  const TemplateToken& name = tokens_.expect(TokenKind::kName, "a name");
  if (tokens_.is_operator("(")) {
    return apply(FunctionKind::kMethod, name, std::move(subject), read_arguments());
  }
  const bool is_loop = subject->kind == ExpressionKind::kName && subject->name == "loop";
  if ((is_loop && !has(kLoopNames, name.text)) || has(kDictMethods, name.text)) {
    tokens_.fail(
        is_loop ? fmt::format("loop.{} is not supported", name.text)
                : fmt::format(".{0} without a call is not supported; an entry of this name is [\"{0}\"]", name.text));
  }
  Ptr expression = make(ExpressionKind::kAttribute, line, std::move(subject));
  expression->name = name.text;
  return expression;
}

Ptr TemplateExpressions::read_subscript(Ptr subject) {
  const int line = tokens_.next().line;
  const auto read_bound = [&]() -> Ptr {
    return tokens_.is_operator(":") || tokens_.is_operator("]") ? nullptr : read();
  };
  Ptr first = read_bound();
  if (first != nullptr && tokens_.take_operator("]")) {
    return make(ExpressionKind::kItem, line, std::move(subject), std::move(first));
  }
  tokens_.expect_operator(":");
  Ptr last = read_bound();
  Ptr step = tokens_.take_operator(":") ? read_bound() : nullptr;
  tokens_.expect_operator("]");
  return make(ExpressionKind::kSlice, line, std::move(subject), std::move(first), std::move(last), std::move(step));
}

}  // namespace dragoman::data
