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
#include "evaluation/evaluate.h"
#include "study/text_part.h"

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
  std::string model;                    ///< the model that translates or scores: a stage, or one of Study::models
  std::string start_from;               ///< the model whose weights are the first ones
  double share = 1.0;                   ///< of the option total-minutes
  double keep = 1.0;                    ///< share of the pairs that a filter keeps
  OptionList options;                   ///< of `train`, `translate` or `score`
  std::string place{};                  ///< of the file, for errors: "trial.yaml: line 12"; empty if no file is known

  /// Returns: the names of the texts that a stage translates or, for a filter, judges.
  const std::vector<std::string>& input_texts() const {
    return kind == StageKind::kBackTranslate || kind == StageKind::kFilter ? target : source;
  }
  bool translates() const { return kind != StageKind::kTrain && kind != StageKind::kFilter; }
};

/// The side of the pairs of a study on which a text stands.
enum class Side { kSource, kTarget };

/// One row of the study: what it changes.
struct Row {
  std::string name;
  std::string about;
  std::optional<double> paper;  ///< the BLEU that the paper has for this row
  OptionList options;           ///< of all trainings
  std::map<std::string, OptionList> stage_options;
  double total_minutes = 0.0;  ///< after which its last training ends, by its options and preset; 0 = no time ends it
  std::string place{};         ///< of the file, for errors: "trial.yaml: line 12"; empty if no file is known

  /// Returns: the options that the row changes in a stage.
  OptionList changes_of(const Stage& stage) const;
};

/// What models are scored with: a pair of texts, or one text with the right labels or tags. Consecutive lines of a pair
/// may be joined, to test longer sentences.
struct TestSet {
  std::string name;
  std::filesystem::path source, target;
  int64_t join = 1;
  std::filesystem::path text{};  ///< as a training file of an encoder; empty = source and target count
};

/// Options under a name, of a search or of a perplexity.
using NamedOptions = std::pair<std::string, OptionList>;

/// A study: rows times seeds, each a run of all stages. docs/studies.md describes the file.
struct Study {
  std::string name;  ///< of the file, without folder and ending
  std::string title, about;
  std::string baseline;  ///< name of a row
  std::vector<uint64_t> seeds = {1};
  std::vector<Row> rows;
  std::vector<Stage> stages;
  std::map<std::string, std::filesystem::path> texts;   ///< by name
  std::map<std::string, std::filesystem::path> models;  ///< folders of models that no stage makes, by name
  std::map<std::string, TextPart> parts;                ///< of texts, by name; others are taken whole
  std::vector<TestSet> tests;
  OptionList options;                                      ///< of all trainings
  std::vector<NamedOptions> searches = {{"default", {}}};  ///< the first is compared
  std::vector<NamedOptions> perplexities;                  ///< options of `score`; the report has what each gives
  bool lowercase_text = false;                             ///< train and score on lower-cased copies
  bool tune = false;  ///< choose beam size and length penalty on the validation text
  /// Metrics of one kind of lines, of which the first is compared; BLEU's tokenizer and whether it ignores case; the
  /// label of f1.
  evaluation::EvaluateOptions score;
  std::vector<double> shown_minutes;  ///< of the last training, after which the report has the validation score
  std::string reached_row;  ///< the report says when the others reach the best score of this row; may be empty
  /// Options of `train` that a model to start from decides, and the one that names it.
  std::set<std::string> decided_by_start;

  /// What is taken of a text.
  TextPart part_of(const std::string& text) const { return parts.contains(text) ? parts.at(text) : TextPart{}; }
  /// Whether the study works with a copy of a text: in lower case, or of a part.
  bool copies(const std::string& text) const { return lowercase_text || !part_of(text).is_whole(); }
  /// Whether the last training reads one text, not a source and a target. Without stages the names of the texts say it.
  bool trains_on_text() const {
    return stages.empty() ? texts.contains("text") && !texts.contains("source") : !last_stage().text.empty();
  }
  /// Whether tests are translated, for which there are searches; encoders have none.
  bool has_searches() const { return scored_lines() == evaluation::LineKind::kTranslations; }
  /// The kind of lines that the metrics compare.
  evaluation::LineKind scored_lines() const { return evaluation::line_kind(score.metrics.front()); }
  const Stage& last_stage() const { return stages.back(); }
  /// Throws: Error(kUsage), "study trial: no row is called "bass"; rows: base, wide; did you mean "base"?".
  const Row& row(const std::string& name_of_row) const;
  /// Returns: the stage that trains under this name, or null.
  const Stage* training(const std::string& model) const;
  /// Returns: where an error is: a place of the file, or "study trial" if `place` is empty.
  std::string where(const std::string& place) const { return place.empty() ? "study " + name : place; }
  /// Whether a stage that trains, or one of `models`, has this name.
  bool names_model(const std::string& model) const;
  /// Returns: the one side on which the texts stand, as far as names and the languages of files tell it. Nothing for
  /// texts of both sides and for texts of which nothing is known.
  std::optional<Side> side_of(const std::vector<std::string>& names_of_texts) const;
  /// Whether a training reads the target language alone and writes the source language alone, as far as known.
  bool is_reversed(const Stage& stage) const;
  /// Returns the given models, and the files and model folders that options name, such as a tokenizer: by what names
  /// them, "model teacher", "--tokenizer vocabulary.spm". What a stage makes is none of them.
  std::vector<std::pair<std::string, std::filesystem::path>> given_files() const;
  /// Returns: the options of a list that name files or folders of models which no stage makes, with what they name.
  std::vector<std::pair<std::string, std::filesystem::path>> files_named_by(const OptionList& list) const;
  /// Returns: the options of a stage that makes a text, in a row. A search for the hypothesis nearest a known
  /// translation finds and writes many.
  OptionList text_options(const Row& row, const Stage& stage) const;
  /// Returns: the options of a stage that trains, in a row: of the study, the stage, the row, and the row for the
  /// stage, where each wins over those before. Those that the weights to start from decide are left out: of a stage's
  /// start_from, or of the row's option initial-model, where the row's stay. A stage with a start_from has no
  /// initial-model beside it. total-minutes is the stage's share.
  OptionList options_of(const Row& row, const Stage& stage) const;
};

}  // namespace dragoman::study
