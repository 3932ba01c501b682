#include "study/row_settings.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "models/model_folder.h"
#include "training/checkpoint.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;
using Settings = std::map<std::string, std::string>;

constexpr const char* kRecipeName = "recipe.json";  // of a checkpoint

// What differs by itself: seeds, paths, and what the text decides.
bool is_no_choice(const std::string& name) {
  static const std::set<std::string> names = {"seed", "tokenizer", "target_tokenizer", "initial_model"};
  return names.contains(name) || name.ends_with("vocab_size") || name.ends_with("vocabulary_size");
}

// The recipe has the model as an object, whose values config.json has too.
void add_values(const fs::path& file, Settings& settings) {
  if (!base::path_exists(file)) {
    return;
  }
  const nlohmann::json tree = base::with_decimals(base::parse_json(base::read_file(file), file.string()));
  base::check_data(tree.is_object(), "{}: must be a JSON object; train the model again", file.string());
  for (const auto& [name, value] : tree.items()) {
    if (!value.is_object() && !is_no_choice(name)) {
      settings[name] = value.is_string() ? value.get<std::string>() : base::dump_json(value);
    }
  }
}

}  // namespace

Settings settings_of(const fs::path& model) {
  Settings settings;
  if (const std::vector<int64_t> steps = training::list_checkpoints(model); !steps.empty()) {
    add_values(training::checkpoint_folder(model, steps.back()) / kRecipeName, settings);
  }
  add_values(model / models::kConfigName, settings);
  return settings;
}

}  // namespace dragoman::study
