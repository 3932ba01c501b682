#include "training/tasks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "training/classify_task.h"
#include "training/embed_task.h"
#include "training/language_model_task.h"
#include "training/masked_language_model_task.h"
#include "training/tag_task.h"
#include "training/task_model.h"
#include "training/text_to_text_task.h"
#include "training/translation_task.h"

namespace dragoman::training {
namespace {

using VocabularyType = data::VocabularyOptions::Type;
using models::ModelKind;

constexpr VocabularyType kOfSentencePiece[] = {VocabularyType::kUnigram, VocabularyType::kBpe};
constexpr VocabularyType kOfLanguageModels[] = {VocabularyType::kCharacters, VocabularyType::kByteBpe,
                                                VocabularyType::kUnigram, VocabularyType::kBpe};
constexpr VocabularyType kOfEncoders[] = {VocabularyType::kWordPiece, VocabularyType::kCharacters};

constexpr ValidationMetric kOfTranslations[] = {ValidationMetric::kBleu, ValidationMetric::kChrf,
                                                ValidationMetric::kLoss};
constexpr ValidationMetric kLossAlone[] = {ValidationMetric::kLoss};
constexpr ValidationMetric kOfLabels[] = {ValidationMetric::kAccuracy, ValidationMetric::kLoss};
constexpr ValidationMetric kOfVectors[] = {ValidationMetric::kMrr, ValidationMetric::kAccuracy,
                                           ValidationMetric::kLoss};

enum class Files { kPairs, kRunningText, kLines, kPairsOrLines };

struct Row {
  const char* name;
  std::unique_ptr<Task> (*make)(const TrainOptions& options);
  void (*check)(const TrainOptions& options);  // names of its files, options that it does not read
  Files files;
  ModelKind model;
  std::span<const VocabularyType> learns;
  std::span<const ValidationMetric> measures;
};

const Row kTasks[] = {
    {"translation", make_translation_task, check_translation, Files::kPairs, ModelKind::kEncoderDecoder,
     kOfSentencePiece, kOfTranslations},
    {"language-model", make_language_model_task, check_language_model, Files::kRunningText, ModelKind::kDecoder,
     kOfLanguageModels, kLossAlone},
    {"span-corruption", make_span_corruption_task, check_text_to_text, Files::kRunningText, ModelKind::kEncoderDecoder,
     kOfSentencePiece, kLossAlone},
    {"text-to-text", make_text_to_text_task, check_text_to_text, Files::kLines, ModelKind::kEncoderDecoder,
     kOfSentencePiece, kLossAlone},
    {"masked-language-model", make_masked_language_model_task, check_reads_text, Files::kRunningText,
     ModelKind::kEncoder, kOfEncoders, kOfLabels},
    {"classify", make_classify_task, check_reads_text, Files::kLines, ModelKind::kEncoder, kOfEncoders, kOfLabels},
    {"tag", make_tag_task, check_reads_text, Files::kLines, ModelKind::kEncoder, kOfEncoders, kOfLabels},
    {"embed", make_embed_task, check_embed, Files::kPairsOrLines, ModelKind::kEncoder, kOfEncoders, kOfVectors},
};

const Row& row_of(const TrainOptions& options) {
  const auto* found = std::ranges::find(kTasks, options.task, [](const Row& row) { return std::string(row.name); });
  std::vector<std::string> names;
  std::ranges::transform(kTasks, std::back_inserter(names), &Row::name);
  base::check_usage(found != std::end(kTasks), "train: task is \"{}\", must be one of {}", options.task,
                    fmt::join(names, ", "));
  return *found;
}

template <typename Choice>
std::string names_of_all(std::span<const Choice> choices) {
  std::vector<std::string_view> names;
  std::ranges::transform(choices, std::back_inserter(names), [](Choice choice) { return base::name_of(choice); });
  return fmt::format("{}", fmt::join(names, ", "));
}

bool learns_vocabulary(const TrainOptions& options) {
  return options.tokenizer.empty() && options.initial_model.empty();
}

bool validates(Files files, const TrainOptions& options) {
  const bool by_pairs = files == Files::kPairs || files == Files::kPairsOrLines;
  const bool by_text = files != Files::kPairs;
  return (by_pairs && !options.valid_source.empty()) ||
         (by_text && (!options.valid_text.empty() || options.running_text.valid_share > 0.0));
}

}  // namespace

void check_task(const TrainOptions& options) {
  const Row& row = row_of(options);
  row.check(options);
  check_preset_suits(row.model, options);
  base::check_usage(!learns_vocabulary(options) || std::ranges::count(row.learns, options.vocabulary.type) > 0,
                    "train: --vocab-type is {}, which task {} does not learn; choose one of {}, or give a --tokenizer",
                    base::name_of(options.vocabulary.type), options.task, names_of_all(row.learns));
  // A score that is never measured would keep the first model.
  base::check_usage(!validates(row.files, options) || std::ranges::count(row.measures, options.run.metric) > 0,
                    "train: --metric {} is not measured by task {}; choose {}", base::name_of(options.run.metric),
                    options.task, names_of_all(row.measures));
}

bool reads_lines(const TrainOptions& options) {
  const Files files = row_of(options).files;
  return files == Files::kLines || (files == Files::kPairsOrLines && !options.text.empty());
}

std::unique_ptr<Task> make_task(const TrainOptions& options) {
  check_task(options);
  return row_of(options).make(options);
}

}  // namespace dragoman::training
