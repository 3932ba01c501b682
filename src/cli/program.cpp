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

#include "base/error.h"
#include "cli/command.h"
#include "cli/help_format.h"
#include "cli/text_output.h"
#include "cli/usage_error.h"
#include "cli/yaml_config.h"

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

int wrong_usage(const CLI::App& app, const std::string& what) {
  const bool has_command = !app.get_subcommands().empty();
  const std::string command = has_command ? " " + app.get_subcommands().front()->get_name() : "";
  say(fmt::format("dragoman{}: {}\n\"dragoman{} --help\" lists what there is\n", command, what, command));
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
  CLI::App app(
      "dragoman: trains, evaluates, translates with and serves the Transformer of \"Attention Is All You Need\"",
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
  add_tune_command(app, run);
  add_inspect_command(app, run);
  add_vocab_command(app, run);
  add_sample_corpus_command(app, run);
  add_import_command(app, run);
  add_export_command(app, run);
  add_quantize_command(app, run);
  add_shortlist_command(app, run);
  add_serve_command(app, run);
  add_watch_command(app, run);
  add_info_command(app, run);
  add_benchmark_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return print_answer(app, success);
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, describe_usage_error(app, error, {argv + std::min(argc, 1), argv + argc}));
  }
  const std::string wrong = describe_wrong_value(*app.get_subcommands().front());
  return wrong.empty() ? run() : wrong_usage(app, wrong);
}

}  // namespace

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
