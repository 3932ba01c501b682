#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/lap.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/language_flags.h"
#include "cli/language_names.h"
#include "cli/meter.h"
#include "cli/prompt.h"
#include "cli/search_flags.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "cli/translation_format.h"
#include "data/text/text_file.h"
#include "decoding/load_translator.h"
#include "decoding/search/banned_phrases.h"
#include "models/languages.h"

namespace dragoman::cli {
namespace {

// Translated together at most: enough to sort by length, little enough to hold whatever the size of the input.
constexpr size_t kChunkLines = 4096;
constexpr size_t kChunkBytes = size_t{4} << 20;
// The same where a person sees how far the work is.
constexpr size_t kWatchedLines = 1024;
// Of the prompt.
constexpr int kAlternatives = 5;

struct TranslateArguments {
  std::vector<std::string> models;
  std::string reverse_model;  // empty: none
  double reverse_weight = decoding::RankingOptions().reverse_weight;
  std::string input;               // empty or "-": standard input
  std::string output;              // empty or "-": standard output
  std::string banned;              // empty: nothing is banned
  std::string terms;               // empty: no terminology
  std::string prefix;              // empty: no prefixes
  models::LanguagePair languages;  // empty: the only ones of the model
  std::string device = "cpu";
  bool json = false;
  bool soft_alignment = false;
  int n_best = 0;  // 0: one translation a line, as plain text
  int alignment_layer = -1;
  int64_t batch_tokens = decoding::ExecutionOptions().batch_tokens;
  int workers = 0;
  int threads_per_worker = 0;
  std::optional<kernels::Precision> precision;  // none: as the folder stores the weights
  std::unique_ptr<SearchFlags> flags;

  // Over the defaults of the model.
  decoding::SearchOptions search(const decoding::SearchOptions& defaults) const {
    decoding::SearchOptions options = flags->over(defaults);
    options.n_best = std::max(n_best, 1);
    options.output.scores = json || n_best > 0;
    options.output.alignment = json;
    options.output.alignment_layer = alignment_layer;
    options.ranking.reverse_weight = reverse_weight;
    options.execution.batch_tokens = batch_tokens;
    options.execution.workers = workers;
    options.execution.threads_per_worker = threads_per_worker;
    return options;
  }
};

// The search of all lines: of flags and model, and of files whose text the model's vocabulary cuts.
decoding::SearchOptions search_of(const TranslateArguments& arguments, const decoding::Translator& translator) {
  decoding::SearchOptions options = arguments.search(translator.search_defaults());
  if (!arguments.soft_alignment && arguments.alignment_layer < 0) {  // else a model that has none is refused
    options.output.alignment = options.output.alignment && translator.has_alignments();
  }
  translator.check(options);
  base::check_usage(
      arguments.reverse_model.empty() || decoding::Reranker::applies(options),
      "--reverse-model chooses among the hypotheses of a beam search: --beam-size is {}, --reverse-weight {}; "
      "give a beam size of 2 or more and a weight above 0, without sampling and --alternatives",
      options.beam_size, options.ranking.reverse_weight);
  if (!arguments.banned.empty()) {
    options.rules.banned =
        std::make_shared<decoding::BannedPhrases>(translator.target_vocabulary(), read_lines(arguments.banned));
  }
  return options;
}

// A term whose phrase is banned could never come: the search would go on to the longest length.
std::shared_ptr<const decoding::TermTable> read_terms(const TranslateArguments& arguments,
                                                      const decoding::Translator& translator,
                                                      const decoding::SearchOptions& search) {
  auto terms = std::make_shared<const decoding::TermTable>(read_lines(arguments.terms), arguments.terms);
  if (search.rules.banned == nullptr) {
    return terms;
  }
  for (const auto& [source, target] : terms->targets()) {
    const std::string_view banned = search.rules.banned->found_in(translator.target_vocabulary().normalize(target));
    base::check_data(banned.empty(), "{}: \"{}\" demands \"{}\", and {} bans \"{}\"; leave out one of them",
                     arguments.terms, source, target, arguments.banned, banned);
  }
  return terms;
}

std::unique_ptr<decoding::Translator> load(const TranslateArguments& arguments) {
  const std::vector<std::filesystem::path> folders(arguments.models.begin(), arguments.models.end());
  return decoding::load_ensemble(folders, arguments.precision, arguments.reverse_model);
}

// A folder from before models of both directions said no languages may name one of them, so this is no error.
void warn_of_same_direction(const std::string& folder, const decoding::Translator& translator) {
  const models::ModelLanguages& reverse = translator.reverse_languages();
  if (!reverse.sources.empty() && reverse == translator.languages()) {
    const auto [source, target] = reverse.only_pair();
    fmt::print(stderr,
               "dragoman: warning: {} translates from {} to {}, as --model does; a reverse model translates from {} to "
               "{}, or both ways\n",
               folder, source, target, target, source);
  }
}

// Lines of a file whose end is known; 0 = not known.
int64_t lines_of_file(const std::string& file) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(file, unknown) ? static_cast<int64_t>(data::count_lines(file)) : 0;
}

class Translate {
 public:
  explicit Translate(const TranslateArguments& arguments)
      : arguments_(arguments),
        from_standard_input_(arguments.input.empty() || arguments.input == "-"),
        input_name_(from_standard_input_ ? "standard input" : arguments.input),
        reader_(from_standard_input_ ? data::LineReader(STDIN_FILENO, input_name_)
                                     : data::LineReader(std::filesystem::path(arguments.input))),
        translator_(load(arguments)),
        loading_seconds_(lap_()),
        search_(search_of(arguments, *translator_)),
        languages_(translator_->choose_languages(arguments.languages, arguments.prefix)),
        output_(arguments.output) {
    warn_of_same_direction(arguments.reverse_model, *translator_);
    if (!arguments.terms.empty()) {
      terms_ = read_terms(arguments, *translator_, search_);
    }
    if (!arguments.prefix.empty()) {
      prefixes_.emplace(std::filesystem::path(arguments.prefix));
    }
  }

  int run() {
    const bool to_terminal = (arguments_.output.empty() || arguments_.output == "-") && isatty(STDOUT_FILENO) == 1;
    if (from_standard_input_ && to_terminal && isatty(STDIN_FILENO) == 1) {
      converse();
    } else {
      stream(!to_terminal);
    }
    if (std::string line; prefixes_ && prefixes_->next(line)) {
      base::fail(base::ErrorKind::kBadData, "{}: has more lines than the input ({}); give a line for each",
                 arguments_.prefix, lines_);
    }
    output_.finish();
    say_note(reader_.repairs());
    say_note(prefixes_ ? prefixes_->repairs() : "");
    if (failed_ > 0) {
      say(fmt::format("dragoman: {} of {} lines are not translated; their place in the output is empty\n", failed_,
                      lines_));
    }
    return failed_ > 0 ? 1 : 0;
  }

 private:
  // Translates what has arrived, so that a program at the other end of a pipe gets its answer to every line, and a
  // file is read in large chunks.
  // @param watched  whether the terminal is free for a meter
  void stream(bool watched) {
    base::Lap lap;
    const report::MeterOptions terminal = report::meter_options_for(STDERR_FILENO);
    watched = watched && terminal.live && !is_quiet();
    if (watched) {
      meter_ = make_meter("translating", "lines");
      total_lines_ = from_standard_input_ ? 0 : lines_of_file(arguments_.input);
      meter_->show(0, total_lines_);
    }
    const size_t most_lines = watched ? kWatchedLines : kChunkLines;
    std::vector<std::string> lines;
    size_t bytes = 0;
    for (std::string line; reader_.next(line);) {
      bytes += line.size();
      lines.push_back(std::move(line));
      if (lines.size() == most_lines || bytes >= kChunkBytes || !reader_.ready()) {
        answer(lines);
        lines.clear();
        bytes = 0;
      }
    }
    answer(lines);
    meter_.reset();
    const double seconds = lap();
    say_status(fmt::format(
        "translated {} line{} into {} tokens in {:.1f} s ({:.0f} tokens/s); loading the model took {:.3f} s\n", lines_,
        lines_ == 1 ? "" : "s", tokens_, seconds, static_cast<double>(tokens_) / std::max(seconds, 1e-9),
        loading_seconds_));
  }

  void converse() {
    const auto& [source, target] = languages_.pair;
    output_.write(
        fmt::format("{}Type a sentence and press Enter; ? shows other translations of the last one; Ctrl-D ends.\n",
                    source.empty() ? "" : fmt::format("{} to {}. ", language_name(source), language_name(target))));
    Prompt prompt(source.empty() ? "> " : fmt::format("{} > {}: ", source, target));
    std::string last;
    for (std::string line; prompt.next(line);) {
      if (line == "?") {
        show_alternatives(last);
      } else {
        answer({&line, 1});
        last = line;
      }
    }
    output_.write("\n");
  }

  void show_alternatives(const std::string& sentence) {
    if (sentence.empty()) {
      output_.write("Type a sentence first.\n");
      return;
    }
    decoding::SearchOptions search = arguments_.search(translator_->search_defaults());
    search.n_best = kAlternatives;
    search.beam_size = std::max(search.beam_size, kAlternatives);
    try {
      const decoding::TranslationRequest request{.text = sentence, .languages = languages_.tokens};
      const decoding::Translation best = translator_->translate_requests({&request, 1}, search).front();
      std::string text = numbered(1, best);
      for (size_t i = 0; i < best.alternatives.size(); ++i) {
        text += numbered(i + 2, best.alternatives[i]);
      }
      output_.write(text);
    } catch (const base::Error& error) {
      say_note(error.what());  // the options of the command line may exclude several translations
    }
  }

  static std::string numbered(size_t number, const decoding::Translation& translation) {
    return translation.text.empty() ? "" : fmt::format("  {}. {}\n", number, translation.text);
  }

  void say_above_meter(const std::string& text) {
    if (meter_ != nullptr) {
      meter_->message(text);
    } else {
      say(text);
    }
  }

  void answer(std::span<const std::string> lines) {
    const std::vector<decoding::Translation> translations =
        translator_->translate_requests(requests_of(lines), search_, decoding::OnError::kReport);
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      ++lines_;
      tokens_ += translations[i].token_scores.size();
      text += format(lines[i], translations[i]);
      if (!translations[i].error.empty()) {
        ++failed_;
        say_above_meter(
            fmt::format("dragoman: {} line {} is not translated: {}\n", input_name_, lines_, translations[i].error));
      }
      if (!translations[i].warning.empty()) {
        say_above_meter(fmt::format("dragoman: {} line {}: {}\n", input_name_, lines_, translations[i].warning));
      }
    }
    if (!text.empty()) {
      output_.write(text);
    }
    if (meter_ != nullptr) {
      meter_->show(static_cast<int64_t>(lines_), total_lines_);
    }
  }

  std::vector<decoding::TranslationRequest> requests_of(std::span<const std::string> lines) {
    std::vector<decoding::TranslationRequest> requests(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      requests[i].text = lines[i];
      requests[i].languages = languages_.tokens;
      requests[i].terms = terms_;
      base::check_data(!prefixes_ || prefixes_->next(requests[i].prefix),
                       "{}: has {} lines, the input has more; give a line for each, empty for none", arguments_.prefix,
                       lines_ + i);
    }
    return requests;
  }

  std::string format(const std::string& source, const decoding::Translation& translation) const {
    if (arguments_.json) {
      return json_line(lines_, source, translation, arguments_.soft_alignment);
    }
    return arguments_.n_best > 0 ? moses_lines(lines_, translation) : translation.text + "\n";
  }

  const TranslateArguments& arguments_;
  bool from_standard_input_;
  std::string input_name_;
  data::LineReader reader_;
  base::Lap lap_;  // runs from before the model is loaded
  std::unique_ptr<decoding::Translator> translator_;
  double loading_seconds_;
  decoding::SearchOptions search_;
  decoding::ChosenLanguages languages_;
  std::shared_ptr<const decoding::TermTable> terms_;
  std::optional<data::LineReader> prefixes_;
  TextOutput output_;
  uint64_t lines_ = 0;
  uint64_t failed_ = 0;
  uint64_t tokens_ = 0;
  std::unique_ptr<report::Meter> meter_;  // null: nobody watches
  int64_t total_lines_ = 0;               // 0 = not known
};

int translate(const TranslateArguments& arguments) {
  const DeviceChoice device(arguments.device);
  return Translate(arguments).run();
}

void add_rule_files(CLI::App& command, TranslateArguments& arguments) {
  begin_group(command, decoding::RuleOptions::kTitle);
  command
      .add_option("--banned", arguments.banned,
                  "File of phrases that no translation may hold, one a line, as words, inside words, however spelled")
      ->type_name("FILE");
  command
      .add_option("--terms", arguments.terms,
                  "File of terminology, source<TAB>target a line: a term in the input demands its target phrase")
      ->type_name("FILE");
  command.add_option("--prefix", arguments.prefix, "File of what the translations must begin with, a line for each")
      ->type_name("FILE");
}

}  // namespace

void add_translate_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<TranslateArguments>();
  CLI::App* command = add_command(app, "translate", "Translate lines of text: files, pipes or a prompt",
                                  "dragoman translate --model my-model --input new.en --output new.de\n"
                                  "echo \"Good morning.\" | dragoman translate --model my-model");
  begin_group(*command, base::kMostUsed);
  command
      ->add_option("-m,--model", arguments->models,
                   "Model folder; given several times, the models vote with the mean of their probabilities")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->required();
  command
      ->add_option(
          "--reverse-model", arguments->reverse_model,
          "Folder of a model that translates the other way: of the hypotheses, the one is chosen that it would "
          "also translate back well")
      ->type_name("DIR")
      ->group(decoding::RankingOptions::kTitle);
  add_search_flag(*command, &decoding::RankingOptions::reverse_weight, arguments->reverse_weight);
  command->add_option("-i,--input", arguments->input, "File to translate, one sentence a line; - = standard input")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments->output,
                   "File for the translations, one a line; they gather in FILE.tmp, which becomes FILE at the end; "
                   "- = standard output")
      ->type_name("FILE");
  add_language_flags(*command, arguments->languages);
  command->add_flag(
      "--json", arguments->json,
      "One JSON object a line: text, tokens, alignment, scores; token_scores is one longer than tokens, by "
      "the end of the sentence");
  command
      ->add_flag("--soft-alignment", arguments->soft_alignment,
                 "With --json: also the attention weights of every token")
      ->group(decoding::OutputOptions::kTitle);
  command->add_option(base::field_of(&decoding::SearchOptions::n_best).flag_spelling(), arguments->n_best,
                      "Translations a line, 1 to the beam size (samples: to 128); plain text then comes in Moses "
                      "format; 0 = off");
  add_search_flag(*command, &decoding::OutputOptions::alignment_layer, arguments->alignment_layer);
  add_rule_files(*command, *arguments);
  arguments->flags = std::make_unique<SearchFlags>(*command);
  add_speed_flags(*command, arguments->batch_tokens, arguments->workers);
  add_team_flag(*command, arguments->threads_per_worker);
  add_precision_flag(*command, arguments->precision);
  add_device_flag(*command, arguments->device);
  command->callback([arguments, &run] {
    base::check_usage(arguments->json || (!arguments->soft_alignment && arguments->alignment_layer < 0),
                      "--soft-alignment and --alignment-layer are for --json; plain translations have no alignment");
    // What can be seen to be wrong without the model is refused before it is read; its beam size bounds n_best.
    decoding::SearchOptions search = arguments->search({});
    search.n_best = 1;
    search.check();
    run = [arguments] { return translate(*arguments); };
  });
}

}  // namespace dragoman::cli
