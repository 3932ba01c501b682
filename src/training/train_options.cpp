#include "training/train_options.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"

namespace dragoman::training {
namespace {

constexpr int64_t kAnyVocabularySize = 1000;

}  // namespace

void TrainOptions::check() const {
  base::check_usage(!model_folder.empty(), "train: --model names the folder to write to");
  std::error_code missing;
  base::check_usage(initial_model.empty() || !std::filesystem::equivalent(initial_model, model_folder, missing),
                    "train: --initial-model and --model are both {}; name another folder for the new model",
                    model_folder.string());
  base::check_usage(initial_model.empty() || tokenizer.empty(),
                    "train: --initial-model {} has its own vocabulary; leave out --tokenizer {}",
                    initial_model.string(), tokenizer.string());
  base::check_usage(joint_vocabulary || !model.sizes().one_vocabulary,
                    "tying \"all\" needs a joint vocabulary; use --tying target with separate vocabularies");
  base::check_usage(
      target_tokenizer.empty() ? tokenizer.empty() || joint_vocabulary : !tokenizer.empty() && !joint_vocabulary,
      "train: separate vocabularies that are given need --joint-vocab false, --tokenizer for the source and "
      "--target-tokenizer for the target");
  model.with_vocabulary_sizes(kAnyVocabularySize, kAnyVocabularySize).check();  // the true ones are known later
  schedule.check();
  base::check_usage(precision != kernels::Precision::kInt8,
                    "precision is int8, which is for translating; train in float32 or bfloat16");
  base::check_fields(*this);
  base::check_usage(vocabulary.whole_words.empty() || batch.subword_sampling == 0.0,
                    "whole words cannot be cut at random; leave out --vocab-words or --subword-sampling");
  base::check_usage(
      vocabulary.type != data::VocabularyOptions::Type::kBpe || batch.subword_sampling <= 1.0,
      "--subword-sampling is {}, must be 0 to 1 with --vocab-type bpe, where it is the probability that a "
      "merge is left out",
      batch.subword_sampling);
  base::check_usage(initial_model.empty() || target_tokenizer.empty(),
                    "train: --initial-model {} has its own vocabulary; leave out --target-tokenizer {}",
                    initial_model.string(), target_tokenizer.string());
  base::check_usage(loss.rdrop == 0.0 || loss.simcut == 0.0,
                    "--rdrop {} and --simcut {} each make a second pass of their own; choose one", loss.rdrop,
                    loss.simcut);
  base::check_usage(batch.max_length <= model.sizes().max_positions,
                    "--max-length is {}, must be 2 to {}, the positions of the model (--max-positions)",
                    batch.max_length, model.sizes().max_positions);
}

std::string recipe_json(const TrainOptions& options) {
  const auto decides = [](const auto& field) { return field.decides == base::Decides::kOutcome; };
  nlohmann::json tree = base::json_of_fields(options, decides);
  // Recipes from before these options go on.
  std::vector<std::string> added_later = base::names_of_fields<data::TextOptions>(decides);
  const std::vector<std::string> of_masks = base::names_of_fields<data::MaskOptions>(decides);
  added_later.insert(added_later.end(), of_masks.begin(), of_masks.end());
  const std::vector<std::string> of_texts = base::names_of_fields<WholeTextOptions>(decides);
  added_later.insert(added_later.end(), of_texts.begin(), of_texts.end());
  added_later.emplace_back(base::field_of(&data::VocabularyOptions::whole_words).name);
  added_later.emplace_back(base::field_of(&AdamOptions::decayed).name);
  added_later.emplace_back(base::field_of(&AdamOptions::optimizer).name);
  added_later.emplace_back(base::field_of(&AdamOptions::muon_momentum).name);
  added_later.emplace_back(base::field_of(&BatchOptions::batch_order).name);
  added_later.emplace_back(base::field_of(&ObjectiveOptions::simcut).name);
  added_later.emplace_back(base::field_of(&ObjectiveOptions::simcut_words).name);
  const nlohmann::json defaults = base::json_of_fields(TrainOptions(), decides);
  for (const std::string& name : added_later) {
    if (tree[name] == defaults[name]) {
      tree.erase(name);
    }
  }
  if (options.task != TrainOptions().task) {
    tree["task"] = options.task;
  }
  tree["model"] = base::with_decimals(nlohmann::json::parse(options.model.to_json()));
  if (!options.tokenizer.empty()) {
    tree["tokenizer"] = options.tokenizer.string();
  }
  if (!options.target_tokenizer.empty()) {
    tree["target_tokenizer"] = options.target_tokenizer.string();
  }
  if (!options.initial_model.empty()) {
    tree["initial_model"] = options.initial_model.string();
  }
  return base::dump_json(tree, 2) + "\n";
}

}  // namespace dragoman::training
