#include "data/vocabulary/vocabulary_trainer.h"

#include <fmt/ranges.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "data/text/text_file.h"

namespace dragoman::data {
namespace {

constexpr size_t kMaxLineBytesToLearn = 16384;
constexpr std::string_view kUnknownMark = "\xE2\x96\x85";  // U+2585
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";    // U+2581
constexpr uint64_t kLineStream = 0x6C696E6573;             // its own random stream: "lines"

void check_options(const VocabularyOptions& options) {
  const base::Range coverage = base::field_of(&VocabularyOptions::character_coverage).range;
  base::check_usage(coverage.holds(options.character_coverage), "vocabulary: character coverage is {}, must be {}",
                    options.character_coverage, coverage.text());
  base::check_fields(options);
  base::check_usage(std::ranges::count(normalizations(), options.normalization) == 1,
                    "vocabulary: normalization is \"{}\", must be one of {}", options.normalization,
                    fmt::join(normalizations(), ", "));
}

bool in_range(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

// False for white space, controls and what the normalisation turns into spaces.
bool is_visible(char32_t c) {
  if (c <= 0xA0) {
    return in_range(c, 0x21, 0x7E);
  }
  return !(c == 0xAD || c == 0x1680 || c == 0x180E || in_range(c, 0x2000, 0x200F) || in_range(c, 0x2028, 0x202F) ||
           in_range(c, 0x205F, 0x206F) || c == 0x2581 || c == 0x3000 || c == 0xFEFF || in_range(c, 0xFFF9, 0xFFFD));
}

// SentencePiece passes over lines that are long or hold its own mark for unknown text, and ends the process when its
// unigram trainer is left without any character: it is only given lines that it will use.
bool is_usable(const std::string& line) {
  if (line.size() > kMaxLineBytesToLearn || line.find(kUnknownMark) != std::string::npos) {
    return false;
  }
  const std::u32string code_points = base::decode_utf8(line);
  return std::any_of(code_points.begin(), code_points.end(), is_visible);
}

uint64_t count_lines(const std::vector<std::filesystem::path>& files) {
  uint64_t lines = 0;
  for (const auto& file : files) {
    lines += data::count_lines(file);
  }
  return lines;
}

// Streams the lines of all files to SentencePiece, a seeded even choice of them when there are too many.
// It calls back through foreign code, so errors are kept and rethrown by the caller.
class LineFeed : public sentencepiece::SentenceIterator {
 public:
  LineFeed(const std::vector<std::filesystem::path>& files, uint64_t max_lines, uint64_t seed)
      : files_(files), unseen_(count_lines(files)), random_(seed, kLineStream) {
    wanted_ = max_lines == 0 ? unseen_ : std::min(max_lines, unseen_);
    Next();
  }

  bool done() const override { return done_; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

  void Next() override {
    try {
      done_ = !advance();
    } catch (...) {
      error_ = std::current_exception();
      done_ = true;
    }
    used_ += done_ ? 0 : 1;
  }

  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }
  uint64_t lines_used() const { return used_; }

 private:
  // Selection sampling: each line is taken with probability wanted / unseen. Knuth, TAOCP volume 2, 3.4.2, algorithm S.
  bool advance() {
    while (wanted_ > 0 && read_line()) {
      const bool taken = wanted_ >= unseen_ || random_.below(unseen_) < wanted_;
      --unseen_;
      if (!taken) {
        continue;
      }
      --wanted_;
      if (is_usable(line_)) {
        return true;
      }
    }
    return false;
  }

  bool read_line() {
    for (;;) {
      if (reader_ && reader_->next(line_)) {
        return true;
      }
      if (next_file_ == files_.size()) {
        return false;
      }
      reader_.emplace(files_[next_file_++]);
    }
  }

  const std::vector<std::filesystem::path>& files_;
  uint64_t unseen_;
  uint64_t wanted_ = 0;
  uint64_t used_ = 0;
  base::Random random_;
  std::optional<LineReader> reader_;
  size_t next_file_ = 0;
  std::string line_;
  bool done_ = false;
  std::exception_ptr error_;
};

// "didn't,couldn't" as pieces with the mark of a space before them.
std::string pieces_of(const std::string& whole_words) {
  std::string pieces;
  size_t begin = 0;
  while (begin < whole_words.size()) {
    const size_t end = std::min(whole_words.find(',', begin), whole_words.size());
    const std::string word = whole_words.substr(begin, end - begin);
    base::check_usage(!word.empty() && word.find(' ') == std::string::npos && base::is_valid_utf8(word),
                      "vocabulary: whole words are \"{}\"; write words without spaces, with one comma between two",
                      whole_words);
    pieces += (pieces.empty() ? "" : ",") + std::string(kSpaceMark) + word;
    begin = end + 1;
  }
  return pieces;
}

std::unordered_map<std::string, std::string> trainer_arguments(const VocabularyOptions& options) {
  std::unordered_map<std::string, std::string> arguments = {
      {"model_type", options.type == VocabularyOptions::Type::kBpe ? "bpe" : "unigram"},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", options.normalization},
      {"pad_id", std::to_string(kPadId)},
      {"unk_id", std::to_string(kUnkId)},
      {"bos_id", std::to_string(kBosId)},
      {"eos_id", std::to_string(kEosId)},
      {"max_sentence_length", std::to_string(kMaxLineBytesToLearn)},
      {"hard_vocab_limit", "false"},  // a small text gives a smaller vocabulary instead of an error
      {"num_threads", "2"},           // the sums of the EM steps depend on it, so it is the same on every machine
      {"minloglevel", "10"},
  };
  if (!options.whole_words.empty()) {
    arguments["user_defined_symbols"] = pieces_of(options.whole_words);
  }
  return arguments;
}

// "Internal: file(12) [condition] What happened" -> "What happened", or the condition when nothing follows it.
std::string reason_of(const sentencepiece::util::Status& status) {
  const std::string text = status.ToString();
  const size_t end = text.rfind("] "), begin = text.find(") [");
  if (end == std::string::npos || begin == std::string::npos) {
    return text;
  }
  return end + 2 < text.size() ? text.substr(end + 2) : text.substr(begin + 2);
}

[[noreturn]] void fail_training(const sentencepiece::util::Status& status, const VocabularyOptions& options,
                                const std::string& names, uint64_t lines) {
  const std::string reason = reason_of(status);
  base::check_usage(reason.find("smaller than required_chars") == std::string::npos,
                    "vocabulary: size {} is too small for the characters of {} ({}); raise the size or lower the "
                    "character coverage",
                    options.size, names, reason);
  base::fail(base::ErrorKind::kBadData, "vocabulary: nothing can be learned from {} ({} lines): {}; give more text",
             names, lines, reason);
}

}  // namespace

std::vector<std::string> normalizations() {
  return {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"};
}

TrainedVocabulary train_vocabulary(const std::vector<std::filesystem::path>& files, const VocabularyOptions& options) {
  check_options(options);
  base::check_usage(options.type == VocabularyOptions::Type::kUnigram || options.type == VocabularyOptions::Type::kBpe,
                    "vocabulary: the type is {}, must be unigram or bpe here; byte-bpe and characters are for language "
                    "models, word-piece is for encoders",
                    base::name_of(options.type));
  base::check_usage(!files.empty(), "vocabulary: no file to learn from; name at least one");
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(file.string());
  }
  const std::string all_names = fmt::format("{}", fmt::join(names, ", "));

  LineFeed feed(files, options.max_lines, options.seed);
  feed.rethrow();
  base::check_data(!feed.done(), "vocabulary: nothing can be learned from {}: no line has visible text; give more text",
                   all_names);
  std::string serialized;
  const auto status = sentencepiece::SentencePieceTrainer::Train(trainer_arguments(options), &feed, &serialized);
  feed.rethrow();
  if (!status.ok()) {
    fail_training(status, options, all_names, feed.lines_used());
  }

  TrainedVocabulary trained{Vocabulary::from_bytes(serialized, "vocabulary of " + all_names), feed.lines_used(), ""};
  if (trained.vocabulary.size() < options.size) {
    trained.note = fmt::format("vocabulary: {} pieces were asked for, the text of {} yields {}", options.size,
                               all_names, trained.vocabulary.size());
  }
  return trained;
}

}  // namespace dragoman::data
