#include "data/vocabulary/byte_bpe_trainer.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text_input.h"
#include "base/utf8.h"
#include "base/worker_pool.h"
#include "data/vocabulary/bpe_model.h"
#include "data/vocabulary/byte_level.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_json.h"
#include "data/vocabulary/tokenizer_makers.h"

namespace dragoman::data {
namespace {

constexpr size_t kChunkByteValues = size_t{1} << 20;
constexpr int32_t kByteValues = 256;

using WordCounts = std::unordered_map<std::string, int64_t>;

bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Cuts a text into chunks whose words are the words of the text: every split ends a word between a letter and a space.
std::vector<std::string_view> chunks_of(std::string_view text) {
  std::vector<std::string_view> chunks;
  while (text.size() > kChunkByteValues) {
    size_t end = kChunkByteValues;
    while (end < text.size() && !(is_ascii_letter(text[end - 1]) && (text[end] == ' ' || text[end] == '\n'))) {
      ++end;
    }
    chunks.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  if (!text.empty()) {
    chunks.push_back(text);
  }
  return chunks;
}

void count_words(std::string_view text, BpeSplit split, WordCounts& counts) {
  std::string word;
  for (size_t at = 0; at < text.size();) {
    const size_t end = word_end(split, text, at);
    word.assign(text.substr(at, end - at));
    ++counts[word];
    at = end;
  }
}

WordCounts count_words(std::span<const std::string_view> texts, const ByteBpeOptions& options) {
  std::vector<std::string> repaired;
  repaired.reserve(texts.size());
  std::vector<std::string_view> chunks;
  for (const std::string_view text : texts) {
    const bool valid = base::is_valid_utf8(text);
    repaired.push_back(valid ? "" : base::encode_utf8(base::decode_utf8(text)));
    const auto more = chunks_of(valid ? text : std::string_view(repaired.back()));
    chunks.insert(chunks.end(), more.begin(), more.end());
  }
  base::WorkerPool pool(options.threads);
  std::vector<WordCounts> counts(static_cast<size_t>(pool.size()));
  pool.run([&](int rank) {
    for (auto i = static_cast<size_t>(rank); i < chunks.size(); i += counts.size()) {
      count_words(chunks[i], options.split, counts[static_cast<size_t>(rank)]);
    }
  });
  for (size_t rank = 1; rank < counts.size(); ++rank) {
    for (const auto& [word, count] : counts[rank]) {
      counts[0][word] += count;
    }
  }
  return std::move(counts[0]);
}

int32_t left_of(uint64_t pair) {
  return static_cast<int32_t>(pair >> 32);
}

int32_t right_of(uint64_t pair) {
  return static_cast<int32_t>(pair & UINT32_MAX);
}

// The words of the texts as lists of pieces, and how often each pair of neighbours occurs in them.
class Merger {
 public:
  Merger(const WordCounts& counts, TokenizerSpec& spec, std::vector<std::string> bytes)
      : spec_(spec), bytes_(std::move(bytes)), heap_(Later{bytes_}) {
    for (size_t id = 0; id < bytes_.size(); ++id) {
      ids_.emplace(bytes_[id], static_cast<int32_t>(id));
    }
    for (const auto& [text, count] : counts) {
      add_word(text, count);
    }
    for (const auto& [pair, occurrences] : pairs_) {
      heap_.push({occurrences.count, pair});
    }
  }

  // Makes one merge. Returns false if no pair occurs twice.
  bool merge_best() {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      const auto found = pairs_.find(best.pair);
      const int64_t count = found == pairs_.end() ? 0 : found->second.count;
      if (count == best.count && count >= 2) {
        merge(best.pair);
        return true;
      }
      if (count < best.count && count >= 2) {
        heap_.push({count, best.pair});
      }
    }
    return false;
  }

 private:
  struct Word {
    std::vector<int32_t> pieces;
    int64_t count = 0;
  };
  struct Occurrences {
    int64_t count = 0;
    std::vector<uint32_t> words;  // that had the pair once; may hold a word twice
  };
  struct Candidate {
    int64_t count;  // when it was put on the heap
    uint64_t pair;
  };
  struct Later {
    const std::vector<std::string>& bytes;

    bool operator()(const Candidate& a, const Candidate& b) const {
      if (a.count != b.count) {
        return a.count < b.count;
      }
      const auto text = [this](int32_t id) -> const std::string& { return bytes[static_cast<size_t>(id)]; };
      const int left = text(left_of(a.pair)).compare(text(left_of(b.pair)));
      return left != 0 ? left > 0 : text(right_of(a.pair)) > text(right_of(b.pair));
    }
  };

  void add_word(const std::string& text, int64_t count) {
    Word word{.pieces = {}, .count = count};
    for (const char byte : text) {
      word.pieces.push_back(ids_.at(std::string(1, byte)));
    }
    const auto index = static_cast<uint32_t>(words_.size());
    for (size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      Occurrences& occurrences = pairs_[pair_key(word.pieces[i], word.pieces[i + 1])];
      occurrences.count += count;
      occurrences.words.push_back(index);
    }
    words_.push_back(std::move(word));
  }

  // The piece of a pair, which is new unless another pair has spelled it.
  int32_t piece_of(uint64_t pair) {
    const std::string text = bytes_[static_cast<size_t>(left_of(pair))] + bytes_[static_cast<size_t>(right_of(pair))];
    const auto [found, is_new] = ids_.emplace(text, static_cast<int32_t>(bytes_.size()));
    if (is_new) {
      bytes_.push_back(text);
      spec_.pieces.push_back(to_byte_level(text));
    }
    return found->second;
  }

  void merge(uint64_t pair) {
    const int32_t result = piece_of(pair);
    spec_.merges.push_back({left_of(pair), right_of(pair), result});
    std::vector<uint32_t> affected = std::move(pairs_[pair].words);
    pairs_[pair].words.clear();
    std::ranges::sort(affected);
    affected.erase(std::ranges::unique(affected).begin(), affected.end());
    changed_.clear();
    for (const uint32_t index : affected) {
      rewrite(index, pair, result);
    }
    pairs_.erase(pair);
    std::ranges::sort(changed_);
    changed_.erase(std::ranges::unique(changed_).begin(), changed_.end());
    for (const uint64_t other : changed_) {
      if (const auto found = pairs_.find(other); found != pairs_.end()) {
        heap_.push({found->second.count, other});
      }
    }
  }

  // Takes the pairs of the word out of the counts, merges, and counts the pairs of the new word.
  void rewrite(uint32_t index, uint64_t pair, int32_t result) {
    Word& word = words_[index];
    std::vector<int32_t>& pieces = word.pieces;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      pairs_[pair_key(pieces[i], pieces[i + 1])].count -= word.count;
    }
    size_t kept = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool merges = i + 1 < pieces.size() && pair_key(pieces[i], pieces[i + 1]) == pair;
      pieces[kept++] = merges ? result : pieces[i];
      i += merges ? 1 : 0;
    }
    pieces.resize(kept);
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      Occurrences& occurrences = pairs_[pair_key(pieces[i], pieces[i + 1])];
      occurrences.count += word.count;
      if (pieces[i] == result || pieces[i + 1] == result) {
        occurrences.words.push_back(index);
        changed_.push_back(pair_key(pieces[i], pieces[i + 1]));
      }
    }
  }

  TokenizerSpec& spec_;
  std::vector<std::string> bytes_;  // [pieces] what each spells
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<uint64_t, Occurrences> pairs_;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> heap_;
  std::vector<uint64_t> changed_;  // pairs that the merge at work has made
};

// The 256 bytes in the order of the characters that stand for them.
std::vector<std::string> single_bytes() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < kByteValues; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  std::ranges::sort(bytes, {},
                    [](const std::string& byte) { return byte_level_character(static_cast<unsigned char>(byte[0])); });
  return bytes;
}

void check_bpe_options(const ByteBpeOptions& options) {
  const int32_t least = kByteValues + (options.with_end_of_text ? 1 : 0);
  base::check_usage(options.size >= least && options.size <= kMaxPieces,
                    "vocabulary: size {} for byte-level BPE, must be {} to {}", options.size, least, kMaxPieces);
  base::check_usage(options.split != BpeSplit::kNone,
                    "vocabulary: split none makes one word of a text; choose gpt2, llama3 or qwen2");
}

}  // namespace

Vocabulary train_byte_bpe(std::span<const std::string_view> texts, const ByteBpeOptions& options) {
  check_bpe_options(options);
  const WordCounts counts = count_words(texts, options);
  base::check_data(!counts.empty(), "vocabulary: the text is empty; give a text with at least one character");
  TokenizerSpec spec;
  spec.spelling.byte_level = true;
  spec.splits.push_back({.kind = SplitStep::Kind::kPattern, .pattern = options.split});
  std::vector<std::string> bytes = single_bytes();
  for (const std::string& byte : bytes) {
    spec.pieces.push_back(to_byte_level(byte));
  }
  const auto most = static_cast<size_t>(options.size) - (options.with_end_of_text ? 1 : 0);
  Merger merger(counts, spec, std::move(bytes));
  while (spec.pieces.size() < most && merger.merge_best()) {
  }
  spec.model_pieces = spec.pieces.size();
  if (options.with_end_of_text) {
    spec.added.push_back(
        {.id = static_cast<int32_t>(spec.pieces.size()), .content = std::string(kEndOfText), .special = true});
    spec.pieces.emplace_back(kEndOfText);
  }
  return Vocabulary::from_bytes(write_tokenizer_json(spec), "byte-level vocabulary");
}

Vocabulary train_byte_bpe(const std::vector<std::filesystem::path>& files, const ByteBpeOptions& options) {
  std::vector<std::string> texts;
  for (const auto& file : files) {
    texts.push_back(base::read_text_file(file));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return train_byte_bpe(views, options);
}

}  // namespace dragoman::data
