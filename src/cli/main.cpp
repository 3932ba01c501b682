#include <fmt/core.h>

#include <csignal>
#include <exception>

#include "base/error.h"
#include "cli/command.h"
#include "cli/yaml_config.h"

namespace dragoman::cli {

CLI::App* add_command(CLI::App& app, const char* name, const char* description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->set_config("--config", "", "YAML file with values for these options, under the same names");
  command->config_formatter(std::make_shared<YamlConfig>(*command));
  command->option_defaults()->always_capture_default();
  return command;
}

namespace {

int run_program(int argc, char** argv) {
  CLI::App app("dragoman: trains, evaluates and translates with the Transformer of \"Attention Is All You Need\"");
  app.set_version_flag("--version", DRAGOMAN_VERSION);
  app.require_subcommand(1);
  Run run;
  add_train_command(app, run);
  add_translate_command(app, run);
  add_evaluate_command(app, run);
  add_score_command(app, run);
  add_attention_command(app, run);
  add_average_command(app, run);
  add_inspect_command(app, run);
  add_vocab_command(app, run);
  add_sample_corpus_command(app, run);
  add_info_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(base::ErrorKind::kUsage);
  }
  return run();
}

}  // namespace
}  // namespace dragoman::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error with a message, not a silent death
  try {
    return dragoman::cli::run_program(argc, argv);
  } catch (const dragoman::base::Error& error) {
    fmt::print(stderr, "dragoman: {}\n", error.what());
    return error.exit_status();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "dragoman: out of memory; use a smaller model or smaller batches\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "dragoman: {}\n", error.what());
  }
  return static_cast<int>(dragoman::base::ErrorKind::kRuntime);
}
