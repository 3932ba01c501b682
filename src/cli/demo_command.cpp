#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/command.h"
#include "cli/program.h"
#include "cli/quickstart_recipe.h"
#include "cli/text_output.h"
#include "data/sample/sample_corpus.h"

namespace dragoman::cli {
namespace {

struct DemoArguments {
  std::filesystem::path folder = "demo";
  std::string pair = data::SampleCorpusOptions().pair;
  int64_t size = data::SampleCorpusOptions().size;
  int64_t max_steps = 0;  // 0: those of the recipe
  uint16_t port = 5000;
};

// Runs a command as if it had been typed, and shows it. Each ends with status 0 before the next begins.
int run_shown(const std::vector<std::string>& words) {
  say(fmt::format("== dragoman {}\n", fmt::join(words, " ")));
  return run_words(words);
}

std::vector<std::vector<std::string>> commands_of(const DemoArguments& arguments) {
  const std::string corpus = arguments.folder / "corpus", model = arguments.folder / "model";
  const std::string port = std::to_string(arguments.port);
  const std::string source = arguments.pair.substr(0, 2), target = arguments.pair.substr(3);
  std::vector<std::string> train = {"train",
                                    "--config",
                                    arguments.folder / "quickstart.yaml",
                                    "--model",
                                    model,
                                    "--source",
                                    corpus + "/train." + source,
                                    "--target",
                                    corpus + "/train." + target,
                                    "--valid-source",
                                    corpus + "/valid." + source,
                                    "--valid-target",
                                    corpus + "/valid." + target,
                                    "--watch",
                                    port};
  if (arguments.max_steps > 0) {
    train.insert(train.end(), {"--max-steps", std::to_string(arguments.max_steps)});
  }
  return {{"sample-corpus", "--pair", arguments.pair, "--size", std::to_string(arguments.size), "--output", corpus},
          train,
          {"serve", "--model", model, "--port", port}};
}

// A recipe that is there may have been changed by its reader, and is kept.
void write_recipe(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  if (const std::filesystem::path recipe = folder / "quickstart.yaml"; !std::filesystem::exists(recipe)) {
    base::write_file_atomic(recipe, kQuickstartRecipe);
  }
}

int run_demo(const DemoArguments& arguments) {
  write_recipe(arguments.folder);
  for (const std::vector<std::string>& words : commands_of(arguments)) {
    if (const int status = run_shown(words); status != 0) {
      return status;
    }
  }
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& app, Run& run) {
  const auto arguments = std::make_shared<DemoArguments>();
  CLI::App* command =
      add_command(app, "demo",
                  "Train a small translation model before your eyes and serve it: the sample corpus, train --watch and "
                  "serve, each command shown. Open the address in a browser; the page stays through all of it",
                  "dragoman demo\ndragoman demo --pair zh-en --port 8080 my-demo");
  command
      ->add_option("folder", arguments->folder,
                   "Folder for corpus, recipe and model; the same command resumes what it holds")
      ->type_name("DIR");
  command->add_option("--pair", arguments->pair, "Languages of source and target")
      ->check(
          CLI::IsMember(std::vector<std::string>(data::kSampleCorpusPairs.begin(), data::kSampleCorpusPairs.end())));
  command->add_option("--port", arguments->port, "Port of 127.0.0.1 for the page")->check(CLI::Range(1, 65535));
  command->add_option("--size", arguments->size, "Sentence pairs of all parts of the corpus");
  command->add_option("--max-steps", arguments->max_steps, "Updates of the training; 0 = those of the recipe");
  command->callback([arguments, &run] { run = [arguments] { return run_demo(*arguments); }; });
}

}  // namespace dragoman::cli
