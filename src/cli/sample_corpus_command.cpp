#include <fmt/core.h>

#include <memory>

#include "cli/command.h"
#include "cli/text_output.h"
#include "data/sample/sample_corpus.h"

namespace dragoman::cli {
namespace {

struct SampleCorpusArguments {
  data::SampleCorpusOptions options;
  std::string hypothesis;  // empty: write the corpus
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
  command->callback([arguments, &run] {
    run = [arguments] { return arguments->hypothesis.empty() ? write_corpus(arguments->options) : check(*arguments); };
  });
}

}  // namespace dragoman::cli
