#include "data/chat/template_tokens.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman::data {
namespace {

using TokenKind = TemplateToken::Kind;

std::string shown(const TemplateToken& token) {
  constexpr size_t kShown = 40;
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the template";
    case TokenKind::kBlockEnd:
      return "the end of the block";
    case TokenKind::kOutputEnd:
      return "the end of the output";
    default:
      return fmt::format("\"{}\"", token.text.substr(0, kShown));
  }
}

}  // namespace

const TemplateToken& TemplateTokens::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const TemplateToken& TemplateTokens::next() {
  const TemplateToken& token = peek();
  at_ = std::min(at_ + 1, tokens_.size() - 1);
  return token;
}

bool TemplateTokens::is_operator(std::string_view text, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kOperator && peek(ahead).text == text;
}

bool TemplateTokens::is_name(std::string_view text, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kName && peek(ahead).text == text;
}

bool TemplateTokens::take_operator(std::string_view text) {
  const bool is_next = is_operator(text);
  at_ += is_next ? 1 : 0;
  return is_next;
}

bool TemplateTokens::take_name(std::string_view text) {
  const bool is_next = is_name(text);
  at_ += is_next ? 1 : 0;
  return is_next;
}

void TemplateTokens::fail_expected(std::string_view what) const {
  fail(fmt::format("{} stands where {} must stand", shown(peek()), what));
}

void TemplateTokens::expect_operator(std::string_view text) {
  if (!take_operator(text)) {
    fail_expected(text);
  }
}

void TemplateTokens::expect_name(std::string_view text) {
  if (!take_name(text)) {
    fail_expected(text);
  }
}

const TemplateToken& TemplateTokens::expect(TokenKind kind, std::string_view what) {
  if (!is(kind)) {
    fail_expected(what);
  }
  return next();
}

}  // namespace dragoman::data
