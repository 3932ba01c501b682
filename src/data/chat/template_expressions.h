#pragma once

#include "data/chat/template_nodes.h"
#include "data/chat/template_tokens.h"

namespace dragoman::data {

/// Reads the expressions of a template. The precedences are those of Jinja: `or` binds least; then `and`, `not`,
/// comparisons, + and -, ~, * / // %, signs, and last filters and tests.
class TemplateExpressions {
 public:
  explicit TemplateExpressions(TemplateTokens& tokens) : tokens_(tokens) {}

  /// Reads an expression. @param with_condition  may be "A if B else C"
  /// Throws: Error(kBadData), as parse_template.
  [[nodiscard]] TemplateExpressionPtr read(bool with_condition = true);
  /// Reads an expression, or several with commas between them, which are a list.
  [[nodiscard]] TemplateExpressionPtr read_list(bool with_condition = true);

 private:
  TemplateExpressionPtr make(TemplateExpression::Kind kind, int line, std::vector<TemplateExpressionPtr> parts) const;
  template <typename... Parts>
  TemplateExpressionPtr make(TemplateExpression::Kind kind, int line, Parts... parts) const {
    std::vector<TemplateExpressionPtr> all;
    (all.push_back(std::move(parts)), ...);
    return make(kind, line, std::move(all));
  }
  TemplateExpressionPtr literal(TemplateValue value, int line) const;
  TemplateExpressionPtr read_or();
  TemplateExpressionPtr read_and();
  TemplateExpressionPtr read_not();
  TemplateExpressionPtr read_comparison();
  TemplateExpressionPtr read_sum();
  TemplateExpressionPtr read_concatenation();
  TemplateExpressionPtr read_product();
  TemplateExpressionPtr read_sign(bool with_filter);
  TemplateExpressionPtr read_primary();
  TemplateExpressionPtr read_word();
  TemplateExpressionPtr read_list_literal();
  TemplateExpressionPtr read_dict_literal();
  TemplateExpressionPtr read_postfix(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_attribute(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_subscript(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_filters(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_filter(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_test(TemplateExpressionPtr subject);
  TemplateExpressionPtr read_call(const TemplateToken& name);
  std::string read_compare_operator();

  struct Arguments {
    std::vector<TemplateExpressionPtr> values;
    std::vector<std::string> names;  // empty without a keyword
  };
  Arguments read_arguments();
  TemplateExpressionPtr apply(TemplateFunction::Kind kind, const TemplateToken& name, TemplateExpressionPtr subject,
                              Arguments arguments);
  void check_test_name(const TemplateFunction& function, const TemplateExpression& applied) const;

  TemplateTokens& tokens_;
  int depth_ = 0;
};

}  // namespace dragoman::data
