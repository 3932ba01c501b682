#include <fmt/core.h>

#include <memory>

#include "base/text_input.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/text_output.h"
#include "data/sample/pronoun_twins.h"
#include "data/sample/sample_corpus.h"
#include "decoding/inspection/pronoun_attention.h"
#include "decoding/load_translator.h"

namespace dragoman::cli {
namespace {

struct SampleCorpusArguments {
  data::SampleCorpusOptions options;
  std::string hypothesis;  // empty: no translation is checked
  std::string model;       // empty: no attention is measured
};

int write_corpus(const data::SampleCorpusOptions& options) {
  const data::SampleCorpusSummary summary = data::write_sample_corpus(options);
  TextOutput("-").write(fmt::format(
      "{}: {} training, {} validation and {} test pairs, {} of these with a pronoun to check; "
      "{} English words and {} {}\n",
      options.output.string(), summary.train, summary.valid, summary.test, summary.pronouns, summary.english_words,
      summary.other_words, options.pair.find("zh") == std::string::npos ? "German words" : "Chinese characters"));
  return 0;
}

int check(const SampleCorpusArguments& arguments) {
  const data::PronounAccuracy accuracy = data::check_pronouns(arguments.hypothesis, arguments.options.output);
  TextOutput("-").write(data::pronoun_report(accuracy));
  return 0;
}

int measure_attention(const SampleCorpusArguments& arguments) {
  const std::filesystem::path folder = arguments.options.output;
  const auto lines = [&](std::string_view name) { return base::split_lines(base::read_text_file(folder / name)); };
  const std::filesystem::path rows_file = folder / data::kPronounFileName;
  const auto rows = data::parse_pronoun_rows(base::read_text_file(rows_file), rows_file.string());
  const decoding::PronounAttention attention = decoding::measure_pronoun_attention(
      decoding::load_translator(arguments.model), data::pronoun_twins(rows), lines("test.en"), lines("test.de"));
  TextOutput("-").write(decoding::pronoun_attention_report(attention));
  return 0;
}

int run_with(const SampleCorpusArguments& arguments) {
  if (arguments.hypothesis.empty() && arguments.model.empty()) {
    return write_corpus(arguments.options);
  }
  const int status = arguments.hypothesis.empty() ? 0 : check(arguments);
  return arguments.model.empty() ? status : measure_attention(arguments);
}

}  // namespace

void add_sample_corpus_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<SampleCorpusArguments>();
  data::SampleCorpusOptions& options = arguments->options;
  CLI::App* command = add_command(
      app, "sample-corpus",
      "Write a parallel text made by a grammar, in which a pronoun shows what the model understood",
      "dragoman sample-corpus --output corpus\ndragoman sample-corpus --output corpus --check translation-of-test.de");
  command->add_option("--pair", options.pair, "Languages of source and target")
      ->check(
          CLI::IsMember(std::vector<std::string>(data::kSampleCorpusPairs.begin(), data::kSampleCorpusPairs.end())));
  command->add_option("--size", options.size,
                      fmt::format("Sentence pairs of all parts together ({} to {})", data::kSampleCorpusMinSize,
                                  data::kSampleCorpusMaxSize));
  command->add_option("--seed", options.seed, "Another seed, other sentences");
  command
      ->add_option("-o,--output", options.output,
                   "Folder for train, valid and test (.en, .de or .zh) and test.pronouns.tsv; made if missing")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--check", arguments->hypothesis,
                   "Write nothing; print how often this translation of --output's test part chose the right pronoun")
      ->type_name("FILE");
  command
      ->add_option(
          "--attention", arguments->model,
          "Write nothing; print which attention heads of this English-German model tell what \"it\" stands for")
      ->type_name("DIR");
  command->callback([arguments, &run] { run = [arguments] { return run_with(*arguments); }; });
}

}  // namespace dragoman::cli
