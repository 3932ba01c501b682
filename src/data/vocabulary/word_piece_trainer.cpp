#include "data/vocabulary/word_piece_trainer.h"

#include <fmt/ranges.h>
#include <sentencepiece_trainer.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "data/vocabulary/tokenizer_makers.h"

namespace dragoman::data {
namespace {

constexpr const char* kBertSpecial[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
constexpr std::string_view kWordBegin = "\xE2\x96\x81";  // U+2581, SentencePiece's
constexpr std::string_view kContinued = "##";
constexpr size_t kLineBytes = 2048;  // of words that are given to the trainer together
constexpr int32_t kSpecialOfTrainer = kEosId + 1;

// Lines in memory, as SentencePiece takes them.
class GivenLines : public sentencepiece::SentenceIterator {
 public:
  explicit GivenLines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  size_t at_ = 0;
};

// The words of the texts as BERT cuts them, with spaces between them.
std::vector<std::string> lines_of_words(std::span<const std::string_view> texts, const BertCleaning& cleaning) {
  std::vector<std::string> lines(1);
  for (const std::string_view text : texts) {
    const std::string cleaned = bert_cleaned(base::repair_utf8(text), cleaning);
    for (BertWord word = next_bert_word(cleaned, 0); word.begin < word.end; word = next_bert_word(cleaned, word.end)) {
      const std::string_view letters = std::string_view(cleaned).substr(word.begin, word.end - word.begin);
      if (letters.find(kWordBegin) != std::string_view::npos) {
        continue;
      }
      std::string& line = lines.back();
      line += (line.empty() ? "" : " ") + std::string(letters);
      if (line.size() > kLineBytes) {
        lines.emplace_back();
      }
    }
  }
  if (lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

// The pieces of byte-pair encoding in the order in which they were found, as SentencePiece writes them.
std::vector<std::string> merged_pieces(const std::vector<std::string>& lines, const WordPieceOptions& options) {
  const std::unordered_map<std::string, std::string> arguments = {
      {"model_type", "bpe"},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"normalization_rule_name", "identity"},
      {"split_by_unicode_script", "false"},
      {"split_by_number", "false"},
      {"pad_id", std::to_string(kPadId)},
      {"unk_id", std::to_string(kUnkId)},
      {"bos_id", std::to_string(kBosId)},
      {"eos_id", std::to_string(kEosId)},
      {"max_sentence_length", "1048576"},
      {"hard_vocab_limit", "false"},
      {"num_threads", "2"},
      {"minloglevel", "10"}};
  std::string serialized;
  GivenLines feed(lines);
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &feed, &serialized);
  base::check_usage(status.ok(), "vocabulary: {} pieces cannot be learned from the text: {}; another size may suit it",
                    options.size, status.ToString());
  const Vocabulary learned = Vocabulary::from_bytes(serialized, "word pieces");
  std::vector<std::string> pieces;
  for (int32_t id = kSpecialOfTrainer; id < learned.size(); ++id) {
    pieces.push_back(learned.piece(id));
  }
  return pieces;
}

// "▁play" begins a word, "ing" goes on with one; empty for the mark alone.
std::string as_word_piece(const std::string& piece) {
  return piece.starts_with(kWordBegin) ? piece.substr(kWordBegin.size()) : std::string(kContinued) + piece;
}

bool is_character(std::string_view text) {
  return !text.empty() && base::code_point_at(text, 0).bytes == text.size();
}

}  // namespace

Vocabulary train_word_piece(std::span<const std::string_view> texts, const WordPieceOptions& options) {
  const std::vector<std::string> lines = lines_of_words(texts, options.cleaning);
  base::check_data(!lines.empty(),
                   "vocabulary: nothing can be learned, because the text holds no word; give more text");
  const std::vector<std::string> merged = merged_pieces(lines, options);
  std::set<std::string> characters;
  for (const std::string& piece : merged) {
    if (is_character(piece) && piece != kWordBegin) {
      characters.insert(piece);
    }
  }
  std::vector<std::string> pieces(std::begin(kBertSpecial), std::end(kBertSpecial));
  for (const std::string& character : characters) {
    pieces.push_back(character);
    pieces.push_back(std::string(kContinued) + character);
  }
  base::check_usage(pieces.size() <= static_cast<size_t>(options.size),
                    "vocabulary: size {} is too small for the {} characters of the text, which take {} pieces; raise "
                    "the size or lower the character coverage",
                    options.size, characters.size(), pieces.size());
  std::set<std::string> known(pieces.begin(), pieces.end());
  for (const std::string& piece : merged) {
    std::string mapped = as_word_piece(piece);
    if (pieces.size() < static_cast<size_t>(options.size) && !mapped.empty() && known.insert(mapped).second) {
      pieces.push_back(std::move(mapped));
    }
  }
  return from_vocab_txt(fmt::format("{}\n", fmt::join(pieces, "\n")), options.cleaning);
}

}  // namespace dragoman::data
