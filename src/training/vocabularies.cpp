#include "training/vocabularies.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/utf8.h"
#include "data/text/text_file.h"
#include "data/vocabulary/tokenizer_file.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "models/model_folder.h"

namespace dragoman::training {
namespace {

data::Vocabulary learn(const std::vector<std::filesystem::path>& files, const TrainOptions& options,
                       std::vector<std::string>& notes) {
  data::VocabularyOptions wanted = options.vocabulary;
  wanted.seed = options.run.seed;
  data::TrainedVocabulary trained = data::train_vocabulary(files, wanted);
  if (!trained.note.empty()) {
    notes.push_back(trained.note);
  }
  return trained.vocabulary;
}

data::Vocabulary read_sentencepiece(const std::filesystem::path& file) {
  data::Vocabulary vocabulary = data::read_tokenizer_file(file);
  base::check_usage(vocabulary.format() == data::Vocabulary::Format::kSentencePiece,
                    "train: {}: a translation model that starts from nothing takes a SentencePiece model",
                    file.string());
  return vocabulary;
}

constexpr int kLinesLookedAt = 10'000;

// White space is squeezed by every normalisation, and nobody misses it.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

std::string trim(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t end = line.find_last_not_of(", ");
  return begin == std::string::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
}

// "\"dropout\"" of "\"dropout\": 0.1".
std::string key_of(const std::string& line) {
  return line.substr(0, line.find(':'));
}

bool has_key(std::span<const std::string> lines, const std::string& key) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return key_of(trim(line)) == key; });
}

}  // namespace

data::VocabularyPair find_vocabularies(const TrainOptions& options, std::vector<std::string>& notes) {
  if (!options.tokenizer.empty()) {
    const data::Vocabulary source = read_sentencepiece(options.tokenizer);
    return {source, options.joint_vocabulary ? source : read_sentencepiece(options.target_tokenizer)};
  }
  if (!options.joint_vocabulary) {
    return {learn(options.source, options, notes), learn(options.target, options, notes)};
  }
  std::vector<std::filesystem::path> both = options.source;
  both.insert(both.end(), options.target.begin(), options.target.end());
  const data::Vocabulary joint = learn(both, options, notes);
  return {joint, joint};
}

std::string normalization_warning(const std::vector<std::filesystem::path>& target,
                                  const data::Vocabulary& vocabulary) {
  data::LineReader reader(target.front());
  int lines = 0, changed = 0;
  for (std::string line; lines < kLinesLookedAt && reader.next(line); ++lines) {
    changed += without_spaces(vocabulary.normalize(line)) == without_spaces(line) ? 0 : 1;
  }
  return changed * 10 <= lines ? ""
                               : fmt::format(
                                     "{} of the first {} lines of {} hold characters that the vocabulary "
                                     "normalises away, so that no translation will have them; "
                                     "--normalization identity keeps them",
                                     changed, lines, target.front().string());
}

ModelTexts model_texts(const data::VocabularyPair& vocabularies, const models::ModelConfig& config) {
  if (vocabularies.source.sha256() == vocabularies.target.sha256()) {
    const bool is_tokenizer = vocabularies.source.format() == data::Vocabulary::Format::kTokenizerJson;
    return {config.to_json(),
            {{is_tokenizer ? models::kTokenizerName : models::kJointVocabularyName, vocabularies.source.bytes()}}};
  }
  return {config.to_json(),
          {{models::kSourceVocabularyName, vocabularies.source.bytes()},
           {models::kTargetVocabularyName, vocabularies.target.bytes()}}};
}

std::string first_difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> old_lines = base::split_lines(before), new_lines = base::split_lines(now);
  for (size_t line = 0; line < std::min(old_lines.size(), new_lines.size()); ++line) {
    if (old_lines[line] == new_lines[line]) {
      continue;
    }
    const std::string before_line = trim(old_lines[line]), now_line = trim(new_lines[line]);
    const bool is_gone = !has_key(std::span(new_lines).subspan(line), key_of(before_line));
    const bool is_new = !has_key(std::span(old_lines).subspan(line), key_of(now_line));
    if (is_gone != is_new) {
      return is_new ? fmt::format("no {} is now {}", key_of(now_line), now_line)
                    : fmt::format("{} is now no {}", before_line, key_of(before_line));
    }
    return fmt::format("{} is now {}", before_line, now_line);
  }
  return "other keys";
}

}  // namespace dragoman::training
