#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "training/checkpoint.h"

namespace dragoman::cli {
namespace {

struct AverageArguments {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  int64_t last = 0;
  bool moving_average = false;
};

// --last K of one model folder, or the folders as they are given.
std::vector<std::filesystem::path> folders_to_average(const AverageArguments& arguments) {
  if (arguments.last == 0) {
    return arguments.inputs;
  }
  base::check_usage(arguments.inputs.size() == 1, "average: --last takes one model folder, {} are given",
                    arguments.inputs.size());
  const std::vector<int64_t> steps = training::list_checkpoints(arguments.inputs.front());
  base::check_data(static_cast<int64_t>(steps.size()) >= arguments.last, "{}: has {} checkpoints, --last asks for {}",
                   arguments.inputs.front().string(), steps.size(), arguments.last);
  std::vector<std::filesystem::path> folders;
  for (auto step = steps.end() - arguments.last; step != steps.end(); ++step) {
    folders.push_back(training::checkpoint_folder(arguments.inputs.front(), *step));
  }
  return folders;
}

int average(const AverageArguments& arguments) {
  const auto folders = folders_to_average(arguments);
  training::write_average(folders, arguments.moving_average, arguments.output);
  fmt::print("average of {} folders written to {}\n", folders.size(), arguments.output.string());
  return 0;
}

}  // namespace

void add_average_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "average", "Write a model whose weights are the mean of several checkpoints");
  auto arguments = std::make_shared<AverageArguments>();
  command->add_option("--input", arguments->inputs, "Checkpoint or model folders; with --last, one model folder")
      ->required();
  command->add_option("--output", arguments->output, "Model folder to write")->required();
  command->add_option("--last", arguments->last, "Average the last so many checkpoints of the model folder");
  command->add_flag("--moving-average", arguments->moving_average,
                    "Take the exponential moving average of a checkpoint where it has one");
  command->callback([&run, arguments] { run = [arguments] { return average(*arguments); }; });
}

}  // namespace dragoman::cli
