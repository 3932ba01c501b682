#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/names.h"
#include "evaluation/tokenizer.h"

namespace dragoman::study {

/// Options of a command of the program, in the order in which they were first given. Names have no dashes in front.
class OptionList {
 public:
  struct Option {
    std::string name;
    std::vector<std::string> values;
  };

  /// Sets an option, or changes the values of an option that is there.
  void set(const std::string& name, std::vector<std::string> values);
  /// Sets all options of `over`.
  void lay_over(const OptionList& over);
  void remove(const std::set<std::string>& names);
  /// Returns: the values, or null.
  const std::vector<std::string>* find(const std::string& name) const;
  const std::vector<Option>& options() const { return options_; }
  /// Returns: the words of a command line, "--dropout=0.1".
  std::vector<std::string> arguments() const;

 private:
  std::vector<Option> options_;
};

/// What a stage does. `kDistill` and `kBackTranslate` translate too; their names say what the text is for.
enum class StageKind {
  kTrain,          ///< trains a model
  kTranslate,      ///< translates a text by a model of the study
  kDistill,        ///< translates the source by a teacher, for a student (Kim and Rush 2016, arXiv 1606.07947)
  kBackTranslate,  ///< translates text of the target language back (Sennrich et al. 2016, arXiv 1511.06709)
  kFilter,         ///< keeps the pairs with the highest scores
};

constexpr base::Names<StageKind> names_of(StageKind) {
  return {"do",
          {{StageKind::kTrain, "train"},
           {StageKind::kTranslate, "translate"},
           {StageKind::kDistill, "distill"},
           {StageKind::kBackTranslate, "back-translate"},
           {StageKind::kFilter, "filter"}}};
}

/// One stage of a run. Texts and models have names: `source`, `target` and those under `texts` are given, others are
/// the results of earlier stages.
struct Stage {
  std::string name;
  StageKind kind = StageKind::kTrain;
  std::vector<std::string> source;  ///< names of texts, which are joined
  std::vector<std::string> target;
  std::vector<std::string> text;        ///< to train a language model on
  std::vector<std::string> nearest_to;  ///< known translations: of the hypotheses, the nearest is taken
  std::string model;                    ///< the stage whose model translates or scores
  std::string start_from;               ///< the stage whose weights are the first ones
  double share = 1.0;                   ///< of the option total-minutes
  double keep = 1.0;                    ///< share of the pairs that a filter keeps
  OptionList options;                   ///< of `train`, or of `translate`

  bool translates() const { return kind != StageKind::kTrain && kind != StageKind::kFilter; }
};

/// One row of the study: what it changes.
struct Row {
  std::string name;
  std::string about;
  std::optional<double> paper;  ///< the BLEU that the paper has for this row
  OptionList options;           ///< of all trainings
  std::map<std::string, OptionList> stage_options;
};

/// A pair of texts with which models are scored. Consecutive lines may be joined, to test longer sentences.
struct TestSet {
  std::string name;
  std::filesystem::path source, target;
  int64_t join = 1;
};

/// A study: rows times seeds, each a run of all stages. docs/studies.md describes the file.
struct Study {
  std::string name;  ///< of the file, without folder and ending
  std::string title, about;
  std::string baseline;  ///< name of a row
  std::vector<uint64_t> seeds = {1};
  std::vector<Row> rows;
  std::vector<Stage> stages;
  std::map<std::string, std::filesystem::path> texts;  ///< by name
  std::vector<TestSet> tests;
  OptionList options;                                                            ///< of all trainings
  std::vector<std::pair<std::string, OptionList>> searches = {{"default", {}}};  ///< the first is compared
  bool lowercase_text = false;  ///< train and score on lower-cased copies
  bool tune = false;            ///< choose beam size and length penalty on the validation text
  bool score_lowercase = false;
  evaluation::Tokenizer tokenize = evaluation::Tokenizer::k13a;
  /// Options of `train` that a model to start from decides.
  std::set<std::string> decided_by_start;

  /// Whether the trainings are of a language model.
  bool is_of_language_model() const { return texts.contains("text"); }
  const Stage& last_stage() const { return stages.back(); }
  const Row& row(const std::string& name_of_row) const;
  /// Returns: the options of a stage in a row: those of the study, the stage, the row, and the row for the stage, where
  /// each wins over those before. Those that the weights to start from decide are left out. total-minutes is the
  /// stage's share.
  OptionList options_of(const Row& row, const Stage& stage) const;
  /// Throws: Error(kUsage) for what does not fit: a text or model that no stage makes, a share without minutes.
  void check() const;
};

}  // namespace dragoman::study
