#include "cli/text_language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "data/text/text_file.h"
#include "models/languages.h"

namespace dragoman::cli {
namespace {

using evaluation::Tokenizer;

// The first lines of a file that can be read twice, which a pipe cannot.
std::vector<std::string> first_lines(const std::filesystem::path& file) {
  constexpr size_t kLines = 200;
  std::vector<std::string> lines;
  std::error_code unknown;
  if (std::filesystem::is_regular_file(file, unknown)) {
    data::LineReader reader(file);
    for (std::string line; lines.size() < kLines && reader.next(line);) {
      lines.push_back(line);
    }
  }
  return lines;
}

// "test.zh is Chinese"
std::string language_text(const std::filesystem::path& file, Tokenizer fitting) {
  return fmt::format("{} is {}", file.string(),
                     fitting == Tokenizer::kZh ? "Chinese" : "of a language without spaces between words");
}

bool gives(const IsGiven& is_given, std::initializer_list<const char*> flags) {
  return std::ranges::any_of(flags, is_given);
}

std::string chosen(const std::string& what, const std::vector<std::string>& options) {
  return options.empty() ? "" : fmt::format("{}: {} is chosen", what, fmt::join(options, " "));
}

std::string tokenize_option(Tokenizer tokenize) {
  return fmt::format("--tokenize {}", evaluation::tokenizer_name(tokenize));
}

}  // namespace

IsGiven given_to(const CLI::App& command) {
  return [&command](const char* flag) { return command.count(flag) > 0; };
}

std::string choose_tokenizer(const IsGiven& is_given, const std::filesystem::path& file,
                             std::span<const std::string> lines, Tokenizer& tokenize) {
  const Tokenizer fitting = evaluation::fitting_tokenizer(models::language_of_file(file), lines);
  if (fitting == Tokenizer::k13a || gives(is_given, {"--tokenize"})) {
    return "";
  }
  tokenize = fitting;
  return chosen(language_text(file, fitting), {tokenize_option(fitting)});
}

std::string choose_metric_options(const IsGiven& is_given, const evaluation::Text& reference,
                                  const std::string& language, evaluation::EvaluateOptions& options) {
  const std::string code =
      language.empty() ? models::language_of_file(reference.name) : models::common_language(language);
  base::check_usage(language.empty() || models::is_language_code(code),
                    "--target-language: \"{}\" is no language code; codes are like en, pt-BR, zh-Hans", language);
  const Tokenizer fitting = evaluation::fitting_tokenizer(code, reference.lines);
  const auto has = [&](evaluation::MetricKind kind) { return std::ranges::count(options.metrics, kind) > 0; };
  std::vector<std::string> taken;
  if (fitting == Tokenizer::k13a) {
    return "";
  }
  if (has(evaluation::MetricKind::kBleu) && !gives(is_given, {"--tokenize"})) {
    options.tokenize = fitting;
    taken.push_back(tokenize_option(fitting));
  }
  if (has(evaluation::MetricKind::kTer) && !gives(is_given, {"--ter-normalized", "--ter-asian-support"})) {
    options.ter.normalized = true;
    options.ter.asian_support = true;
    taken.emplace_back("--ter-normalized --ter-asian-support");
  }
  return chosen(language_text(reference.name, fitting), taken);
}

std::string choose_training_options(const IsGiven& is_given, training::TrainOptions& options) {
  if (options.target.empty()) {
    return "";
  }
  const std::filesystem::path& file = options.target.front();
  const Tokenizer fitting = evaluation::fitting_tokenizer(models::language_of_file(file), first_lines(file));
  if (fitting == Tokenizer::k13a) {
    return "";
  }
  std::vector<std::string> taken;
  if (!gives(is_given, {"--tokenize"})) {
    options.run.tokenize = fitting;
    taken.push_back(tokenize_option(fitting));
  }
  // With an initial model the vocabulary is that of the model.
  if (!gives(is_given, {"--normalization", "--initial-model"})) {
    options.vocabulary.normalization = "identity";
    taken.emplace_back("--normalization identity");
  }
  return chosen(language_text(file, fitting), taken);
}

}  // namespace dragoman::cli
