#include <fcntl.h>
#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/help_format.h"
#include "cli/text_output.h"
#include "cli/yaml_config.h"
#include "models/transformer_config.h"

namespace dragoman::cli {

CLI::App* add_command(CLI::App& app, const char* name, const char* description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->option_defaults()->always_capture_default();
  command
      ->add_option_function<std::string>(
          "--config", [command](const std::string& path) { apply_yaml_config(*command, path); },
          "YAML file with values for the options of this command, under the same names; the command line wins")
      ->type_name("FILE");
  return command;
}

namespace {

// A file opened while standard output is closed would get its number and all that is printed.
void reserve_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1) {
      open("/dev/null", descriptor == 1 ? O_RDONLY : O_RDWR);  // printing fails, messages go nowhere
    }
  }
}

// "--beam-sice: unknown option; did you mean --beam-size?"
std::string unexpected_argument(const CLI::App& app) {
  const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  const std::string argument = app.remaining(true).front();
  std::vector<std::string> known;
  for (const std::string& name : option_names(command)) {
    known.push_back("--" + name);
  }
  const std::string name = argument.substr(0, argument.find('='));
  return argument.starts_with("--") && !known.empty()
             ? fmt::format("{}: unknown option; did you mean {}?", name, models::nearest_name(name, known))
             : fmt::format("\"{}\" was not expected", argument);
}

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return fmt::format("unknown command \"{}\"; did you mean {}?", name, models::nearest_name(name, known));
}

// CLI11 takes -1 for the largest unsigned number.
void check_unsigned(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      base::check_usage(option->get_type_name() != "UINT" || !value.starts_with('-'), "{}: {} is {}, must be 0 or more",
                        command.get_name(), option->get_name(), value);
    }
  }
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const bool has_command = !app.get_subcommands().empty();
  const std::string command = has_command ? " " + app.get_subcommands().front()->get_name() : "";
  std::string text = error.what();
  if (!has_command) {
    text = argc > 1 && argv[1][0] != '-' ? unknown_command(app, argv[1]) : "a command is missing";
  } else if (!app.remaining(true).empty()) {
    text = unexpected_argument(app);  // rather than "--hypothesis is required" for a misspelt --hypothesis
  }
  say(fmt::format("dragoman{}: {}\n\"dragoman{} --help\" lists what there is\n", command, text, command));
  return static_cast<int>(base::ErrorKind::kUsage);
}

// --help and --version end parsing by an exception; their text must arrive like any other output.
int print_answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  app.exit(error, text, text);
  TextOutput("-").write(text.str());
  return 0;
}

int run_program(int argc, char** argv) {
  CLI::App app("dragoman: trains, evaluates and translates with the Transformer of \"Attention Is All You Need\"",
               "dragoman");
  app.formatter(std::make_shared<HelpFormat>());
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
  add_benchmark_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return print_answer(app, success);
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, error, argc, argv);
  }
  check_unsigned(*app.get_subcommands().front());
  return run();
}

}  // namespace
}  // namespace dragoman::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error with a message, not a silent death
  try {
    dragoman::cli::reserve_standard_descriptors();
    const int status = dragoman::cli::run_program(argc, argv);
    dragoman::cli::TextOutput("-").write("");  // flushes what was printed otherwise
    return status;
  } catch (const dragoman::base::Error& error) {
    dragoman::cli::say(std::string("dragoman: ") + error.what() + "\n");
    return error.exit_status();
  } catch (const std::bad_alloc&) {
    dragoman::cli::say("dragoman: out of memory; use a smaller model or smaller batches\n");
  } catch (const std::exception& error) {
    dragoman::cli::say(std::string("dragoman: ") + error.what() + "\n");
  }
  const bool cannot_write = std::ferror(stdout) != 0;  // fmt::print throws std::system_error
  return static_cast<int>(cannot_write ? dragoman::base::ErrorKind::kCannotWrite : dragoman::base::ErrorKind::kRuntime);
}
