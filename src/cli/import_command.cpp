#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "base/folder_lock.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/import_model.h"
#include "cli/meter.h"
#include "cli/new_folder.h"
#include "cli/text_output.h"
#include "decoding/search/search_defaults.h"
#include "interop/hf_bart.h"
#include "interop/hf_encoder.h"
#include "interop/hf_import.h"
#include "interop/hf_m2m100.h"
#include "interop/hf_mbart.h"
#include "interop/hf_t5.h"
#include "interop/marian_import.h"
#include "interop/model_source.h"
#include "training/checkpoint.h"

namespace dragoman::cli {
namespace {

// The search that the folder asks for, in our words; empty where we do not have it.
std::string search_of(const interop::MarianSearch& search, std::vector<std::string>& notes) try {
  decoding::SearchOptions options;
  options.beam_size = search.beam_size;
  options.ranking.length_penalty = decoding::LengthPenalty::kLength;
  options.ranking.alpha = search.length_penalty;
  options.beam.rule = decoding::BeamRule::kFull;
  options.check();
  return decoding::search_defaults_json(options);
} catch (const base::Error& error) {
  notes.push_back(fmt::format("the search that the folder asks for is not taken over: {}", error.what()));
  return "";
}

// A model of another program, and notes for the user.
struct Imported {
  models::ModelFiles files;
  std::vector<std::string> notes;
};

interop::ImportedLanguageModel read_hugging_face(const ImportArguments& arguments) {
  using interop::HfEncoderLayout;
  switch (arguments.from) {
    case ImportFormat::kGpt2:
      return interop::import_gpt2(arguments.folder);
    case ImportFormat::kBert:
      return interop::import_encoder(arguments.folder, HfEncoderLayout::kBert);
    case ImportFormat::kRoberta:
      return interop::import_encoder(arguments.folder, HfEncoderLayout::kRoberta);
    case ImportFormat::kDistilBert:
      return interop::import_encoder(arguments.folder, HfEncoderLayout::kDistilBert);
    default:
      return interop::import_llama(arguments.folder);
  }
}

// A model for translation, with the search that its folder asks for.
Imported with_search(interop::ImportedModel imported) {
  imported.files.decoding = search_of(imported.search, imported.notes);
  return {std::move(imported.files), std::move(imported.notes)};
}

Imported read(const ImportArguments& arguments) {
  interop::refuse_converted_folder(arguments.folder);
  switch (arguments.from) {
    case ImportFormat::kMarian:
      return with_search(interop::import_marian(arguments.folder));
    case ImportFormat::kT5:
      return with_search(interop::import_t5(arguments.folder));
    case ImportFormat::kM2m100:
      return with_search(interop::import_m2m100(arguments.folder));
    case ImportFormat::kMbart:
      return with_search(interop::import_mbart(arguments.folder));
    case ImportFormat::kBart:
      return with_search(interop::import_bart(arguments.folder));
    default:
      break;
  }
  interop::ImportedLanguageModel imported = read_hugging_face(arguments);
  return {std::move(imported.files), std::move(imported.notes)};
}

int import(const ImportArguments& arguments) {
  const auto meter = make_meter("importing", "");
  const std::vector<std::string> notes = import_model(arguments);
  meter->clear();
  for (const std::string& note : notes) {
    say("note: " + note + "\n");
  }
  fmt::print("{} imported into {}\n", arguments.folder.string(), arguments.model.string());
  return 0;
}

}  // namespace

std::vector<std::string> import_model(const ImportArguments& arguments) {
  check_is_new(arguments.model);
  Imported imported = read(arguments);
  training::make_model_folder(arguments.model);
  const base::FolderLock lock(arguments.model);
  models::publish_model_folder(arguments.model, imported.files);
  return std::move(imported.notes);
}

void add_import_command(CLI::App& app, Run& run) {
  CLI::App* command = add_command(app, "import", "Make a model folder of a model of another program",
                                  "dragoman import --from hf-marian opus-mt-en-de --model my-model\n"
                                  "dragoman import --from hf-gpt2 gpt2 --model my-gpt\n"
                                  "dragoman import --from hf-bert all-MiniLM-L6-v2 --model my-encoder");
  const auto arguments = std::make_shared<ImportArguments>();
  add_choice(
      *command, "--from", arguments->from,
      "Kind of the other model, a folder of Hugging Face transformers: MarianMT, GPT-2, Llama, Mistral, Qwen2 and "
      "Qwen3 (hf-llama), T5, M2M-100 and NLLB-200, mBART-50, BART, or the encoders BERT, RoBERTa and DistilBERT",
      {"hf-marian", "hf-gpt2", "hf-llama", "hf-bert", "hf-roberta", "hf-distilbert", "hf-t5", "hf-m2m100", "hf-mbart",
       "hf-bart"})
      ->default_str("")
      ->type_name("FORMAT")
      ->required();
  command->add_option("folder", arguments->folder, "Folder of the other model")->type_name("DIR")->required();
  command->add_option("-m,--model", arguments->model, "Model folder to write; new or empty")
      ->type_name("DIR")
      ->required();
  command->callback([arguments, &run] { run = [arguments] { return import(*arguments); }; });
}

}  // namespace dragoman::cli
