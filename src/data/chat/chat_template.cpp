#include "data/chat/chat_template.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/utf8.h"
#include "data/chat/template_evaluator.h"
#include "data/chat/template_parser.h"

namespace dragoman::data {
namespace {

using Value = TemplateValue;

Value value_of(const ChatMessage& message) {
  Value::Entries entries = {{"role", Value::text(message.role)}, {"content", Value::text(message.content)}};
  if (!message.name.empty()) {
    entries.emplace_back("name", Value::text(message.name));
  }
  return Value::dict(std::move(entries));
}

}  // namespace

std::string chat_file_json(const ChatFile& file) {
  return base::dump_json({{"template", file.source}, {"tokens", file.tokens}}, 2) + "\n";
}

ChatFile chat_file_from_json(std::string_view text, const std::string& name) {
  const nlohmann::json tree = base::parse_json(text, name);
  const base::JsonFields fields(tree, name);
  fields.check_known({"template", "tokens"});
  ChatFile file{.source = fields.text("template"), .tokens = {}};
  const base::JsonFields tokens = fields.object("tokens");
  for (const auto& [token, unused] : tree["tokens"].items()) {
    file.tokens[token] = tokens.text(token);
  }
  return file;
}

ChatTemplate::ChatTemplate(const ChatFile& file, std::string name)
    : name_(std::move(name)),
      tokens_(file.tokens),
      body_(std::make_shared<const TemplateBody>(parse_template(file.source, name_))) {}

std::string ChatTemplate::text_of(std::span<const ChatMessage> messages,
                                  std::chrono::system_clock::time_point now) const {
  Value::Items list;
  for (const ChatMessage& message : messages) {
    list.push_back(value_of(message));
  }
  TemplateInput input{.variables = {{"messages", Value::list(std::move(list))},
                                    {"add_generation_prompt", Value::truth(true)},
                                    {"tools", Value::none()},
                                    {"documents", Value::none()}},
                      .now = now};
  for (const auto& [name, token] : tokens_) {
    input.variables.emplace_back(name, Value::text(token));
  }
  return run_template(*body_, input, name_);
}

}  // namespace dragoman::data
