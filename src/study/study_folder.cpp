#include "study/study_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/manifest.h"
#include "base/sha256.h"
#include "data/text/text_file.h"
#include "models/model_folder.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeedPrefix = "seed-";
constexpr const char* kTextsName = "texts";
constexpr const char* kTestsName = "tests";
constexpr const char* kMarksName = "done";

fs::path made(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  base::check(!failed, base::ErrorKind::kCannotWrite, "{}: cannot make the folder: {}", folder.string(),
              failed.message());
  return folder;
}

// Of a file; of a model folder: of its manifest, which has the hashes of the model, and of what decides its search.
// Empty for what is not there.
std::string hash_of(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) {
    return base::path_exists(path) ? base::sha256_file(path) : "";
  }
  std::string hashes;
  for (const char* name : {base::kManifestName, models::kDecodingName, models::kShortlistName}) {
    hashes += base::path_exists(path / name) ? base::sha256_file(path / name) : "-";
  }
  return hashes;
}

// The words of a mark, or nothing if it is not there.
std::optional<std::vector<std::string>> words_of(const fs::path& mark) {
  if (!base::path_exists(mark)) {
    return std::nullopt;
  }
  const nlohmann::json tree = base::parse_json(base::read_file(mark), mark.string());
  base::check_data(tree.is_array() && std::ranges::all_of(tree, [](const auto& word) { return word.is_string(); }),
                   "{}: must be a list of texts; remove the folder of the run to do it again", mark.string());
  return tree.get<std::vector<std::string>>();
}

}  // namespace

std::string Cell::name() const {
  return fmt::format("{}, seed {}", row->name, seed);
}

StudyFolder::StudyFolder(const Study& study, fs::path folder)
    : study_(study), folder_(made(folder)), lock_(folder_), texts_(study.texts) {
  check_facts();
  keep_texts();
  prepare_tests();
}

// A study that goes on must find its texts and models as they were. Others may come.
void StudyFolder::check_facts() {
  nlohmann::json now = {{"texts", nlohmann::json::object()}, {"models", nlohmann::json::object()}};
  for (const auto& [name, path] : texts_) {
    const std::string hash = base::sha256_file(path);
    now["texts"][name] = hash + study_.part_of(name).words();
    if (!study_.copies(name)) {
      text_hashes_[name] = hash;
    }
  }
  for (const auto& [name, model] : study_.models) {
    now["models"][name] = base::sha256_file(model / models::kWeightsName);
  }
  for (const auto& [name, path] : study_.given_files()) {
    if (std::string hash = hash_of(path); !hash.empty()) {
      now["files"][name] = std::move(hash);
    }
  }
  now["lowercase"] = study_.lowercase_text;
  const fs::path kept = folder_ / kFactsName;
  if (base::path_exists(kept)) {
    nlohmann::json before = base::parse_json(base::read_file(kept), kept.string());
    if (!before.value("texts", nlohmann::json()).is_object()) {  // of an earlier version: texts alone
      before = {{"texts", before}};
    }
    const auto same = [&](const char* kind, const std::string& name, const fs::path& path) {
      const nlohmann::json all = before.value(kind, nlohmann::json::object());
      base::check_usage(!all.contains(name) || all[name] == now[kind][name],
                        "{}: is a study of another {} than {} ({}); name another --folder", folder_.string(),
                        std::string_view(kind) == "texts" ? "text" : "model", path.string(), name);
    };
    for (const auto& [name, path] : texts_) {
      same("texts", name, path);
    }
    for (const auto& [name, model] : study_.models) {
      same("models", name, model);
    }
    check_same_validation(before.value("texts", nlohmann::json::object()));
    const nlohmann::json files = before.value("files", nlohmann::json::object());
    for (const auto& [name, path] : study_.given_files()) {
      const bool is_known = files.contains(name) && now["files"].contains(name);
      base::check_usage(!is_known || files[name] == now["files"][name],
                        "{}: is a study of other files than are now in {}, which is given as {}; name another --folder",
                        folder_.string(), path.string(), name);
    }
    base::check_usage(before.value("lowercase", study_.lowercase_text) == study_.lowercase_text,
                      "{}: is a study {} lowercase: true; name another --folder", folder_.string(),
                      study_.lowercase_text ? "without" : "with");
    before.merge_patch(now);
    now = std::move(before);
  }
  base::write_file_atomic(kept, base::dump_json(now, 2) + "\n");
}

// It decides which model of a training is the best, and when patience ends.
void StudyFolder::check_same_validation(const nlohmann::json& before) const {
  for (const std::string name : {"valid-source", "valid-target", "valid-text"}) {
    base::check_usage(before.empty() || before.contains(name) == texts_.contains(name),
                      "{}: is a study {} the text {}; name another --folder", folder_.string(),
                      before.contains(name) ? "with" : "without", name);
  }
}

// Copies of parts of texts and of texts in lower case.
void StudyFolder::keep_texts() {
  for (auto& [name, path] : texts_) {
    if (!study_.copies(name)) {
      continue;
    }
    const fs::path copy = made(folder_ / kTextsName) / copy_name(name, path);
    if (!base::path_exists(copy)) {
      Lines lines = read_part(path, study_.part_of(name));
      write_lines(copy, study_.lowercase_text ? lower_cased(std::move(lines)) : lines);
    }
    path = copy;
  }
}

void StudyFolder::prepare_tests() {
  if (texts_.contains("valid-source") && study_.scored_lines() == evaluation::LineKind::kTranslations) {
    tests_.push_back({"validation", texts_.at("valid-source"), texts_.at("valid-target"), 1});
  }
  if (texts_.contains("valid-text") && study_.scored_lines() != evaluation::LineKind::kTranslations) {
    tests_.push_back({.name = "validation", .source = {}, .target = {}, .text = texts_.at("valid-text")});
  }
  for (TestSet test : study_.tests) {
    const auto prepare = [&](fs::path& path, const char* side) {
      if (test.join == 1 && !study_.lowercase_text) {
        return;
      }
      const fs::path copy =
          made(folder_ / kTestsName) / fmt::format("{}.{}.{}", test.name, side, path.filename().string());
      Lines lines = consecutive(data::read_lines(path), test.join);
      write_lines(copy, study_.lowercase_text ? lower_cased(std::move(lines)) : lines);
      path = copy;
    };
    if (test.text.empty()) {
      prepare(test.source, "source");
      prepare(test.target, "target");
      test.join = 1;
    }
    tests_.push_back(test);
  }
  for (const TestSet& test : tests_) {
    for (const fs::path& file : {test.source, test.target, test.text}) {
      test_facts_.push_back(file.empty() ? "" : base::sha256_file(file));
    }
    test_facts_.push_back(test.name);
  }
}

fs::path StudyFolder::cell_folder(const Cell& cell) const {
  return folder_ / cell.row->name / fmt::format("{}{}", kSeedPrefix, cell.seed);
}

std::vector<uint64_t> StudyFolder::seeds_of(const Row& row) const {
  std::set<uint64_t> others;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder_ / row.name, missing)) {
    const std::string name = entry.path().filename().string();
    uint64_t seed = 0;
    if (name.starts_with(kSeedPrefix)) {
      const char *first = name.data() + kSeedPrefix.size(), *last = name.data() + name.size();
      const auto read = std::from_chars(first, last, seed);
      if (read.ec == std::errc() && read.ptr == last && std::ranges::count(study_.seeds, seed) == 0) {
        others.insert(seed);
      }
    }
  }
  std::vector<uint64_t> seeds = study_.seeds;
  seeds.insert(seeds.end(), others.begin(), others.end());
  return seeds;
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

fs::path StudyFolder::begun_of(const Cell& cell, const std::string& step) const {
  return cell_folder(cell) / kMarksName / (step + ".begun");
}

std::optional<std::vector<std::string>> StudyFolder::marked(const Cell& cell, const std::string& step) const {
  return words_of(mark_of(cell, step));
}

std::optional<std::vector<std::string>> StudyFolder::begun(const Cell& cell, const std::string& step) const {
  return words_of(begun_of(cell, step));
}

fs::path StudyFolder::file_of(const Cell& cell, const std::string& name) const {
  return has_text(name) ? text(name) : cell_folder(cell) / (name + ".txt");
}

void StudyFolder::check_texts() const {
  for (const auto& [name, hash] : text_hashes_) {
    base::check_usage(
        base::sha256_file(text(name)) == hash,
        "{}: the text {} has changed while the study ran; give the old text back, or name another --folder",
        text(name).string(), name);
  }
}

void StudyFolder::prepare(const Cell& cell) const {
  made(cell_folder(cell) / kMarksName);
}

void StudyFolder::begin(const Cell& cell, const std::string& step, const std::vector<std::string>& asked) const {
  base::write_file_atomic(begun_of(cell, step), base::dump_json(asked, 2) + "\n");
}

void StudyFolder::unmark(const Cell& cell, const std::string& step) const {
  std::error_code failed;
  fs::remove(mark_of(cell, step), failed);
  base::check(!failed, base::ErrorKind::kCannotWrite, "{}: cannot remove the file: {}", mark_of(cell, step).string(),
              failed.message());
}

void StudyFolder::mark(const Cell& cell, const std::string& step, const std::vector<std::string>& asked) const {
  base::write_file_atomic(mark_of(cell, step), base::dump_json(asked, 2) + "\n");
  base::remove_quietly(begun_of(cell, step));
}

}  // namespace dragoman::study
