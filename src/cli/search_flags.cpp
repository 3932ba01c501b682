#include "cli/search_flags.h"

namespace dragoman::cli {

using decoding::SearchOptions;

template <typename Field>
void SearchFlags::add(CLI::App& command, const char* name, Field SearchOptions::*field, const std::string& help) {
  CLI::Option* option = command.add_option(name, given_.*field, help);
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
  CLI::Option* penalty =
      command
          .add_option_function<std::string>(
              "--length-penalty",
              [this](const std::string& name) { given_.length_penalty = decoding::length_penalty_from(name); },
              "What divides a score: gnmt = ((5 + len) / 6)^alpha, length = len^alpha" + stored)
          ->check(CLI::IsMember({"gnmt", "length"}))
          ->default_str(std::string(decoding::name_of(given_.length_penalty)));
  appliers_.push_back([this, penalty](SearchOptions& options) {
    if (penalty->count() > 0) {
      options.length_penalty = given_.length_penalty;
    }
  });
  add(command, "--alpha", &SearchOptions::alpha, "Exponent of the length penalty, 0 to 5; 0 = none" + stored);
  add(command, "--min-length", &SearchOptions::min_length, "Fewest pieces of a translation, 0 to 100000");
  add(command, "--max-length-ratio", &SearchOptions::max_length_ratio,
      "Longest translation in tokens = ratio * source tokens + extra; 0 to 100");
  add(command, "--max-length-extra", &SearchOptions::max_length_extra, "See --max-length-ratio; tokens, 0 to 100000");
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

}  // namespace dragoman::cli
