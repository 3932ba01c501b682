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
  int64_t last = 0, best = 0;
  bool moving_average = false;
};

// --last K or --best K of one model folder, or the folders as they are given.
std::vector<std::filesystem::path> folders_to_average(const AverageArguments& arguments) {
  const auto& [inputs, output, last, best, moving_average] = arguments;
  if (last == 0 && best == 0) {
    return inputs;
  }
  const char* const option = last > 0 ? "--last" : "--best";
  base::check_usage(inputs.size() == 1, "average: {} takes one model folder, {} are given", option, inputs.size());
  const std::filesystem::path& folder = inputs.front();
  const auto scores = best > 0 ? training::checkpoint_scores(folder) : std::map<int64_t, double>{};
  const auto known = best > 0 ? scores.size() : training::list_checkpoints(folder).size();
  base::check_data(static_cast<int64_t>(known) >= last + best, "{}: has {} {}checkpoints, {} asks for {}",
                   folder.string(), known, best > 0 ? "validated " : "", option, last + best);
  return best > 0 ? training::best_checkpoints(folder, best, scores) : training::last_checkpoints(folder, last);
}

int average(const AverageArguments& arguments) {
  const auto folders = folders_to_average(arguments);
  training::write_average(folders, arguments.moving_average, arguments.output);
  fmt::print("average of {} folders written to {}\n", folders.size(), arguments.output.string());
  return 0;
}

}  // namespace

void add_average_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "average", "Write a model whose weights are the mean of several checkpoints",
                                  "dragoman average --input my-model --best 5 --output averaged");
  auto arguments = std::make_shared<AverageArguments>();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "Checkpoint or model folders; with --last or --best, one model folder")
      ->type_name("DIR")
      ->required();
  command->add_option("-o,--output", arguments->output, "Model folder to write")->type_name("DIR")->required();
  command->add_option("--last", arguments->last,
                      "Average the last so many checkpoints of the model folder, up to 1000; 0 = off");
  command->add_option("--best", arguments->best,
                      "Average so many checkpoints that validated best, up to 1000; 0 = off");
  command->add_flag("--moving-average", arguments->moving_average,
                    "Take the exponential moving average of a checkpoint where it has one");
  command->callback([&run, arguments] {
    base::check_range("last", static_cast<double>(arguments->last), 0, 1000);
    base::check_range("best", static_cast<double>(arguments->best), 0, 1000);
    base::check_usage(arguments->last == 0 || arguments->best == 0,
                      "average: --last and --best are both given; choose one");
    run = [arguments] { return average(*arguments); };
  });
}

}  // namespace dragoman::cli
