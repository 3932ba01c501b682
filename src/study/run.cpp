#include "study/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/lap.h"
#include "base/sha256.h"
#include "data/text/text_file.h"
#include "evaluation/chrf.h"
#include "models/model_folder.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTextsName = "texts";
constexpr const char* kHashesName = "texts.json";
constexpr const char* kMarksName = "done";
constexpr const char* kManyHypotheses = "16";

std::string joined_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "+"));
}

fs::path made(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  base::check(!failed, base::ErrorKind::kCannotWrite, "{}: cannot make the folder: {}", folder.string(),
              failed.message());
  return folder;
}

void add_files(std::vector<std::string>& words, const std::string& flag, const std::vector<fs::path>& files) {
  if (!files.empty()) {
    words.push_back(flag);
    std::ranges::transform(files, std::back_inserter(words), [](const fs::path& file) { return file.string(); });
  }
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Ends a cell; StudyFolder::run catches it.
struct CommandFailed {
  int status;
  std::string words;
};

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

// The command that a test set goes through: its name and its input.
std::vector<std::string> command_of(const TestSet& test, evaluation::LineKind scored) {
  if (test.text.empty()) {
    return {"translate", "--input=" + test.source.string()};
  }
  return {scored == evaluation::LineKind::kTags ? "tag" : "classify", "--columns", "--input=" + test.text.string()};
}

}  // namespace

std::string Cell::name() const {
  return fmt::format("{}, seed {}", row->name, seed);
}

std::vector<std::string> train_arguments(const Study& study, const Cell& cell, const Stage& stage) {
  std::vector<std::string> words = {"train"};
  append(words, study.options_of(*cell.row, stage).arguments());
  words.push_back(fmt::format("--seed={}", cell.seed));
  return words;
}

StudyFolder::StudyFolder(const Study& study, fs::path folder)
    : study_(study), folder_(made(folder)), lock_(folder_), texts_(study.texts) {
  for (const auto& [name, model] : study.models) {
    base::check_usage(base::path_exists(model / models::kWeightsName), "study {}: the model {} is {}, where no {} is",
                      study.name, name, model.string(), models::kWeightsName);
  }
  keep_texts();
  prepare_tests();
}

// A study that goes on must find its texts as they were.
void StudyFolder::keep_texts() {
  nlohmann::json hashes;
  for (const auto& [name, path] : texts_) {
    hashes[name] = base::sha256_file(path) + study_.part_of(name).words();
  }
  const fs::path kept = folder_ / kHashesName;
  if (base::path_exists(kept)) {
    const nlohmann::json before = base::parse_json(base::read_file(kept), kept.string());
    for (const auto& [name, path] : texts_) {
      base::check_usage(before.value(name, "") == hashes[name],
                        "{}: is a study of another text than {} ({}); name another --folder", folder_.string(),
                        path.string(), name);
    }
  } else {
    base::write_file_atomic(kept, base::dump_json(hashes, 2) + "\n");
  }
  for (auto& [name, path] : texts_) {
    const TextPart part = study_.part_of(name);
    if (!study_.lowercase_text && part.is_whole()) {
      continue;
    }
    const fs::path copy = made(folder_ / kTextsName) / fmt::format("{}.{}", name, path.filename().string());
    if (!base::path_exists(copy)) {
      Lines lines = read_part(path, part);
      write_lines(copy, study_.lowercase_text ? lower_cased(std::move(lines)) : lines);
    }
    path = copy;
  }
}

void StudyFolder::prepare_tests() {
  if (texts_.contains("valid-source")) {
    tests_.push_back({"validation", texts_.at("valid-source"), texts_.at("valid-target"), 1});
  }
  if (texts_.contains("valid-text") && study_.scored_lines() != evaluation::LineKind::kTranslations) {
    tests_.push_back({.name = "validation", .source = {}, .target = {}, .text = texts_.at("valid-text")});
  }
  for (TestSet test : study_.tests) {
    const auto prepare = [&](fs::path& path) {
      if (test.join == 1 && !study_.lowercase_text) {
        return;
      }
      const fs::path copy = made(folder_ / kTextsName) / fmt::format("{}.{}", test.name, path.filename().string());
      Lines lines = consecutive(data::read_lines(path), test.join);
      write_lines(copy, study_.lowercase_text ? lower_cased(std::move(lines)) : lines);
      path = copy;
    };
    if (test.text.empty()) {
      prepare(test.source);
      prepare(test.target);
      test.join = 1;
    }
    tests_.push_back(test);
  }
}

fs::path StudyFolder::cell_folder(const Cell& cell) const {
  return folder_ / cell.row->name / fmt::format("seed-{}", cell.seed);
}

fs::path StudyFolder::model_of(const Cell& cell, const std::string& name) const {
  const auto given = study_.models.find(name);
  return given != study_.models.end() ? given->second : cell_folder(cell) / name;
}

fs::path StudyFolder::translations(const Cell& cell, const std::string& search, const std::string& test) const {
  return cell_folder(cell) / fmt::format("{}.{}.txt", test, search);
}

fs::path StudyFolder::seconds(const Cell& cell, const std::string& search, const std::string& test) const {
  return cell_folder(cell) / fmt::format("{}.{}.seconds", test, search);
}

fs::path StudyFolder::perplexity(const Cell& cell, const std::string& name, const std::string& test) const {
  return cell_folder(cell) / fmt::format("{}.{}.perplexity", test, name);
}

fs::path StudyFolder::mark_of(const Cell& cell, const std::string& step) const {
  return cell_folder(cell) / kMarksName / (step + ".json");
}

std::optional<std::vector<std::string>> StudyFolder::marked(const Cell& cell, const std::string& step) const {
  const fs::path mark = mark_of(cell, step);
  if (!base::path_exists(mark)) {
    return std::nullopt;
  }
  const nlohmann::json tree = base::parse_json(base::read_file(mark), mark.string());
  base::check_data(tree.is_array() && std::ranges::all_of(tree, [](const auto& word) { return word.is_string(); }),
                   "{}: must be a list of texts; remove the file to do the step again", mark.string());
  return tree.get<std::vector<std::string>>();
}

std::vector<fs::path> StudyFolder::files_of(const Cell& cell, const std::vector<std::string>& names) const {
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    const auto given = texts_.find(name);
    files.push_back(given != texts_.end() ? given->second : cell_folder(cell) / (name + ".txt"));
  }
  return files;
}

StudyFolder::Step StudyFolder::train_step(const Cell& cell, const Stage& stage) const {
  std::vector<std::string> asked = train_arguments(study_, cell, stage);
  asked.push_back(fmt::format("source {}, target {}, text {}, from {}", joined_names(stage.source),
                              joined_names(stage.target), joined_names(stage.text), stage.start_from));
  return {stage.name, asked, [this, cell, &stage](const Program& program) {
            std::vector<std::string> words = train_arguments(study_, cell, stage);
            words.push_back("--model=" + made(model_of(cell, stage.name)).string());
            if (!stage.start_from.empty()) {
              words.push_back("--initial-model=" + model_of(cell, stage.start_from).string());
            }
            add_files(words, "--source", files_of(cell, stage.source));
            add_files(words, "--target", files_of(cell, stage.target));
            add_files(words, "--text", files_of(cell, stage.text));
            for (const char* name : {"valid-source", "valid-target", "valid-text"}) {
              if (const auto given = texts_.find(name); given != texts_.end()) {
                words.push_back(fmt::format("--{}={}", name, given->second.string()));
              }
            }
            call(program, words);
          }};
}

StudyFolder::Step StudyFolder::translate_step(const Cell& cell, const Stage& stage) const {
  OptionList options = stage.options;
  if (!stage.nearest_to.empty() && options.find("nbest") == nullptr) {
    options.set("beam-size", {kManyHypotheses});
    options.set("nbest", {kManyHypotheses});
  }
  const std::vector<std::string>& names = stage.kind == StageKind::kBackTranslate ? stage.target : stage.source;
  std::vector<std::string> asked = {"translate", stage.model, joined_names(names), joined_names(stage.nearest_to)};
  append(asked, options.arguments());
  return {stage.name, asked, [this, cell, &stage, options, names](const Program& program) {
            const fs::path output = cell_folder(cell) / (stage.name + ".txt");
            const fs::path hypotheses = output.string() + ".hypotheses", input = output.string() + ".input";
            const std::vector<fs::path> files = files_of(cell, names);
            const bool is_one = files.size() == 1;
            if (!is_one) {
              write_lines(input, joined(files));
            }
            std::vector<std::string> words = {"translate", "--model=" + model_of(cell, stage.model).string(),
                                              "--input=" + (is_one ? files.front() : input).string(),
                                              "--output=" + (stage.nearest_to.empty() ? output : hypotheses).string()};
            append(words, options.arguments());
            call(program, words);
            if (!stage.nearest_to.empty()) {
              write_lines(output, nearest(data::read_lines(hypotheses), joined(files_of(cell, stage.nearest_to))));
            }
            base::remove_quietly(hypotheses);
            base::remove_quietly(input);
          }};
}

// By the model of a stage, or by agreement with another translation.
std::vector<double> StudyFolder::scores_of(const Cell& cell, const Stage& stage, const Program& program,
                                           const Lines& targets) const {
  if (stage.model.empty()) {
    return agreements(targets, joined(files_of(cell, stage.nearest_to)));
  }
  const fs::path prefix = cell_folder(cell) / stage.name;
  const fs::path source = prefix.string() + ".input", target = prefix.string() + ".output",
                 scores = prefix.string() + ".scores";
  write_lines(source, joined(files_of(cell, stage.source)));
  write_lines(target, targets);
  std::vector<std::string> words = {"score", "--model=" + model_of(cell, stage.model).string(),
                                    "--source=" + source.string(), "--target=" + target.string(),
                                    "--output=" + scores.string()};
  append(words, stage.options.arguments());
  call(program, words);
  std::vector<double> result;
  std::ranges::transform(read_scores(scores), std::back_inserter(result), &decoding::PairScore::per_token);
  for (const fs::path& file : {source, target, scores}) {
    base::remove_quietly(file);
  }
  return result;
}

StudyFolder::Step StudyFolder::filter_step(const Cell& cell, const Stage& stage) const {
  std::vector<std::string> asked = {"filter",
                                    stage.model,
                                    joined_names(stage.source),
                                    joined_names(stage.target),
                                    joined_names(stage.nearest_to),
                                    fmt::format("{}", stage.keep)};
  append(asked, stage.options.arguments());
  return {stage.name, asked, [this, cell, &stage](const Program& program) {
            const Lines sources = joined(files_of(cell, stage.source)), targets = joined(files_of(cell, stage.target));
            const std::vector<size_t> kept = best_lines(scores_of(cell, stage, program, targets), stage.keep);
            base::check_data(!kept.empty(), "study: {}: stage {} keeps no line; keep more", cell.name(), stage.name);
            write_lines(cell_folder(cell) / (stage.name + ".source.txt"), chosen(sources, kept));
            write_lines(cell_folder(cell) / (stage.name + ".target.txt"), chosen(targets, kept));
          }};
}

StudyFolder::Step StudyFolder::tune_step(const Cell& cell) const {
  return {"tune", {"tune"}, [this, cell](const Program& program) {
            const fs::path model = model_of(cell, study_.last_stage().name);
            call(program,
                 {"tune", "--model=" + model.string(), "--source=" + texts_.at("valid-source").string(),
                  "--target=" + texts_.at("valid-target").string(),
                  fmt::format("--tokenize={}", evaluation::tokenizer_name(study_.score.tokenize))},
                 model / "tuning.md");
          }};
}

StudyFolder::Step StudyFolder::translations_step(const Cell& cell, size_t search) const {
  const auto& [name, options] = study_.searches[search];
  std::vector<std::string> asked = {"search", study_.tune ? "tuned" : ""};
  append(asked, options.arguments());
  for (const TestSet& test : tests_) {
    asked.push_back(test.name);
  }
  return {"search-" + name, asked, [this, cell, search](const Program& program) {
            OptionList given = study_.searches[search].second;
            if (const auto* reverse = given.find("reverse-model");
                reverse != nullptr && study_.names_model(reverse->front())) {
              given.set("reverse-model", {model_of(cell, reverse->front()).string()});
            }
            const std::string& of_search = study_.searches[search].first;
            for (const TestSet& test : tests_) {
              std::vector<std::string> words = command_of(test, study_.scored_lines());
              words.push_back("--model=" + model_of(cell, study_.last_stage().name).string());
              words.push_back("--output=" + translations(cell, of_search, test.name).string());
              append(words, given.arguments());
              base::Lap lap;
              call(program, words);
              base::write_file_atomic(seconds(cell, of_search, test.name), fmt::format("{:.3f}\n", lap()));
            }
          }};
}

StudyFolder::Step StudyFolder::perplexity_step(const Cell& cell, size_t entry) const {
  const auto& [name, options] = study_.perplexities[entry];
  std::vector<std::string> asked = {"perplexity"};
  append(asked, options.arguments());
  for (const TestSet& test : tests_) {
    asked.push_back(test.name);
  }
  return {"perplexity-" + name, asked, [this, cell, entry](const Program& program) {
            const auto& [of_entry, given] = study_.perplexities[entry];
            for (const TestSet& test : tests_) {
              const fs::path file = perplexity(cell, of_entry, test.name), scores = file.string() + ".scores";
              std::vector<std::string> words = {"score", "--model=" + model_of(cell, study_.last_stage().name).string(),
                                                "--source=" + test.source.string(), "--target=" + test.target.string(),
                                                "--output=" + scores.string()};
              append(words, given.arguments());
              call(program, words);
              base::write_file_atomic(file, fmt::format("{:.6f}\n", decoding::perplexity(read_scores(scores))));
              base::remove_quietly(scores);
            }
          }};
}

std::vector<StudyFolder::Step> StudyFolder::steps_of(const Cell& cell) const {
  std::vector<Step> steps;
  for (const Stage& stage : study_.stages) {
    steps.push_back(stage.kind == StageKind::kTrain    ? train_step(cell, stage)
                    : stage.kind == StageKind::kFilter ? filter_step(cell, stage)
                                                       : translate_step(cell, stage));
  }
  if (tests_.empty()) {
    return steps;
  }
  if (study_.tune) {
    steps.push_back(tune_step(cell));
  }
  for (size_t search = 0; search < study_.searches.size(); ++search) {
    steps.push_back(translations_step(cell, search));
  }
  for (size_t entry = 0; entry < study_.perplexities.size(); ++entry) {
    steps.push_back(perplexity_step(cell, entry));
  }
  return steps;
}

int StudyFolder::run(const Cell& cell, const Program& program, const std::function<void(const std::string&)>& say) const
    try {
  made(mark_of(cell, "any").parent_path());
  for (const Step& step : steps_of(cell)) {
    const auto mark = marked(cell, step.name);
    if (!mark.has_value()) {
      say(fmt::format("{}: {}", cell.name(), step.name));
      step.act(program);
      base::write_file_atomic(mark_of(cell, step.name), base::dump_json(step.asked, 2) + "\n");
      continue;
    }
    base::check_usage(*mark == step.asked,
                      "{}: {} was done with \"{}\", now it is \"{}\"; name another --folder, or remove {}",
                      cell_folder(cell).string(), step.name, fmt::join(*mark, " "), fmt::join(step.asked, " "),
                      cell_folder(cell).string());
  }
  return 0;
} catch (const CommandFailed& failed) {
  say(fmt::format("{}: status {} of: dragoman {}", cell.name(), failed.status, failed.words));
  return failed.status;
}

bool StudyFolder::is_done(const Cell& cell) const {
  return std::ranges::all_of(steps_of(cell), [&](const Step& step) {
    const auto mark = marked(cell, step.name);
    return mark.has_value() && *mark == step.asked;
  });
}

}  // namespace dragoman::study
