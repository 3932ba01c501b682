#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/man_page.h"
#include "cli/option_text.h"
#include "cli/text_output.h"
#include "cli/usage_error.h"

namespace dragoman::cli {
namespace {

struct ManArguments {
  std::string command;
  std::filesystem::path output;
};

void write_page(const std::filesystem::path& folder, const CLI::App& command) {
  base::write_file_atomic(folder / (man_page_name(command) + ".1"), man_page(command));
}

int write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  base::check(!failed, base::ErrorKind::kCannotWrite, "{}: cannot make the folder: {}", folder.string(),
              failed.message());
  write_page(folder, app);
  for (const CLI::App* command : commands_of(app)) {
    write_page(folder, *command);
  }
  return 0;
}

int print_page(const CLI::App& app, const std::string& command) {
  TextOutput("-").write(man_page(command.empty() ? app : command_named(app, command)));
  return 0;
}

}  // namespace

void add_man_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "man", "Print the manual page of the program or of one of its commands",
                                  "dragoman man translate | man -l -");
  const auto arguments = std::make_shared<ManArguments>();
  command->add_option("command", arguments->command, "Command to describe; none: the program")->type_name("COMMAND");
  command
      ->add_option("-o,--output", arguments->output,
                   "Folder for the pages of the program and of all commands, instead of printing one; made if missing")
      ->type_name("DIR");
  command->callback([&app, &run, arguments] {
    run = [&app, arguments] {
      return arguments->output.empty() ? print_page(app, arguments->command) : write_pages(app, arguments->output);
    };
  });
}

}  // namespace dragoman::cli
