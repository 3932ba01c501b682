#include "cli/search_flags.h"

#include "decoding/search/search_defaults.h"

namespace dragoman::cli {

using decoding::ExecutionOptions;

SearchFlags::SearchFlags(CLI::App& command) : flags_(command) {
  flags_.add_all([](std::string_view name) {
    return decoding::is_stored_with_model(name)
               ? "; not given: what `dragoman tune` stored with the model, else the default"
               : "";
  });
}

void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers) {
  add_search_flag(command, &ExecutionOptions::batch_tokens, batch_tokens);
  add_search_flag(command, &ExecutionOptions::workers, workers);
}

void add_team_flag(CLI::App& command, int& threads_per_worker) {
  add_search_flag(command, &ExecutionOptions::threads_per_worker, threads_per_worker);
}

void add_precision_flag(CLI::App& command, std::optional<kernels::Precision>& precision) {
  add_choice(command, "--precision", precision,
             "Of the products with weights, converted at load; auto = as the folder stores them: float32, which gives "
             "what training validates with, unless `quantize` made it")
      ->group(ExecutionOptions::kTitle);
}

}  // namespace dragoman::cli
