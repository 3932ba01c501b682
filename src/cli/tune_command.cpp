#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "base/folder_lock.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/language_flags.h"
#include "cli/meter.h"
#include "cli/search_flags.h"
#include "cli/text_language.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "decoding/load_translator.h"
#include "decoding/search/search_defaults.h"
#include "models/model_folder.h"
#include "training/search_tuning.h"

namespace dragoman::cli {
namespace {

constexpr const char* kTrials = "What is tried and what chooses";

struct TuneArguments {
  std::string model;
  std::string source;
  std::string target;
  models::LanguagePair languages;  // empty: the only ones of the model
  bool dry_run = false;
  std::string device = "cpu";
  training::SearchTuning tuning;
};

std::string row(const training::TunedSearch& result) {
  return fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {} |\n", result.search.beam_size,
                     decoding::name_of(result.search.ranking.length_penalty), result.search.ranking.alpha, result.bleu,
                     result.chrf, result.cut);
}

std::string described(const training::TunedSearch& result) {
  return fmt::format("beam size {}, {} length penalty, alpha {}: BLEU {:.2f}, chrF {:.2f}", result.search.beam_size,
                     decoding::name_of(result.search.ranking.length_penalty), result.search.ranking.alpha, result.bleu,
                     result.chrf);
}

// The best beside the usual search, when they are not the same.
std::string comparison(const training::SearchChoice& choice, double significance) {
  if (choice.best == choice.usual) {
    return "";
  }
  return fmt::format("best:  {}\nusual: {}\nby paired bootstrap p = {:.4f}: {}\n", described(*choice.best),
                     described(*choice.usual), choice.p_value,
                     choice.taken == choice.best
                         ? "the best is taken"
                         : fmt::format("may be chance (more than {}), the usual search is kept", significance));
}

int tune(const CLI::App& command, const TuneArguments& arguments) {
  training::SearchTuning tuning = arguments.tuning;
  std::optional<base::FolderLock> lock;  // what cannot be stored is refused before the work
  if (!arguments.dry_run) {
    models::check_is_no_checkpoint(arguments.model);
    lock.emplace(arguments.model);
  }
  const DeviceChoice device(arguments.device);
  const decoding::Translator translator = decoding::load_translator(arguments.model);
  tuning.languages = translator.choose_languages(arguments.languages).tokens;
  const std::vector<std::string> sources = read_lines(arguments.source);
  const std::vector<std::string> references = read_lines(arguments.target);
  say_note(choose_tokenizer(given_to(command), arguments.target, references, tuning.tokenize));
  TextOutput output("-");
  const auto meter = make_meter("tuning", "searches");
  const int64_t searches = training::number_of_searches(tuning);
  int64_t tried = 0;
  meter->show(tried, searches);
  output.write(
      "| beam size | length penalty | alpha | BLEU | chrF | cut at the longest length |\n|---|---|---|---|---|---|\n");
  const auto results = training::try_searches(translator, sources, references, tuning, [&](const auto& result) {
    meter->clear();
    output.write(row(result));
    meter->show(++tried, searches);
  });
  meter->clear();
  const training::SearchChoice choice = training::choose_search(results, references, tuning);
  output.write("\n" + comparison(choice, tuning.significance));
  if (arguments.dry_run) {
    output.write(fmt::format("would store: {}\n", described(*choice.taken)));
    return 0;
  }
  models::store_decoding(arguments.model, decoding::search_defaults_json(choice.taken->search));
  output.write(fmt::format("{}/{}: {}\n", arguments.model, models::kDecodingName, described(*choice.taken)));
  return 0;
}

void add_options(CLI::App& command, TuneArguments& arguments) {
  training::SearchTuning& tuning = arguments.tuning;
  begin_group(command, base::kMostUsed);
  command.add_option("-m,--model", arguments.model, "Model folder")->type_name("DIR")->required();
  command.add_option("--source", arguments.source, "Validation text, source side, one sentence a line")
      ->type_name("FILE")
      ->required();
  command.add_option("--target", arguments.target, "Validation text, target side: line n translates line n")
      ->type_name("FILE")
      ->required();
  add_language_flags(command, arguments.languages);
  add_device_flag(command, arguments.device);
  begin_group(command, kTrials);
  command
      .add_option("--beam-sizes", tuning.beam_sizes,
                  fmt::format("Beam sizes to try, separated by commas; each {}",
                              base::field_of(&decoding::SearchOptions::beam_size).range.text()))
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(tuning.beam_sizes, ",")));
  command
      .add_option("--alphas", tuning.alphas,
                  fmt::format("Exponents of the length penalty to try, separated by commas; {}",
                              base::field_of(&decoding::RankingOptions::alpha).range.text()))
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(tuning.alphas, ",")));
  add_search_flag(command, &decoding::RankingOptions::length_penalty, tuning.search.ranking.length_penalty)
      ->group(kTrials);
  add_choice(command, "--metric", tuning.metric, "What chooses", {"bleu", "chrf"});
  add_choice(command, "--tokenize", tuning.tokenize,
             "How BLEU cuts words; not given: by the language of --target, zh for Chinese");
  command.add_flag("--lowercase", tuning.lowercase, "Ignore the difference of upper and lower case");
  command.add_option("--significance", tuning.significance,
                     "Keep the usual search (beam 4, alpha 0.6) unless the best beats it by paired bootstrap with p at "
                     "most this, 0 to 1; 1 = take the best in any case");
  command.add_flag("--dry-run", arguments.dry_run, "Only print; store nothing");
  add_speed_flags(command, tuning.search.execution.batch_tokens, tuning.search.execution.workers);
}

}  // namespace

void add_tune_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = add_command(app, "tune",
                                  "Choose beam size and length penalty on validation text and store them in the model "
                                  "folder, where translate and attention find them",
                                  "dragoman tune --model my-model --source valid.en --target valid.de");
  add_options(*command, *arguments);
  command->callback([arguments, command, &run] {
    arguments->tuning.check();
    run = [arguments, command] { return tune(*command, *arguments); };
  });
}

}  // namespace dragoman::cli
