#include "training/tasks.h"

#include <algorithm>

#include "base/error.h"
#include "training/classify_task.h"
#include "training/embed_task.h"
#include "training/language_model_task.h"
#include "training/masked_language_model_task.h"
#include "training/tag_task.h"
#include "training/text_to_text_task.h"
#include "training/translation_task.h"

namespace dragoman::training {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<Task> (*make)(const TrainOptions& options);
};

constexpr Row kTasks[] = {
    {"translation", make_translation_task},
    {"language-model", make_language_model_task},
    {"span-corruption", make_span_corruption_task},
    {"text-to-text", make_text_to_text_task},
    {"masked-language-model", make_masked_language_model_task},
    {"classify", make_classify_task},
    {"tag", make_tag_task},
    {"embed", make_embed_task},
};

}  // namespace

std::unique_ptr<Task> make_task(const TrainOptions& options) {
  const auto* found = std::ranges::find(kTasks, options.task, [](const Row& row) { return std::string(row.name); });
  std::string names;
  for (const Row& row : kTasks) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  base::check_usage(found != std::end(kTasks), "train: task is \"{}\", must be one of {}", options.task, names);
  return found->make(options);
}

}  // namespace dragoman::training
