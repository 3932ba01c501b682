#include <fmt/core.h>

#include <memory>

#include "cli/command.h"
#include "cli/model_formats.h"
#include "cli/text_output.h"
#include "decoding/search/search_defaults.h"
#include "interop/marian_export.h"

namespace dragoman::cli {
namespace {

struct ExportArguments {
  std::string to;
  std::filesystem::path folder;
  std::filesystem::path model;
  std::string source_language;
  std::string target_language;
};

int export_model(const ExportArguments& arguments) {
  const models::ModelFiles files = models::read_model_folder(arguments.model);
  const decoding::SearchOptions search =
      decoding::search_defaults_from_json(files.decoding, (arguments.model / models::kDecodingName).string());
  interop::MarianExportOptions options{search.beam_size, {}, arguments.source_language, arguments.target_language};
  if (search.ranking.length_penalty == decoding::LengthPenalty::kLength || search.ranking.alpha == 0.0) {
    options.length_penalty = search.ranking.alpha;
  }
  const interop::ExportedModel exported = interop::export_marian(files, arguments.model, options);
  interop::write_marian_folder(exported, arguments.folder);
  for (const std::string& note : exported.notes) {
    say("note: " + note + "\n");
  }
  fmt::print("{} exported to {}\n", arguments.model.string(), arguments.folder.string());
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "export", "Write a model as another program reads it",
                                  "dragoman export --to hf-marian marian-folder --model my-model \\\n"
                                  "    --source-language en --target-language de");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("--to", arguments->to, "Kind to write: a MarianMT folder of Hugging Face transformers")
      ->check(CLI::IsMember(model_formats()))
      ->required();
  command->add_option("folder", arguments->folder, "Folder to write; must not be there yet")
      ->type_name("DIR")
      ->required();
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("--source-language", arguments->source_language, "Of the tokenizer's settings, such as en");
  command->add_option("--target-language", arguments->target_language, "Of the tokenizer's settings, such as de");
  command->callback([arguments, &run] { run = [arguments] { return export_model(*arguments); }; });
}

}  // namespace dragoman::cli
