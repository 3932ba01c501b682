#include "data/chat/template_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/chat/template_expressions.h"

namespace dragoman::data {
namespace {

using TokenKind = TemplateToken::Kind;
using StatementKind = TemplateStatement::Kind;

class Parser {
 public:
  Parser(std::string_view source, const std::string& name) : tokens_(source, name), expressions_(tokens_) {}

  TemplateBody read() {
    TemplateBody body = read_body();
    if (!tokens_.is(TokenKind::kEnd)) {
      tokens_.fail(fmt::format("tag \"{}\" has no beginning", tokens_.peek(1).text));
    }
    return body;
  }

 private:
  // Reads up to a tag that ends or divides a body, which stays unread.
  TemplateBody read_body() {
    if (++depth_ > kDeepestTemplate) {
      tokens_.fail(fmt::format("statements nest deeper than {}", kDeepestTemplate));
    }
    TemplateBody body;
    while (!tokens_.is(TokenKind::kEnd) && !at_end_tag()) {
      read_statement(body);
    }
    --depth_;
    return body;
  }

  bool at_end_tag() const {
    const std::string& name = tokens_.peek(1).text;
    return tokens_.is(TokenKind::kBlockBegin) && tokens_.peek(1).kind == TokenKind::kName &&
           (name.starts_with("end") || name == "else" || name == "elif");
  }

  // Reads {% name %}.
  void read_end(const char* name) {
    if (!tokens_.is(TokenKind::kBlockBegin)) {
      tokens_.fail_expected(name);
    }
    tokens_.next();
    tokens_.expect_name(name);
    end_block();
  }
  void end_block() { tokens_.expect(TokenKind::kBlockEnd, "the end of the block"); }

  void read_statement(TemplateBody& body) {
    TemplateStatement statement{.line = tokens_.line()};
    const TemplateToken& token = tokens_.next();
    if (token.kind == TokenKind::kData) {
      statement.text = token.text;
    } else if (token.kind == TokenKind::kOutputBegin) {
      statement.kind = StatementKind::kOutput;
      statement.expression = expressions_.read_list();
      tokens_.expect(TokenKind::kOutputEnd, "the end of the output");
    } else {
      read_tag(tokens_.expect(TokenKind::kName, "the name of a tag").text, statement, body);
      if (statement.kind == StatementKind::kData) {  // {% generation %} adds its statements itself
        return;
      }
    }
    body.push_back(std::move(statement));
  }

  void read_tag(const std::string& name, TemplateStatement& statement, TemplateBody& body) {
    if (name == "if") {
      return read_if(statement);
    }
    if (name == "for") {
      return read_for(statement);
    }
    if (name == "set") {
      return read_set(statement);
    }
    if (name == "generation") {  // marks what a model writes, for training
      end_block();
      TemplateBody inner = read_body();
      read_end("endgeneration");
      std::ranges::move(inner, std::back_inserter(body));
      return;
    }
    if (name != "break" && name != "continue") {
      tokens_.fail(
          fmt::format("tag \"{}\" is not supported; known are if, for, set, break, continue and generation", name));
    }
    if (loops_ == 0) {
      tokens_.fail(fmt::format("{} stands outside a loop", name));
    }
    statement.kind = name == "break" ? StatementKind::kBreak : StatementKind::kContinue;
    end_block();
  }

  // Begins behind "if" or "elif".
  void read_if(TemplateStatement& statement) {
    statement.kind = StatementKind::kIf;
    statement.expression = expressions_.read_list(false);
    end_block();
    statement.body = read_body();
    if (tokens_.is_name("elif", 1)) {
      if (++depth_ > kDeepestTemplate) {
        tokens_.fail(fmt::format("statements nest deeper than {}", kDeepestTemplate));
      }
      tokens_.next();
      TemplateStatement inner{.line = tokens_.line()};
      tokens_.next();
      read_if(inner);
      statement.otherwise.push_back(std::move(inner));
      --depth_;
      return;
    }
    read_else(statement);
    read_end("endif");
  }

  void read_else(TemplateStatement& statement) {
    if (tokens_.is(TokenKind::kBlockBegin) && tokens_.is_name("else", 1)) {
      read_end("else");
      statement.otherwise = read_body();
    }
  }

  void read_for(TemplateStatement& statement) {
    statement.kind = StatementKind::kFor;
    do {
      statement.names.push_back(read_target());
    } while (tokens_.take_operator(","));
    tokens_.expect_name("in");
    statement.expression = expressions_.read_list(false);
    if (tokens_.take_name("if")) {
      statement.condition = expressions_.read();
    }
    if (tokens_.is_name("recursive")) {
      tokens_.fail("a recursive loop is not supported");
    }
    end_block();
    ++loops_;
    statement.body = read_body();
    --loops_;
    read_else(statement);
    read_end("endfor");
  }

  std::string read_target() {
    if (tokens_.is_operator("(")) {
      tokens_.fail("brackets around names are not supported");
    }
    const std::string& name = tokens_.expect(TokenKind::kName, "a name").text;
    for (const char* reserved : {"true", "false", "none", "True", "False", "None", "loop"}) {
      if (name == reserved) {
        tokens_.fail(fmt::format("\"{}\" cannot be set", name));
      }
    }
    return name;
  }

  void read_set(TemplateStatement& statement) {
    statement.kind = StatementKind::kSet;
    statement.names.push_back(read_target());
    if (tokens_.take_operator(".")) {
      statement.kind = StatementKind::kSetAttribute;
      statement.names.push_back(tokens_.expect(TokenKind::kName, "a name").text);
    }
    if (tokens_.is_operator(",")) {
      tokens_.fail("setting several names is not supported");
    }
    if (tokens_.take_operator("=")) {
      statement.expression = expressions_.read_list();
      return end_block();
    }
    if (statement.kind == StatementKind::kSetAttribute || !tokens_.is(TokenKind::kBlockEnd)) {
      tokens_.fail_expected("=");
    }
    statement.kind = StatementKind::kSetBody;
    end_block();
    const int loops = std::exchange(loops_, 0);
    statement.body = read_body();
    loops_ = loops;
    read_end("endset");
  }

  TemplateTokens tokens_;
  TemplateExpressions expressions_;
  int depth_ = 0;
  int loops_ = 0;  // around the statement
};

}  // namespace

TemplateBody parse_template(std::string_view source, const std::string& name) {
  base::check_data(source.size() <= kMostTemplateBytes, "{}: has {} bytes, at most {} are taken", name, source.size(),
                   kMostTemplateBytes);
  return Parser(source, name).read();
}

}  // namespace dragoman::data
