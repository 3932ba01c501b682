#include "cli/program.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/help_format.h"
#include "cli/option_text.h"
#include "cli/text_output.h"
#include "cli/usage_error.h"
#include "cli/version.h"
#include "cli/yaml_config.h"

namespace dragoman::cli {

CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* example) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer(example);
  command->get_help_ptr()->group(kEverywhere);
  command->option_defaults()->always_capture_default();
  command
      ->add_option_function<std::string>(
          "--config", [command](const std::string& path) { apply_yaml_config(*command, path); },
          "YAML file with values for the options of this command, under the same names; the command line wins")
      ->type_name("FILE")
      ->group(kEverywhere);
  command
      ->add_flag_callback("-q,--quiet", be_quiet,
                          "Leave out progress and statistics on standard error; errors and warnings stay")
      ->group(kEverywhere);
  return command;
}

void begin_group(CLI::App& command, const char* title) {
  command.option_defaults()->group(title);
}

namespace {

using AddCommand = void (*)(CLI::App&, Run&);

struct CommandGroup {
  const char* title;
  std::vector<AddCommand> commands;
};

// In the order of --help, the most used first.
const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> groups = {
      {"Train and use a model",
       {add_demo_command, add_train_command, add_translate_command, add_generate_command, add_embed_command,
        add_classify_command, add_tag_command, add_fill_mask_command, add_evaluate_command, add_serve_command}},
      {"Look into a model", {add_score_command, add_attention_command, add_inspect_command, add_watch_command}},
      {"Improve a model",
       {add_tune_command, add_average_command, add_quantize_command, add_shortlist_command, add_study_command}},
      {"Text, and models of other programs",
       {add_vocab_command, add_sample_corpus_command, add_import_command, add_export_command}},
      {"Machine and program",
       {add_info_command, add_benchmark_command, add_help_command, add_completion_command, add_man_command}}};
  return groups;
}

void add_commands(CLI::App& app, Run& run) {
  for (const CommandGroup& group : command_groups()) {
    for (const AddCommand add : group.commands) {
      add(app, run);
      app.get_subcommands([](CLI::App*) { return true; }).back()->group(group.title);
    }
  }
}

constexpr const char* kProgramExample =
    "dragoman train --preset tiny-hour --source train.en --target train.de \\\n"
    "    --valid-source valid.en --valid-target valid.de --model my-model\n"
    "dragoman translate --model my-model --input new.en --output new.de";

// A file opened while standard output is closed would get its number and all that is printed.
void reserve_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1) {
      open("/dev/null", descriptor == 1 ? O_RDONLY : O_RDWR);  // printing fails, messages go nowhere
    }
  }
}

int wrong_usage(const CLI::App& app, const std::string& what) {
  const CLI::App& command = chosen_command(app);
  const std::string name = full_name(command);
  say(fmt::format("{}: {}\nUsage: {}\n\"{} --help\" explains {}\n", name, what, usage_of(command), name,
                  &command == &app ? "the commands" : "the options"));
  return static_cast<int>(base::ErrorKind::kUsage);
}

// Of a command under way, the errors that are about an option are told like those of the command line.
int run_command(const CLI::App& app, const Run& run) try { return run(); } catch (const base::Error& error) {
  const std::string what = in_flags(chosen_command(app), error.what());
  if (error.kind() != base::ErrorKind::kUsage || !what.starts_with("--")) {
    throw;
  }
  return wrong_usage(app, what);
}

// --help and --version end parsing by an exception; their text must arrive like any other output.
int print_answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  app.exit(error, text, text);
  TextOutput("-").write(text.str());
  return 0;
}

int run_program(int argc, char** argv) {
  CLI::App app("Trains, evaluates, translates with and serves the Transformer of \"Attention Is All You Need\"",
               "dragoman");
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(kProgramExample);
  app.set_version_flag("-V,--version", version_text, "Print version, compiler and instruction sets and exit");
  app.require_subcommand(1);
  Run run;
  add_commands(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return print_answer(app, success);
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, describe_usage_error(app, error, {argv + std::min(argc, 1), argv + argc}));
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::kUsage) {
      throw;
    }
    return wrong_usage(app, in_flags(chosen_command(app), error.what()));
  }
  const std::string wrong = describe_wrong_value(chosen_command(app));
  return wrong.empty() ? run_command(app, run) : wrong_usage(app, wrong);
}

}  // namespace

int run_words(std::vector<std::string> words) {
  std::string program = "dragoman";
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  return run_program(static_cast<int>(arguments.size()) - 1, arguments.data());
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe ends a command by an exception: what it has begun is cleaned up
  try {
    reserve_standard_descriptors();
    const int status = run_program(argc, argv);
    TextOutput("-").write("");  // flushes what was printed otherwise
    return status;
  } catch (const ReaderGone&) {
    return kReaderGoneStatus;
  } catch (const base::Error& error) {
    say(std::string("dragoman: ") + error.what() + "\n");
    return error.exit_status();
  } catch (const std::bad_alloc&) {
    say("dragoman: out of memory; use a smaller model or smaller batches\n");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) {  // of fmt::print
      return kReaderGoneStatus;
    }
    say(std::string("dragoman: ") + error.what() + "\n");
  } catch (const std::exception& error) {
    say(std::string("dragoman: ") + error.what() + "\n");
  }
  const bool cannot_write = std::ferror(stdout) != 0;  // fmt::print throws std::system_error
  return static_cast<int>(cannot_write ? base::ErrorKind::kCannotWrite : base::ErrorKind::kRuntime);
}

}  // namespace dragoman::cli
