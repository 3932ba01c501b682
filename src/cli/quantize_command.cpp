#include <fmt/core.h>

#include <memory>

#include "base/folder_lock.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/meter.h"
#include "cli/new_folder.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "models/quantised_model.h"
#include "training/checkpoint.h"

namespace dragoman::cli {
namespace {

struct QuantizeArguments {
  std::filesystem::path model;
  std::filesystem::path output;
  kernels::Precision precision = kernels::Precision::kInt8;
};

int quantize(const QuantizeArguments& arguments) {
  check_is_new(arguments.output);
  const auto meter = make_meter("rounding the weights", "");
  models::ModelFiles files = models::read_model_folder(arguments.model);
  const std::unique_ptr<models::Model> declared =
      models::make_model(models::config_from_json(files.config, (arguments.model / models::kConfigName).string()));
  models::check_tensors(declared->parameters(), files.tensors, (arguments.model / models::kWeightsName).string());
  files.tensors = models::rounded_tensors(files.tensors, declared->parameters(), arguments.precision);
  training::make_model_folder(arguments.output);
  const base::FolderLock lock(arguments.output);
  models::publish_model_folder(arguments.output, files);
  meter->clear();
  fmt::print("{} written to {} in {}\n", arguments.model.string(), arguments.output.string(),
             kernels::name_of(arguments.precision));
  return 0;
}

}  // namespace

void add_quantize_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "quantize",
                                  "Write a model with its weight matrices rounded: a smaller file that translates as "
                                  "with translate --precision, and can be used, but not trained further",
                                  "dragoman quantize --model my-model --output my-model.int8");
  const auto arguments = std::make_shared<QuantizeArguments>();
  command->add_option("-m,--model", arguments->model, "Model or checkpoint folder to read")
      ->type_name("DIR")
      ->required();
  command->add_option("-o,--output", arguments->output, "Model folder to write; new or empty")
      ->type_name("DIR")
      ->required();
  add_choice(*command, "--precision", arguments->precision,
             "int8: a byte a number and a scale a column; bfloat16: two bytes a number", {"int8", "bfloat16"});
  command->callback([arguments, &run] { run = [arguments] { return quantize(*arguments); }; });
}

}  // namespace dragoman::cli
