#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/command.h"
#include "models/folder_description.h"

namespace dragoman::cli {
namespace {

struct InspectOptions {
  std::string model;
  bool verify = false;
  bool json = false;
};

int inspect(const InspectOptions& options) {
  const models::FolderDescription description =
      models::describe_folder(options.model, options.verify ? models::Verify::kYes : models::Verify::kNo);
  fmt::print("{}", options.json ? description.json : description.text);
  return 0;
}

}  // namespace

void add_inspect_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "inspect", "List the tensors, configuration and checksums of a model folder",
                                  "dragoman inspect --model my-model --verify");
  const auto options = std::make_shared<InspectOptions>();
  command->add_option("-m,--model", options->model, "Model folder, or one checkpoints/step-N of it")
      ->type_name("DIR")
      ->required();
  command->add_flag("--verify", options->verify, "Compare every file with the manifest; exit status 65 if one differs");
  command->add_flag("--json", options->json, "Print JSON instead of lines");
  command->callback([options, &run] { run = [options] { return inspect(*options); }; });
}

}  // namespace dragoman::cli
