// Texts of chat templates compared with those that transformers makes with Jinja (make_chat_templates.py).
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "data/chat/chat_template.h"
#include "data/chat/template_evaluator.h"
#include "data/chat/template_parser.h"
#include "support/template_json.h"

namespace dragoman::data {
namespace {

using nlohmann::ordered_json;
using test_support::template_value_of;

ordered_json stored() {
  return ordered_json::parse(base::read_file(std::filesystem::path(DRAGOMAN_TEST_DATA) / "chat_templates.json"));
}

std::string text_of(const std::string& source, const ordered_json& variables) {
  TemplateInput input;
  for (const auto& [name, value] : variables.items()) {
    input.variables.emplace_back(name, template_value_of(value));
  }
  return run_template(parse_template(source, "template"), input, "template");
}

TEST(ChatTemplateGolden, TextsEqualThoseOfJinja) {
  const ordered_json all = stored();
  for (const ordered_json& one : all["cases"]) {
    const auto name = one["template"].get<std::string>();
    const std::string source = all["templates"].contains(name) ? all["templates"][name].get<std::string>() : name;
    ordered_json variables = {{"messages", all["conversations"][one["conversation"].get<size_t>()]},
                              {"tools", nullptr},
                              {"documents", nullptr},
                              {"add_generation_prompt", true}};
    variables.update(all["tokens"]);
    variables.update(one["more"]);
    if (one["text"].is_null()) {
      EXPECT_THROW(static_cast<void>(text_of(source, variables)), base::Error) << name;
      continue;
    }
    try {
      EXPECT_EQ(text_of(source, variables), one["text"].get<std::string>()) << name;
    } catch (const base::Error& error) {
      ADD_FAILURE() << name << "\n" << error.what();
    }
  }
}

TEST(ChatTemplateGolden, TheTextOfAConversationIsThatOfApplyChatTemplate) {
  const ordered_json all = stored();
  for (const ordered_json& one : all["cases"]) {
    const auto name = one["template"].get<std::string>();
    std::vector<ChatMessage> messages;
    for (const ordered_json& message : all["conversations"][one["conversation"].get<size_t>()]) {
      messages.push_back({message["role"], message["content"]});
    }
    // The last conversation calls tools, which messages here do not have.
    if (!all["templates"].contains(name) || !one["more"].empty() || one["text"].is_null() || one["conversation"] == 4) {
      continue;
    }
    const ChatTemplate chat({all["templates"][name], all["tokens"]}, "chat.json");
    EXPECT_EQ(chat.text_of(messages), one["text"].get<std::string>()) << name;
  }
}

}  // namespace
}  // namespace dragoman::data
