#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "evaluation/evaluate.h"
#include "training/train_options.h"

namespace dragoman::cli {

/// The options that a text of Chinese, Japanese or another language without spaces between words needs are chosen by
/// the language, which the name of the file says (.zh), or else the text. Options that the command line gives stay.
/// Each function returns what to tell the user, or nothing if nothing was chosen.

/// Whether the user gave an option, named as the flag: "--tokenize".
using IsGiven = std::function<bool(const char* flag)>;
/// Returns: whether the command line has the flag.
IsGiven given_to(const CLI::App& command);

/// Chooses the tokenizer of BLEU: "test.zh is Chinese: BLEU with --tokenize zh".
std::string choose_tokenizer(const IsGiven& is_given, const std::filesystem::path& file,
                             std::span<const std::string> lines, evaluation::Tokenizer& tokenize);

/// Chooses the options of all metrics that read words. @param language  a code; empty: by the name of the file
std::string choose_metric_options(const IsGiven& is_given, const evaluation::Text& reference,
                                  const std::string& language, evaluation::EvaluateOptions& options);

/// Chooses tokenizer and normalisation by the language of the target text.
std::string choose_training_options(const IsGiven& is_given, training::TrainOptions& options);

}  // namespace dragoman::cli
