#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/chat/template_function.h"
#include "data/chat/template_value.h"

namespace dragoman::data {

inline constexpr int kDeepestTemplate = 100;  ///< nesting of expressions, and of statements

struct TemplateExpression;
using TemplateExpressionPtr = std::unique_ptr<TemplateExpression>;

/// An expression of a template.
struct TemplateExpression {
  enum class Kind {
    kLiteral,      ///< literal
    kName,         ///< name
    kList,         ///< parts
    kDict,         ///< names[i]: parts[i]
    kAttribute,    ///< parts[0].name
    kItem,         ///< parts[0][parts[1]]
    kSlice,        ///< parts[0][parts[1]:parts[2]:parts[3]], where each of the last three may be null
    kCall,         ///< name(names[i] = parts[i], ...); names are empty without a keyword
    kFunction,     ///< parts[0] | name, parts[0] is name, parts[0].name(); then the arguments, which may be null
    kNot,          ///< not parts[0]
    kNegative,     ///< -parts[0]
    kArithmetic,   ///< parts[0] name parts[1]
    kCompare,      ///< parts[0] names[0] parts[1] names[1] parts[2] ...
    kAnd,          ///< parts[0] and parts[1]
    kOr,           ///< parts[0] or parts[1]
    kConditional,  ///< parts[0] if parts[1] else parts[2], which may be null
  };
  Kind kind = Kind::kLiteral;
  int line = 0;
  int depth = 1;  ///< of the tree
  std::string name = {};
  TemplateValue literal = {};
  const TemplateFunction* function = nullptr;
  std::vector<TemplateExpressionPtr> parts = {};
  std::vector<std::string> names = {};
};

struct TemplateStatement;
using TemplateBody = std::vector<TemplateStatement>;

/// A statement of a template, or text between statements.
struct TemplateStatement {
  enum class Kind {
    kData,          ///< text
    kOutput,        ///< {{ expression }}
    kIf,            ///< {% if expression %} body {% else %} otherwise
    kFor,           ///< {% for names in expression if condition %} body {% else %} otherwise
    kSet,           ///< {% set names[0] = expression %}
    kSetAttribute,  ///< {% set names[0].names[1] = expression %}
    kSetBody,       ///< {% set names[0] %} body
    kBreak,
    kContinue,
  };
  Kind kind = Kind::kData;
  int line = 0;
  std::string text = {};
  TemplateExpressionPtr expression = {};
  TemplateExpressionPtr condition = {};
  std::vector<std::string> names = {};
  TemplateBody body = {};
  TemplateBody otherwise = {};
};

}  // namespace dragoman::data
