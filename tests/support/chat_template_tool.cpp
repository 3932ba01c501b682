// Prints the text that a chat template makes, for comparison with Jinja (tests/peers/chat_template_check.py).
//   chat_template_tool TEMPLATE VARIABLES     files: a template, and a JSON object of its variables
#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "data/chat/template_evaluator.h"
#include "data/chat/template_parser.h"
#include "support/template_json.h"

int main(int argc, char** argv) try {
  using namespace dragoman;
  if (argc != 3) {
    std::fprintf(stderr, "usage: chat_template_tool TEMPLATE VARIABLES\n");
    return 2;
  }
  data::TemplateInput input{.variables = {}, .now = std::chrono::system_clock::now()};
  const auto variables = nlohmann::ordered_json::parse(base::read_file(argv[2]));
  for (const auto& [name, value] : variables.items()) {
    input.variables.emplace_back(name, test_support::template_value_of(value));
  }
  const std::string text =
      data::run_template(data::parse_template(base::read_file(argv[1]), "template"), input, "template");
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
} catch (const dragoman::base::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_status();
}
