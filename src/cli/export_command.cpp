#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/export_model.h"
#include "cli/field_flags.h"
#include "cli/text_output.h"
#include "decoding/search/search_defaults.h"
#include "interop/gguf_export.h"
#include "interop/hf_bart.h"
#include "interop/hf_encoder.h"
#include "interop/hf_export.h"
#include "interop/hf_m2m100.h"
#include "interop/hf_mbart.h"
#include "interop/hf_t5.h"
#include "interop/marian_export.h"

namespace dragoman::cli {
namespace {

// The search of decoding.json in the words of transformers.
interop::ExportedSearch search_of_files(const ExportArguments& arguments, const models::ModelFiles& files) {
  const decoding::SearchOptions search =
      decoding::search_defaults_from_json(files.decoding, (arguments.model / models::kDecodingName).string());
  interop::ExportedSearch exported{.beam_size = search.beam_size};
  if (search.ranking.length_penalty == decoding::LengthPenalty::kLength || search.ranking.alpha == 0.0) {
    exported.length_penalty = search.ranking.alpha;
  }
  return exported;
}

interop::ExportedModel exported_folder(const ExportArguments& arguments, const models::ModelFiles& files) {
  switch (arguments.to) {
    case ExportFormat::kGpt2:
      return interop::export_gpt2(files, arguments.model);
    case ExportFormat::kLlama:
      return interop::export_llama(files, arguments.model);
    case ExportFormat::kT5:
      return interop::export_t5(files, arguments.model);
    case ExportFormat::kBert:
      return interop::export_encoder(files, arguments.model, interop::HfEncoderLayout::kBert);
    case ExportFormat::kRoberta:
      return interop::export_encoder(files, arguments.model, interop::HfEncoderLayout::kRoberta);
    case ExportFormat::kDistilBert:
      return interop::export_encoder(files, arguments.model, interop::HfEncoderLayout::kDistilBert);
    case ExportFormat::kM2m100:
      return interop::export_m2m100(files, arguments.model, search_of_files(arguments, files));
    case ExportFormat::kMbart:
      return interop::export_mbart(files, arguments.model, search_of_files(arguments, files));
    case ExportFormat::kBart:
      return interop::export_bart(files, arguments.model, search_of_files(arguments, files));
    default:
      return interop::export_marian(
          files, arguments.model,
          {search_of_files(arguments, files), arguments.source_language, arguments.target_language});
  }
}

std::vector<std::string> write_gguf(const ExportArguments& arguments, const models::ModelFiles& files) {
  std::error_code unknown;
  base::check_usage(!std::filesystem::exists(arguments.folder, unknown),
                    "{}: is there already; name a file that is not", arguments.folder.string());
  interop::ExportedGguf exported = interop::export_gguf(files, arguments.model, arguments.gguf_type);
  exported.file.write(arguments.folder);
  return std::move(exported.notes);
}

int run_export(const ExportArguments& arguments) {
  for (const std::string& note : export_model(arguments)) {
    say("note: " + note + "\n");
  }
  fmt::print("{} exported to {}\n", arguments.model.string(), arguments.folder.string());
  return 0;
}

}  // namespace

std::vector<std::string> export_model(const ExportArguments& arguments) {
  const models::ModelFiles files = models::read_model_folder(arguments.model);
  if (arguments.to == ExportFormat::kGguf) {
    return write_gguf(arguments, files);
  }
  interop::ExportedModel exported = exported_folder(arguments, files);
  interop::write_exported_model(exported, arguments.folder);
  return std::move(exported.notes);
}

void add_export_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "export", "Write a model as another program reads it",
                                  "dragoman export --to hf-marian marian-folder --model my-model \\\n"
                                  "    --source-language en --target-language de\n"
                                  "dragoman export --to hf-gpt2 gpt2-folder --model my-gpt\n"
                                  "dragoman export --to hf-bert bert-folder --model my-encoder");
  const auto arguments = std::make_shared<ExportArguments>();
  add_choice(
      *command, "--to", arguments->to,
      "Kind to write: a folder of Hugging Face transformers, which is a MarianMT, a T5, an M2M-100 or NLLB-200, an "
      "mBART-50, a BART, a GPT-2, a Llama, Mistral, Qwen2 or Qwen3, or an encoder, BERT, RoBERTa or DistilBERT; or a "
      "file of llama.cpp",
      {"hf-marian", "hf-gpt2", "hf-llama", "gguf", "hf-t5", "hf-m2m100", "hf-mbart", "hf-bart", "hf-bert", "hf-roberta",
       "hf-distilbert"})
      ->default_str("")
      ->type_name("FORMAT")
      ->required();
  command->add_option("folder", arguments->folder, "Folder or file to write; must not be there yet")
      ->type_name("DIR")
      ->required();
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("--source-language", arguments->source_language, "Of the tokenizer's settings, such as en");
  command->add_option("--target-language", arguments->target_language, "Of the tokenizer's settings, such as de");
  add_choice(*command, "--gguf-type", arguments->gguf_type, "Of the matrices of a file of llama.cpp");
  command->callback([arguments, &run] { run = [arguments] { return run_export(*arguments); }; });
}

}  // namespace dragoman::cli
