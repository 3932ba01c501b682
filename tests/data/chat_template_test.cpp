// The subset of Jinja in which chat templates are read: what it refuses, by name, and what it survives. Texts are
// compared with those of Jinja in tests/golden/chat_template_golden_test.cpp.
#include "data/chat/chat_template.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/random.h"
#include "data/chat/template_evaluator.h"
#include "data/chat/template_parser.h"
#include "support/expect_error.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using test_support::expect_error;

const std::vector<ChatMessage> kHello = {{"user", "hello"}};

std::string text_of(const std::string& source) {
  return ChatTemplate({source, {{"bos_token", "<s>"}}}, "chat.json").text_of(kHello);
}

void expect_unreadable(const std::string& source, const std::string& text) {
  SCOPED_TRACE(source.substr(0, 200));
  expect_error(ErrorKind::kBadData, {"chat.json: line ", text}, [&] { ChatTemplate({source, {}}, "chat.json"); });
}

void expect_fails(const std::string& source, const std::string& text) {
  SCOPED_TRACE(source.substr(0, 200));
  expect_error(ErrorKind::kBadData, {"chat.json: line ", text}, [&] { static_cast<void>(text_of(source)); });
}

TEST(ChatTemplate, WhatIsNotKnownIsRefusedByNameBeforeAnythingIsSaid) {
  expect_unreadable("{{ x | batch(3) }}", "filter \"batch\" is not supported; known are trim, upper");
  expect_unreadable("{{ x is escaped }}", "test \"escaped\" is not supported; known are defined");
  expect_unreadable("{{ x.format(1) }}", "method \"format\" is not supported");
  expect_unreadable("{{ lipsum(1) }}", "function \"lipsum\" is not supported; known are range");
  expect_unreadable("{{ messages | selectattr('role', 'callable') }}", "test \"callable\" is not supported");
  expect_unreadable("{{ x | tojson(sort_keys=true) }}", "argument \"sort_keys\" that is not supported");
  expect_unreadable("{{ {1: 'a'} }}", "a name of an entry that is no quoted text is not supported");
  expect_unreadable("{{ x | trim(1, 2) }}", "has an argument that is not supported");
  expect_unreadable("{{ x | replace('a') }}", "needs its argument \"new\"");
  expect_unreadable("{{ loop.cycle('a', 'b') }}", "method \"cycle\" is not supported");
  expect_unreadable("{{ loop.depth }}", "loop.depth is not supported");
  expect_unreadable("{{ message.items }}", ".items without a call is not supported");
  expect_unreadable("{{ 2 ** 3 }}", "operator \"**\" is not supported");
  expect_unreadable("{{ x[0]() }}", "a call of an expression is not supported");
  expect_unreadable("{{ range(1, 2, 3, 4) }}", "\"range\" has arguments that are not supported");
  expect_unreadable("{{ namespace(1) }}", "\"namespace\" has arguments that are not supported");
  for (const char* tag : {"macro", "include", "import", "extends", "block", "raw", "filter", "call", "with", "do"}) {
    expect_unreadable(fmt::format("a\n{{% {} x %}}", tag),
                      fmt::format("tag \"{}\" is not supported; known are if", tag));
  }
}

TEST(ChatTemplate, BrokenTemplatesAreRefusedWithTheirLine) {
  expect_unreadable("\n\n{{ 1", "a tag is not closed by }}");
  expect_unreadable("{% if 1 %}x", "endif must stand");
  expect_unreadable("x{% endif %}", "tag \"endif\" has no beginning");
  expect_unreadable("{% for x in y %}{% endif %}", "\"endif\" stands where endfor must stand");
  expect_unreadable("{% break %}", "break stands outside a loop");
  expect_unreadable("{% for x in y %}{% set z %}{% break %}{% endset %}{% endfor %}", "break stands outside a loop");
  expect_unreadable("{# x", "a comment is not closed");
  expect_unreadable("{{ 'x }}", "a text is not closed");
  expect_unreadable("{{ ) }}", "unexpected )");
  expect_unreadable("{{ $ }}", "unexpected character $");
  expect_unreadable("{{ 1 1 }}", "\"1\" stands where the end of the output must stand");
  expect_unreadable("{{ 012 }}", "012 is no number");
  expect_unreadable("{{ 99999999999999999999 }}", "is no number");
  expect_unreadable("{{ '\\ud800' }}", "is no escape");
  expect_unreadable("{% set loop = 1 %}", "\"loop\" cannot be set");
  expect_unreadable("{% set true = 1 %}", "\"true\" cannot be set");
  expect_error(ErrorKind::kBadData, {"line 3"}, [] { ChatTemplate({"a\nb\n{{ | }}", {}}, "chat.json"); });
  expect_error(ErrorKind::kBadData, {"has 300000 bytes, at most 262144 are taken"}, [] {
    ChatTemplate({std::string(300'000, 'a'), {}}, "chat.json");
  });
}

TEST(ChatTemplate, ErrorsOfARunNameTheValue) {
  expect_fails("{{ message.x }}", "message is undefined, so it has no x");
  expect_fails("{{ messages[0].tool.name }}", "tool is undefined, so it has no name");
  expect_fails("{{ 'a' + none }}", "+ of a text and none is not supported");
  expect_fails("{{ messages }}", "a list cannot be written as text; use tojson");
  expect_fails("a\n{{ raise_exception('only two') }}", "line 2: the template refuses the conversation: only two");
  expect_fails("{{ 9223372036854775807 + 1 }}", "is beyond 64 bits");
  expect_fails("{{ -9223372036854775807 - 2 }}", "is beyond 64 bits");
  expect_fails("{{ 'a' | tojson(ensure_ascii=true) }}", "ensure_ascii is true, which is not supported");
  expect_fails("{% set messages.x = 1 %}", "messages is a list, must be a namespace");
}

TEST(ChatTemplate, NoTemplateRunsForLongOrTakesMuchMemory) {
  const std::string too_long = "the template does more than 4000000 steps";
  expect_fails("{% for i in range(100000000) %}{% endfor %}", too_long);
  expect_fails("{% for a in range(2000) %}{% for b in range(2000) %}{% endfor %}{% endfor %}", too_long);
  expect_fails("{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
               too_long);
  expect_fails("{{ 'a' * 9000000000000000000 }}", too_long);
  expect_fails("{{ ('a' * 1000000) | replace('a', 'b' * 1000000) }}", too_long);
  expect_fails("{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
               too_long);
  expect_fails(
      "{% set ns = namespace(x=1) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
      "{{ ns.x == ns.x }}",
      too_long);
  expect_fails(
      "{% set ns = namespace(x=1) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
      "{{ ns.x | tojson }}",
      too_long);
  expect_fails("{% set ns = namespace(x=1) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}",
               "nest deeper than 64");
  EXPECT_EQ(text_of("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x == ns }}"), "True");
}

TEST(ChatTemplate, NoTemplateNestsDeep) {
  constexpr size_t kMany = 20'000;
  const auto repeated = [](const std::string& text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i) {
      all += text;
    }
    return all;
  };
  const std::vector<std::pair<std::string, std::string>> pairs = {{"(", ")"},    {"[", "]"},          {"{'a':", "}"},
                                                                  {"-", ""},     {"x[", "]"},         {"x|d(", ")"},
                                                                  {"1 if ", ""}, {"1 if 1 else ", ""}};
  for (const auto& [open, close] : pairs) {
    expect_unreadable("{{ " + repeated(open, kMany) + "1" + repeated(close, kMany) + " }}", "nests deeper than 100");
  }
  expect_unreadable("{{ 1" + repeated("+1", kMany) + " }}", "nests deeper than 100");
  expect_unreadable("{{ x" + repeated("|d", kMany) + " }}", "nests deeper than 100");
  expect_unreadable("{{ x" + repeated(".a", kMany) + " }}", "nests deeper than 100");
  expect_unreadable("{{ " + repeated("not ", kMany) + "1 }}", "nests deeper than 100");
  expect_unreadable(repeated("{% if 1 %}", kMany), "nest deeper than 100");
  expect_unreadable("{% if 1 %}" + repeated("{% elif 1 %}", kMany / 2), "nest deeper than 100");
  EXPECT_EQ(text_of(repeated("{{ 1 }}", 5000)).size(), 5000U);
}

TEST(ChatTemplate, TimeIsThatOfTheCall) {
  const ChatTemplate chat({"{{ strftime_now('%d %b %Y') }}", {}}, "chat.json");
  const std::time_t noon = 1'700'000'000;
  std::tm local{};
  localtime_r(&noon, &local);
  char expected[64];
  std::strftime(expected, sizeof(expected), "%d %b %Y", &local);
  EXPECT_EQ(chat.text_of(kHello, std::chrono::system_clock::from_time_t(noon)), expected);
}

TEST(ChatTemplate, TheFileIsReadAsItWasWritten) {
  const ChatFile file{"{{ bos_token }}\n\"\u4f60", {{"bos_token", "<s>"}, {"eos_token", "</s>"}}};
  const ChatFile again = chat_file_from_json(chat_file_json(file), "chat.json");
  EXPECT_EQ(again.source, file.source);
  EXPECT_EQ(again.tokens, file.tokens);
  for (const char* bad :
       {"", "[]", "{}", R"({"template": 1, "tokens": {}})", R"({"template": "", "tokens": []})",
        R"({"template": "", "tokens": {"bos_token": 1}})", R"({"template": "", "tokens": {}, "x": 1})"}) {
    EXPECT_THROW(static_cast<void>(chat_file_from_json(bad, "chat.json")), base::Error) << bad;
  }
}

// Pieces of templates in any order: each is read and run, or refused with an error.
TEST(ChatTemplate, AnyTemplateEndsInATextOrAnError) {
  const std::vector<std::string> pieces = {"{% ",         "%}",
                                           "{{ ",         "}}",
                                           "{# ",         "#}",
                                           "-",           "if ",
                                           "else ",       "elif ",
                                           "endif ",      "for ",
                                           "x ",          "in ",
                                           "endfor ",     "set ",
                                           "= ",          "messages",
                                           "[0]",         ".role ",
                                           "'a' ",        "1 ",
                                           "1.5 ",        "+ ",
                                           "~ ",          "| ",
                                           "tojson ",     "trim ",
                                           "is ",         "defined ",
                                           "not ",        "and ",
                                           "(",           ")",
                                           "[",           "]",
                                           "{",           "}",
                                           ":",           ",",
                                           "range(3) ",   "namespace(x=1) ",
                                           "loop.index ", ".split('a') ",
                                           "\n",          "\u4f60"};
  base::Random random(1, 0);
  size_t read = 0, run = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string source;
    const size_t length = 1 + static_cast<size_t>(random.uniform() * 14);
    for (size_t j = 0; j < length; ++j) {
      source += pieces[static_cast<size_t>(random.uniform() * static_cast<double>(pieces.size()))];
    }
    try {
      const TemplateBody body = parse_template(source, "t");
      ++read;
      static_cast<void>(run_template(body, {{{"messages", TemplateValue::list({})}}, {}}, "t"));
      ++run;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData) << source << error.what();
    }
  }
  EXPECT_GT(read, 1000U);
  EXPECT_GT(run, 500U);
}

}  // namespace
}  // namespace dragoman::data
