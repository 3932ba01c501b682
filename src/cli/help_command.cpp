#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/text_output.h"
#include "cli/usage_error.h"

namespace dragoman::cli {

void add_help_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "help", "Explain the program or one of its commands", "dragoman help translate");
  const auto name = std::make_shared<std::string>();
  command->add_option("command", *name, "Command to explain; none: the program")->type_name("COMMAND");
  command->callback([&app, &run, name] {
    const CLI::App& asked = name->empty() ? app : command_named(app, *name);
    run = [&app, &asked] {
      TextOutput("-").write(app.get_formatter()->make_help(&asked, "", CLI::AppFormatMode::Normal));
      return 0;
    };
  });
}

}  // namespace dragoman::cli
