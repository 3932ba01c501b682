#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/language_flags.h"
#include "cli/search_flags.h"
#include "cli/text_output.h"
#include "data/text/text_file.h"
#include "decoding/inspection/attention_capture.h"
#include "decoding/load_translator.h"
#include "report/attention_page.h"

namespace dragoman::cli {
namespace {

struct AttentionArguments {
  std::string model;
  std::string text;
  std::string output;
  std::string from_word;
  std::string device = "cpu";
  models::LanguagePair languages;  // empty: the only ones of the model
  std::unique_ptr<SearchFlags> flags;

  // Over the defaults of the model.
  decoding::SearchOptions search(const decoding::SearchOptions& defaults) const {
    decoding::SearchOptions options = flags->over(defaults);
    options.execution.workers = 1;
    return options;
  }
};

int draw(const AttentionArguments& arguments) {
  const DeviceChoice device(arguments.device);
  const decoding::Translator translator = decoding::load_translator(arguments.model);
  const std::string text = data::clean_line(arguments.text).text;
  const decoding::TranslationRequest request{.text = text,
                                             .languages = translator.choose_languages(arguments.languages).tokens};
  const auto translations =
      translator.translate_requests({&request, 1}, arguments.search(translator.search_defaults()));
  report::AttentionPageData page =
      decoding::capture_attention(translator, text, translations.front(), request.languages);
  base::check_usage(!page.cross.empty() || !page.encoder_self.empty(),
                    "attention: {} is a model without attention, so there is nothing to show", arguments.model);
  page.from_word = arguments.from_word;
  base::write_file_atomic(arguments.output, report::attention_page(page));
  TextOutput("-").write(fmt::format("{}\nattention of {} encoder and {} decoder layers: {}\n",
                                    translations.front().text, page.encoder_self.size(), page.cross.size(),
                                    arguments.output));
  return 0;
}

}  // namespace

void add_attention_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<AttentionArguments>();
  CLI::App* command =
      add_command(app, "attention", "Translate one sentence and draw every layer's attention weights",
                  "dragoman attention --model my-model --output attention.html \\\n"
                  "    --text \"The animal didn't cross the street because it was too tired.\" --from it");
  begin_group(*command, base::kMostUsed);
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("--text", arguments->text, "Sentence to translate")->required();
  command->add_option("-o,--output", arguments->output, "HTML page to write")->type_name("FILE")->required();
  command->add_option("--from", arguments->from_word, "Source word; the page opens with where it looks")
      ->type_name("WORD");
  add_language_flags(*command, arguments->languages);
  add_device_flag(*command, arguments->device);
  arguments->flags = std::make_unique<SearchFlags>(*command);
  command->callback([arguments, &run] {
    arguments->search({}).check();
    run = [arguments] { return draw(*arguments); };
  });
}

}  // namespace dragoman::cli
