#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/text_output.h"

namespace dragoman::cli {

void add_completion_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "completion", "Print the script with which a shell completes dragoman's options",
                                  "bash: source <(dragoman completion bash)\n"
                                  "zsh:  source <(dragoman completion zsh)\n"
                                  "fish: dragoman completion fish | source");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Shell to complete in")
      ->type_name("SHELL")
      ->check(CLI::IsMember(completed_shells()))
      ->required();
  command->callback([&app, &run, shell] {
    run = [&app, shell] {
      TextOutput("-").write(completion_script(app, *shell));
      return 0;
    };
  });
}

}  // namespace dragoman::cli
