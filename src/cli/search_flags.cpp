#include "cli/search_flags.h"

namespace dragoman::cli {

using decoding::SearchOptions;

template <typename Field>
void SearchFlags::add(CLI::App& command, const char* name, Field SearchOptions::*field, const std::string& help) {
  apply_if_given(command.add_option(name, given_.*field, help), field);
}

template <typename Field>
void SearchFlags::apply_if_given(const CLI::Option* option, Field SearchOptions::*field) {
  appliers_.push_back([this, option, field](SearchOptions& options) {
    if (option->count() > 0) {
      options.*field = given_.*field;
    }
  });
}

SearchFlags::SearchFlags(CLI::App& command) {
  const std::string stored = "; not given: what `dragoman tune` stored with the model, else the default";
  add(command, "--beam-size", &SearchOptions::beam_size,
      "Hypotheses kept a sentence, 1 to 128; 1 = greedy search" + stored);
  const CLI::Option* penalty =
      command
          .add_option_function<std::string>(
              "--length-penalty",
              [this](const std::string& name) { given_.length_penalty = decoding::length_penalty_from(name); },
              "What divides a score: gnmt = ((5 + len) / 6)^alpha, length = len^alpha" + stored)
          ->check(CLI::IsMember({"gnmt", "length"}))
          ->default_str(std::string(decoding::name_of(given_.length_penalty)));
  apply_if_given(penalty, &SearchOptions::length_penalty);
  add(command, "--alpha", &SearchOptions::alpha, "Exponent of the length penalty, -5 to 5; 0 = none" + stored);
  const CLI::Option* rule =
      command
          .add_option_function<std::string>(
              "--beam-rule", [this](const std::string& name) { given_.beam_rule = decoding::beam_rule_from(name); },
              "shrinking = a finished hypothesis takes its place in the beam with it, full = its place is filled "
              "again, "
              "as in transformers; not given: what is stored with the model, else the default")
          ->check(CLI::IsMember({"shrinking", "full"}))
          ->default_str(std::string(decoding::name_of(given_.beam_rule)));
  apply_if_given(rule, &SearchOptions::beam_rule);
  add(command, "--min-length", &SearchOptions::min_length, "Fewest pieces of a translation, 0 to 100000");
  add(command, "--max-length-ratio", &SearchOptions::max_length_ratio,
      "Longest translation in tokens = ratio * source tokens + extra; 0 to 100");
  add(command, "--max-length-extra", &SearchOptions::max_length_extra, "See --max-length-ratio; tokens, 0 to 100000");
  add(command, "--patience", &SearchOptions::patience,
      "A beam search ends when patience * beam size hypotheses are finished, 0.1 to 10");
  add(command, "--coverage-penalty", &SearchOptions::coverage_penalty,
      "Beta of the penalty for source pieces that were not looked at, 0 to 10; 0 = none");
  add(command, "--repetition-penalty", &SearchOptions::repetition_penalty,
      "Makes pieces that the translation has already less likely, 1 to 10; 1 = none");
  add(command, "--no-repeat-ngram", &SearchOptions::no_repeat_ngram,
      "No run of so many pieces comes twice, 0 to 100; 0 = they may");
  add(command, "--disable-unk", &SearchOptions::disable_unk, "Never write the unknown piece");
  const CLI::Option* alternatives = command.add_flag(
      "--alternatives", given_.alternatives,
      "With an n-best list: the likeliest next pieces after the prefix, each continued, instead of the best");
  apply_if_given(alternatives, &SearchOptions::alternatives);
  add(command, "--sampling-temperature", &SearchOptions::sampling_temperature,
      "Draw at random from softmax(logits / temperature) instead of searching, 0 to 100; 0 = search");
  add(command, "--sampling-top-k", &SearchOptions::sampling_top_k,
      "Draw among the k likeliest pieces, 0 to 1000000; 0 = all");
  add(command, "--sampling-top-p", &SearchOptions::sampling_top_p,
      "Draw among the fewest likeliest pieces that reach p together, above 0, to 1; 1 = all");
  add(command, "--seed", &SearchOptions::seed, "Of the random numbers of sampling");
  const CLI::Option* shortlist = command.add_flag("--shortlist", given_.shortlist,
                                                  "Write only what the model's shortlist allows the sentence, which is "
                                                  "faster; `dragoman shortlist` makes the list");
  apply_if_given(shortlist, &SearchOptions::shortlist);
  add(command, "--early-stop", &SearchOptions::early_stop,
      "Stop a search once nothing better can come; never changes the result");
}

SearchOptions SearchFlags::over(SearchOptions defaults) const {
  for (const auto& apply : appliers_) {
    apply(defaults);
  }
  return defaults;
}

void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers) {
  command.add_option("--batch-tokens", batch_tokens,
                     "Tokens in work at a time in one worker, 1 to 1000000; never changes the result");
  command.add_option("--workers", workers, "Threads, 0 to 1024; 0 = one a core; never changes the result");
}

void add_team_flag(CLI::App& command, int& threads_per_worker) {
  command.add_option("--threads-per-worker", threads_per_worker,
                     "Threads that compute one worker's products together, 0 to 64; for an answer sooner where lines "
                     "come one at a time: --workers 1 --threads-per-worker 2; 0 = where a read has fewer lines than "
                     "there are workers, the threads that are left; never changes the result");
}

void add_precision_flag(CLI::App& command, std::optional<kernels::Precision>& precision) {
  command
      .add_option_function<std::string>(
          "--precision", [&precision](const std::string& name) { precision = kernels::precision_from(name); },
          "Of the products with weights, converted at load; auto = as the folder stores them: float32, which gives "
          "what training validates with, unless `quantize` made it")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16", "int8"}))
      ->default_str("auto");
}

}  // namespace dragoman::cli
