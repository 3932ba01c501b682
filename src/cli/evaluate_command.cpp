#include <memory>

#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/meter.h"
#include "cli/text_language.h"
#include "cli/text_output.h"
#include "evaluation/evaluate.h"

namespace dragoman::cli {
namespace {

struct EvaluateArguments {
  std::string hypothesis;
  std::vector<std::string> paired;
  std::vector<std::string> references;
  std::vector<std::string> metrics = {"bleu", "chrf"};
  std::string target_language;  // empty: of the name of the reference
  bool json = false;
  evaluation::EvaluateOptions options;
};

evaluation::Text read(const std::string& file) {
  return evaluation::read_text(file == "-" ? "/dev/stdin" : file);
}

int evaluate(const CLI::App& command, const EvaluateArguments& arguments) {
  std::vector<evaluation::Text> systems = {read(arguments.hypothesis)};
  for (const std::string& file : arguments.paired) {
    systems.push_back(read(file));
  }
  std::vector<evaluation::Text> references;
  for (const std::string& file : arguments.references) {
    references.push_back(read(file));
  }
  evaluation::EvaluateOptions options = arguments.options;
  if (options.metrics.front() < evaluation::MetricKind::kAccuracy) {  // labels and tags have no language
    say_note(choose_metric_options(given_to(command), references.front(), arguments.target_language, options));
  }
  const auto meter = make_meter("scoring", "lines");
  options.progress = [&](std::string_view metric, std::string_view unit, int64_t done, int64_t total) {
    meter->show(metric, unit, done, total);
  };
  const evaluation::Report report = evaluation::evaluate(systems, references, options);
  meter->clear();
  for (const std::string& warning : report.warnings) {
    say_note(warning);
  }
  TextOutput output("-");
  output.write(arguments.json ? evaluation::render_json(report) : evaluation::render_text(report));
  return 0;
}

void add_metric_options(CLI::App& command, EvaluateArguments& arguments) {
  evaluation::EvaluateOptions& options = arguments.options;
  command
      .add_option("--metrics", arguments.metrics,
                  "What to compute, separated by commas; of bleu, chrf, chrf++, ter; of labels accuracy, f1, macro-f1, "
                  "mcc; of tags "
                  "tag-accuracy, span-f1; of vectors of embed recall-at-1, mrr; of numbers spearman")
      ->delimiter(',');
  command.add_option("--positive-label", options.positive_label, "The label that f1 is about")->type_name("LABEL");
  begin_group(command, "How text is compared");
  command.add_flag("--lowercase", options.lowercase, "Ignore the difference of upper and lower case");
  add_choice(command, "--tokenize", options.tokenize,
             "How BLEU cuts words; none = at spaces, for tokenised text. Not given: zh for Chinese, char for Japanese "
             "and others without spaces");
  add_choice(command, "--smooth-method", options.smoothing, "What BLEU does about an order without matches");
  command.add_option("--smooth-value", options.smooth_value,
                     "Matches assumed by floor (default 0.1) or added by add-k (default 1)");
  command.add_flag("--ter-normalized", options.ter.normalized,
                   "TER: punctuation marks are words; chosen for Chinese and Japanese");
  command.add_flag("--ter-no-punct", options.ter.no_punctuation, "TER: punctuation is ignored");
  command.add_flag("--ter-asian-support", options.ter.asian_support,
                   "TER: both also for Chinese and Japanese characters; chosen for these languages");
  command.add_flag("--ter-case-sensitive", options.ter.case_sensitive, "TER: upper and lower case differ");
}

void add_test_options(CLI::App& command, EvaluateArguments& arguments) {
  evaluation::EvaluateOptions& options = arguments.options;
  begin_group(command, "Chance and confidence");
  command
      .add_option("--paired", arguments.paired,
                  "Translations of other systems, each compared with --hypothesis by paired bootstrap")
      ->type_name("FILE");
  command.add_flag("--confidence", options.confidence,
                   "Also the interval that holds the score with 95 %, by bootstrap");
  command.add_option("--confidence-n", options.resamples, "Resamples of the bootstrap, at least 2");
  command.add_option("--seed", options.seed, "Of the resamples");
}

}  // namespace

void add_evaluate_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command = add_command(
      app, "evaluate", "Score translations against references as sacreBLEU does, or labels and tags of texts",
      "dragoman evaluate --hypothesis output.de --reference reference.de\n"
      "dragoman evaluate --metrics accuracy,macro-f1 --hypothesis labels.txt --reference test.tsv");
  begin_group(*command, base::kMostUsed);
  command
      ->add_option("--hypothesis", arguments->hypothesis,
                   "Translations, one a line; or what classify, tag or embed wrote; - = standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "--reference", arguments->references,
          "Right translations, one a line, in one file or several; or one file of labels (the first column), of tags "
          "(a word, a tab and its tag a line), of vectors or of numbers")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--target-language", arguments->target_language,
                   "Language of the texts, such as zh or zho_Hans; not given: by the name of the first reference")
      ->type_name("CODE");
  add_metric_options(*command, *arguments);
  begin_group(*command, "Output");
  command->add_flag("--json", arguments->json, "JSON with the keys of sacreBLEU");
  command->add_flag("--sentence-level", arguments->options.sentence_level,
                    "One score a line of text instead of one for all; takes one metric");
  command->add_option("--width", arguments->options.width, "Digits after the point, 0 to 15");
  add_test_options(*command, *arguments);
  command->callback([arguments, command, &run] {
    arguments->options.metrics = evaluation::parse_metrics(CLI::detail::join(arguments->metrics, ","));
    run = [arguments, command] { return evaluate(*command, *arguments); };
  });
}

}  // namespace dragoman::cli
