#include "cli/search_flags.h"

namespace dragoman::cli {

void add_search_flags(CLI::App& command, decoding::SearchOptions& options) {
  using decoding::LengthPenalty;
  command.add_option("--beam-size", options.beam_size, "Hypotheses kept a sentence, 1 to 128; 1 = greedy search");
  command
      .add_option_function<std::string>(
          "--length-penalty",
          [&options](const std::string& name) { options.length_penalty = decoding::length_penalty_from(name); },
          "What divides a score: gnmt = ((5 + len) / 6)^alpha, length = len^alpha")
      ->check(CLI::IsMember({"gnmt", "length"}))
      ->default_str(std::string(decoding::name_of(options.length_penalty)));
  command.add_option("--alpha", options.alpha, "Exponent of the length penalty, 0 to 5; 0 = none");
  command.add_option("--min-length", options.min_length, "Fewest pieces of a translation, 0 to 100000");
  command.add_option("--max-length-ratio", options.max_length_ratio,
                     "Longest translation in tokens = ratio * source tokens + extra; 0 to 100");
  command.add_option("--max-length-extra", options.max_length_extra, "See --max-length-ratio; tokens, 0 to 100000");
  command.add_option("--early-stop", options.early_stop,
                     "Stop a search once nothing better can come; never changes the result");
}

void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers) {
  command.add_option("--batch-tokens", batch_tokens,
                     "Tokens in work at a time in one worker, 1 to 1000000; never changes the result");
  command.add_option("--workers", workers, "Threads, 0 to 1024; 0 = one a core; never changes the result");
}

}  // namespace dragoman::cli
