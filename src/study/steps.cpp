#include "study/steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "base/lap.h"
#include "data/text/text_file.h"
#include "evaluation/chrf.h"
#include "models/model_folder.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTuningName = "tuning.md";

std::string joined_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "+"));
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void call(const Program& program, const std::vector<std::string>& words, const fs::path& output = {}) {
  const int status = program(words, output);
  if (status != 0) {
    throw CommandFailed{status, fmt::format("{}", fmt::join(words, " "))};
  }
}

// Agreement of two translations of each sentence.
std::vector<double> agreements(const Lines& first, const Lines& second) {
  base::check_data(first.size() == second.size(), "study: texts of {} and of {} lines cannot be compared", first.size(),
                   second.size());
  const evaluation::Chrf chrf({});
  const evaluation::Lines known[] = {second};
  const evaluation::CountTable counts = chrf.count(first, known);
  std::vector<double> scores;
  for (size_t i = 0; i < counts.rows(); ++i) {
    scores.push_back(chrf.score(counts.row(i)));
  }
  return scores;
}

Lines chosen(const Lines& lines, const std::vector<size_t>& numbers) {
  Lines kept;
  std::ranges::transform(numbers, std::back_inserter(kept), [&](size_t i) { return lines[i]; });
  return kept;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

// The command that a test set goes through: its name and its input.
std::vector<std::string> command_of(const TestSet& test, evaluation::LineKind scored) {
  if (test.text.empty()) {
    return {"translate", "--input=" + test.source.string()};
  }
  return {scored == evaluation::LineKind::kTags ? "tag" : "classify", "--columns", "--input=" + test.text.string()};
}

// Makes the steps of one cell.
class CellSteps {
 public:
  CellSteps(const Study& study, const StudyFolder& folder, const Cell& cell)
      : study_(study), folder_(folder), cell_(cell) {}

  Step of_stage(const Stage& stage) const {
    switch (stage.kind) {
      case StageKind::kTrain:
        return train(stage);
      case StageKind::kFilter:
        return filter(stage);
      default:
        return translate(stage);
    }
  }

  Step tune() const {
    const fs::path model = last_model();  // a form of the study without tuning removes what was chosen
    return {"tune",
            tuning_words(),
            {model / kTuningName, model / models::kDecodingName},
            [steps = *this](const Program& program) { steps.run_tune(program); }};
  }

  // Translations, labels or tags of all test sets.
  Step search(const NamedOptions& search) const {
    std::vector<fs::path> outputs;
    for (const TestSet& test : folder_.tests()) {
      outputs.push_back(folder_.translations(cell_, search.first, test.name));
    }
    std::vector<std::string> words = {"search"};
    append(words, study_.tune ? tuning_words() : std::vector<std::string>{""});
    return {"search-" + search.first, asked_of_tests(words, search.second), outputs,
            [steps = *this, &search](const Program& program) { steps.run_search(program, search); }};
  }

  Step perplexity(const NamedOptions& entry) const {
    std::vector<fs::path> outputs;
    for (const TestSet& test : folder_.tests()) {
      outputs.push_back(folder_.perplexity(cell_, entry.first, test.name));
    }
    return {"perplexity-" + entry.first, asked_of_tests({"perplexity"}, entry.second), outputs,
            [steps = *this, &entry](const Program& program) { steps.run_perplexity(program, entry); }};
  }

 private:
  Step train(const Stage& stage) const {
    std::vector<std::string> asked = train_arguments(study_, cell_, stage);
    asked.push_back(fmt::format("source {}, target {}, text {}, from {}", joined_names(stage.source),
                                joined_names(stage.target), joined_names(stage.text), stage.start_from));
    if (study_.is_reversed(stage)) {
      asked.emplace_back("validated in reverse");
    }
    return {stage.name,
            asked,
            {},
            [steps = *this, &stage](const Program& program) { steps.run_train(program, stage); },
            model_of(stage.name)};
  }

  void run_train(const Program& program, const Stage& stage) const {
    std::vector<std::string> words = train_arguments(study_, cell_, stage);
    words.push_back("--model=" + model_of(stage.name));
    if (!stage.start_from.empty()) {
      words.push_back("--initial-model=" + model_of(stage.start_from));
    }
    append(words, text_arguments(study_, stage, [&](const std::string& name, const std::string& side) {
             return side.starts_with("valid-") && !folder_.has_text(name) ? fs::path() : folder_.file_of(cell_, name);
           }));
    call(program, words);
  }

  OptionList text_options(const Stage& stage) const { return study_.text_options(*cell_.row, stage); }

  // Translations of a distillation or back-translation; of several hypotheses the one nearest a known translation.
  Step translate(const Stage& stage) const {
    const OptionList options = text_options(stage);
    const auto& names = stage.input_texts();
    std::vector<std::string> asked = {"translate", stage.model, joined_names(names), joined_names(stage.nearest_to)};
    append(asked, options.arguments());
    return {stage.name, asked, {}, [steps = *this, &stage, &names, options](const Program& program) {
              steps.run_translate(program, stage, names, options);
            }};
  }

  void run_translate(const Program& program, const Stage& stage, const std::vector<std::string>& names,
                     const OptionList& options) const {
    const fs::path output = folder_.cell_folder(cell_) / (stage.name + ".txt");
    const fs::path hypotheses = output.string() + ".hypotheses", input = output.string() + ".input";
    const std::vector<fs::path> files = files_of(names);
    const bool is_one = files.size() == 1;
    if (!is_one) {
      write_lines(input, joined(files));
    }
    std::vector<std::string> words = {"translate", "--model=" + model_of(stage.model),
                                      "--input=" + (is_one ? files.front() : input).string(),
                                      "--output=" + (stage.nearest_to.empty() ? output : hypotheses).string()};
    append(words, options.arguments());
    call(program, words);
    if (!stage.nearest_to.empty()) {
      const Lines known = joined(files_of(stage.nearest_to));
      check_lines(stage, "text", joined(files), "nearest-to", known);
      write_lines(output, nearest(data::read_lines(hypotheses), known));
    }
    base::remove_quietly(hypotheses);
    base::remove_quietly(input);
  }

  void check_lines(const Stage& stage, const char* first_name, const Lines& first, const char* second_name,
                   const Lines& second) const {
    base::check_data(first.size() == second.size(),
                     "study: {}: stage {}: {} has {} lines, {} has {}; give texts of the same lines", cell_.name(),
                     stage.name, first_name, first.size(), second_name, second.size());
  }

  Step filter(const Stage& stage) const {
    std::vector<std::string> asked = {"filter",
                                      stage.model,
                                      joined_names(stage.source),
                                      joined_names(stage.target),
                                      joined_names(stage.nearest_to),
                                      fmt::format("{}", stage.keep)};
    append(asked, text_options(stage).arguments());
    return {
        stage.name, asked, {}, [steps = *this, &stage](const Program& program) { steps.run_filter(program, stage); }};
  }

  void run_filter(const Program& program, const Stage& stage) const {
    const Lines sources = joined(files_of(stage.source)), targets = joined(files_of(stage.target));
    check_lines(stage, "source", sources, "target", targets);
    std::vector<size_t> kept = best_lines(pair_scores(program, stage, targets), stage.keep);
    std::erase_if(kept,
                  [&](size_t i) { return is_blank(sources[i]) || is_blank(targets[i]); });  // a training drops them
    base::check_data(!kept.empty(), "study: {}: stage {} keeps no line; keep more", cell_.name(), stage.name);
    const fs::path folder = folder_.cell_folder(cell_);
    write_lines(folder / (stage.name + ".source.txt"), chosen(sources, kept));
    write_lines(folder / (stage.name + ".target.txt"), chosen(targets, kept));
  }

  // By the model of a stage, or by agreement with another translation.
  std::vector<double> pair_scores(const Program& program, const Stage& stage, const Lines& targets) const {
    if (stage.model.empty()) {
      return agreements(targets, joined(files_of(stage.nearest_to)));
    }
    const fs::path prefix = folder_.cell_folder(cell_) / stage.name;
    const fs::path source = prefix.string() + ".input", target = prefix.string() + ".output",
                   scores = prefix.string() + ".scores";
    write_lines(source, joined(files_of(stage.source)));
    write_lines(target, targets);
    std::vector<std::string> words = {"score", "--model=" + model_of(stage.model), "--source=" + source.string(),
                                      "--target=" + target.string(), "--output=" + scores.string()};
    append(words, text_options(stage).arguments());
    call(program, words);
    std::vector<double> result;
    std::ranges::transform(read_scores(scores), std::back_inserter(result), &decoding::PairScore::per_token);
    for (const fs::path& file : {source, target, scores}) {
      base::remove_quietly(file);
    }
    return result;
  }

  // Without files.
  std::vector<std::string> tuning_words() const {
    std::vector<std::string> words = {"tune",
                                      fmt::format("--tokenize={}", evaluation::tokenizer_name(study_.score.tokenize))};
    if (study_.score.lowercase) {
      words.emplace_back("--lowercase");
    }
    return words;
  }

  void run_tune(const Program& program) const {
    std::vector<std::string> words = tuning_words();
    append(words, {"--model=" + last_model(), "--source=" + folder_.text("valid-source").string(),
                   "--target=" + folder_.text("valid-target").string()});
    call(program, words, fs::path(last_model()) / kTuningName);
  }

  // `asked` of a step that goes through the test sets with options.
  std::vector<std::string> asked_of_tests(std::vector<std::string> words, const OptionList& options) const {
    append(words, options.arguments());
    append(words, folder_.test_facts());
    return words;
  }

  void run_search(const Program& program, const NamedOptions& search) const {
    if (!study_.tune) {
      forget_tuning();
    }
    OptionList options = search.second;
    if (const auto* reverse = options.find("reverse-model");
        reverse != nullptr && study_.names_model(reverse->front())) {
      options.set("reverse-model", {model_of(reverse->front())});
    }
    for (const TestSet& test : folder_.tests()) {
      std::vector<std::string> words = command_of(test, study_.scored_lines());
      words.push_back("--model=" + last_model());
      words.push_back("--output=" + folder_.translations(cell_, search.first, test.name).string());
      append(words, options.arguments());
      base::Lap lap;
      call(program, words);
      base::write_file_atomic(folder_.seconds(cell_, search.first, test.name), fmt::format("{:.3f}\n", lap()));
    }
  }

  // The settings that an earlier form of the study has tuned.
  void forget_tuning() const {
    const fs::path model = last_model();
    if (base::path_exists(model / models::kDecodingName)) {
      const base::FolderLock lock(model);
      models::store_decoding(model, "");
    }
  }

  void run_perplexity(const Program& program, const NamedOptions& entry) const {
    for (const TestSet& test : folder_.tests()) {
      const fs::path file = folder_.perplexity(cell_, entry.first, test.name), scores = file.string() + ".scores";
      std::vector<std::string> words = {"score", "--model=" + last_model(), "--source=" + test.source.string(),
                                        "--target=" + test.target.string(), "--output=" + scores.string()};
      append(words, entry.second.arguments());
      call(program, words);
      base::write_file_atomic(file, fmt::format("{:.6f}\n", decoding::perplexity(read_scores(scores))));
      base::remove_quietly(scores);
    }
  }

  std::vector<fs::path> files_of(const std::vector<std::string>& names) const {
    std::vector<fs::path> files;
    std::ranges::transform(names, std::back_inserter(files),
                           [&](const std::string& name) { return folder_.file_of(cell_, name); });
    return files;
  }
  std::string model_of(const std::string& name) const { return folder_.model_of(cell_, name).string(); }
  std::string last_model() const { return model_of(study_.last_stage().name); }

  const Study& study_;
  const StudyFolder& folder_;
  Cell cell_;
};

}  // namespace

std::vector<std::string> train_arguments(const Study& study, const Cell& cell, const Stage& stage) {
  std::vector<std::string> words = {"train"};
  append(words, study.options_of(*cell.row, stage).arguments());
  words.push_back(fmt::format("--seed={}", cell.seed));
  return words;
}

std::vector<std::string> text_arguments(const Study& study, const Stage& stage, const FileOf& file_of) {
  std::vector<std::string> words;
  const auto add = [&](const char* side, const std::vector<std::string>& names) {
    if (!names.empty()) {
      words.push_back(fmt::format("--{}", side));
    }
    for (const std::string& name : names) {
      words.push_back(file_of(name, side).string());
    }
  };
  add("source", stage.source);
  add("target", stage.target);
  add("text", stage.text);
  const bool is_reversed = study.is_reversed(stage);
  const std::pair<const char*, const char*> validation[] = {
      {"valid-source", is_reversed ? "valid-target" : "valid-source"},
      {"valid-target", is_reversed ? "valid-source" : "valid-target"},
      {"valid-text", "valid-text"}};
  for (const auto& [option, name] : validation) {
    if (const fs::path file = file_of(name, name); !file.empty()) {
      words.push_back(fmt::format("--{}={}", option, file.string()));
    }
  }
  return words;
}

std::vector<Step> steps_of(const Study& study, const StudyFolder& folder, const Cell& cell) {
  const CellSteps cell_steps(study, folder, cell);
  std::vector<Step> steps;
  for (const Stage& stage : study.stages) {
    steps.push_back(cell_steps.of_stage(stage));
  }
  if (folder.tests().empty()) {
    return steps;
  }
  if (study.tune) {
    steps.push_back(cell_steps.tune());
  }
  for (const NamedOptions& search : study.searches) {
    steps.push_back(cell_steps.search(search));
  }
  for (const NamedOptions& entry : study.perplexities) {
    steps.push_back(cell_steps.perplexity(entry));
  }
  return steps;
}

}  // namespace dragoman::study
