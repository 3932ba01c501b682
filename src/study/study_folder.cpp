#include "study/study_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "data/text/text_file.h"
#include "models/model_folder.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTextsName = "texts";
constexpr const char* kHashesName = "texts.json";
constexpr const char* kMarksName = "done";

fs::path made(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  base::check(!failed, base::ErrorKind::kCannotWrite, "{}: cannot make the folder: {}", folder.string(),
              failed.message());
  return folder;
}

}  // namespace

std::string Cell::name() const {
  return fmt::format("{}, seed {}", row->name, seed);
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

fs::path StudyFolder::file_of(const Cell& cell, const std::string& name) const {
  return has_text(name) ? text(name) : cell_folder(cell) / (name + ".txt");
}

void StudyFolder::prepare(const Cell& cell) const {
  made(cell_folder(cell) / kMarksName);
}

void StudyFolder::mark(const Cell& cell, const std::string& step, const std::vector<std::string>& asked) const {
  base::write_file_atomic(mark_of(cell, step), base::dump_json(asked, 2) + "\n");
}

}  // namespace dragoman::study
