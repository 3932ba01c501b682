#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "data/chat/template_lexer.h"

namespace dragoman::data {

/// The tokens of a template, read one after another.
class TemplateTokens {
 public:
  TemplateTokens(std::string_view source, std::string name)
      : name_(std::move(name)), tokens_(template_tokens(source, name_)) {}

  [[nodiscard]] const TemplateToken& peek(size_t ahead = 0) const;
  [[nodiscard]] int line() const { return peek().line; }
  const TemplateToken& next();

  [[nodiscard]] bool is(TemplateToken::Kind kind) const { return peek().kind == kind; }
  [[nodiscard]] bool is_operator(std::string_view text, size_t ahead = 0) const;
  [[nodiscard]] bool is_name(std::string_view text, size_t ahead = 0) const;
  /// Reads an operator or a name if it comes next.
  bool take_operator(std::string_view text);
  bool take_name(std::string_view text);
  /// Return the token that must come next. Throw: Error(kBadData), "NAME: line 3: "foo" stands where ) must stand".
  void expect_operator(std::string_view text);
  void expect_name(std::string_view text);
  const TemplateToken& expect(TemplateToken::Kind kind, std::string_view what);

  [[noreturn]] void fail(const std::string& message) const { fail_at(name_, line(), message); }
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  std::string name_;
  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
};

}  // namespace dragoman::data
