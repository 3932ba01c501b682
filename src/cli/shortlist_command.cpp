#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/folder_lock.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/language_flags.h"
#include "cli/meter.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "data/encoded_corpus.h"
#include "decoding/load_model.h"
#include "decoding/load_translator.h"
#include "decoding/shortlist_learner.h"
#include "models/model_folder.h"

namespace dragoman::cli {
namespace {

constexpr size_t kShortlistLines = 1024;  // translated together

struct ShortlistArguments {
  std::string model;
  std::string source;
  std::string target;              // empty: what the model says itself
  models::LanguagePair languages;  // empty: the only ones of the model
  int workers = 0;
  std::string device = "cpu";
  decoding::ShortlistOptions options;
};

// A pair as the model sees it: each side behind the code of its language.
data::SentencePair with_codes(data::SentencePair pair, const decoding::LanguageTokens& languages) {
  if (languages.source) {
    pair.source.insert(pair.source.begin(), *languages.source);
  }
  if (languages.target) {
    pair.target.insert(pair.target.begin(), *languages.target);
  }
  return pair;
}

decoding::LearnedShortlist learn_from_files(const ShortlistArguments& arguments, report::Meter& meter) {
  const models::ModelFiles files = models::read_model_folder(arguments.model);
  const data::VocabularyPair vocabularies = decoding::load_vocabularies(files.vocabularies, arguments.model);
  const std::string languages_name = (std::filesystem::path(arguments.model) / models::kLanguagesName).string();
  const decoding::LanguageTokens languages =
      decoding::choose_languages(files.languages.empty() ? models::ModelLanguages()
                                                         : models::languages_from_json(files.languages, languages_name),
                                 arguments.languages, vocabularies)
          .tokens;
  data::EncodingOptions encoding;
  encoding.threads = arguments.options.alignment.workers;
  const data::EncodedCorpus corpus(data::ParallelCorpus({arguments.source}, {arguments.target}), vocabularies.source,
                                   vocabularies.target, encoding);
  if (!is_quiet()) {
    meter.message(corpus.statistics().report());
  }
  meter.show("aligning", "", 0, 0);
  const data::NumberedPairs pairs{corpus.size(),
                                  [&](uint64_t index) { return with_codes(corpus.pair(index, 0), languages); }};
  return decoding::learn_shortlist(pairs, vocabularies, arguments.options);
}

// Lines that the model translates in parts are left out: which part became what is unknown.
void add_pairs(const decoding::Translator& translator, const decoding::LanguageTokens& languages,
               std::span<const std::string> lines, uint64_t first_line, std::vector<data::SentencePair>& pairs) {
  decoding::SearchOptions greedy = translator.search_defaults();
  greedy.beam_size = 1;
  std::vector<decoding::TranslationRequest> requests;
  for (const std::string& line : lines) {
    requests.push_back({.text = line, .languages = languages});
  }
  const std::vector<decoding::Translation> translations = translator.translate_requests(requests, greedy);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<int32_t> source = decoding::encode_source(translator.source_vocabulary(), lines[i], languages);
    if (translations[i].warning.empty() && !source.empty() && !translations[i].ids.empty()) {
      pairs.push_back({first_line + i, std::move(source), translations[i].ids});
    }
  }
}

decoding::LearnedShortlist learn_from_model(const ShortlistArguments& arguments, report::Meter& meter) {
  const decoding::Translator translator = decoding::load_translator(arguments.model);
  const decoding::LanguageTokens languages = translator.choose_languages(arguments.languages).tokens;
  const std::vector<std::string> lines = read_lines(arguments.source);
  std::vector<data::SentencePair> pairs;
  for (size_t begin = 0; begin < lines.size(); begin += kShortlistLines) {
    const size_t count = std::min(kShortlistLines, lines.size() - begin);
    add_pairs(translator, languages, std::span(lines).subspan(begin, count), begin, pairs);
    meter.show("translating", "lines", static_cast<int64_t>(begin + count), static_cast<int64_t>(lines.size()));
  }
  if (!is_quiet()) {
    meter.message(fmt::format("translated {0} of {0} lines", lines.size()));
  }
  meter.show("aligning", "", 0, 0);
  return decoding::learn_shortlist({pairs.size(), [&](uint64_t index) { return pairs[index]; }},
                                   {translator.source_vocabulary(), translator.target_vocabulary()}, arguments.options);
}

int learn(const ShortlistArguments& arguments) {
  models::check_is_no_checkpoint(arguments.model);  // what cannot be stored is refused before the work
  const base::FolderLock lock(arguments.model);
  const DeviceChoice device(arguments.device);
  const auto meter = make_meter("reading", "");
  const decoding::LearnedShortlist learned =
      arguments.target.empty() ? learn_from_model(arguments, *meter) : learn_from_files(arguments, *meter);
  meter->clear();
  models::store_shortlist(arguments.model, learned.shortlist.to_bytes());
  TextOutput("-").write(fmt::format(
      "{}/{}: from {} pairs of lines, whose translations may use {:.0f} of {} pieces in the mean; {:.3f} % of their "
      "pieces are among them\n",
      arguments.model, models::kShortlistName, learned.pairs_used, learned.mean_allowed,
      learned.shortlist.pieces().target, 100.0 * learned.covered));
  return 0;
}

void add_options(CLI::App& command, ShortlistArguments& arguments) {
  decoding::ShortlistOptions& options = arguments.options;
  begin_group(command, base::kMostUsed);
  command.add_option("-m,--model", arguments.model, "Model folder; the list is stored in it")
      ->type_name("DIR")
      ->required();
  command.add_option("--source", arguments.source, "Text of the source language, one sentence a line")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--target", arguments.target,
                  "Its translation, line by line; not given: the model translates the source text itself")
      ->type_name("FILE");
  add_language_flags(command, arguments.languages);
  add_device_flag(command, arguments.device);
  add_field(command, base::field_of(&decoding::ShortlistOptions::frequent), options.frequent);
  add_field(command, base::field_of(&decoding::ShortlistOptions::best), options.best);
  add_field(command, base::field_of(&data::LexicalOptions::iterations), options.alignment.iterations);
  add_field(command, base::field_of(&data::LexicalOptions::diagonal), options.alignment.diagonal);
  begin_group(command, decoding::ExecutionOptions::kTitle);
  command.add_option("--workers", arguments.workers, "Threads, 0 to 1024; 0 = one a core; never changes the result");
}

}  // namespace

void add_shortlist_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<ShortlistArguments>();
  CLI::App* command = add_command(app, "shortlist",
                                  "Learn which target pieces a source piece can become and store the list in the model "
                                  "folder, for translate --shortlist and serve --shortlist",
                                  "dragoman shortlist --model my-model --source train.en --target train.de\n"
                                  "dragoman translate --model my-model --shortlist --input new.en");
  add_options(*command, *arguments);
  command->callback([arguments, &run] {
    base::check_range("workers", arguments->workers, 0, 1024);
    arguments->options.alignment.workers = base::thread_count(arguments->workers);
    arguments->options.check();
    run = [arguments] { return learn(*arguments); };
  });
}

}  // namespace dragoman::cli
