#include "decoding/inspection/pronoun_attention.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <ranges>

#include "base/error.h"
#include "data/sample/lexicon.h"
#include "decoding/steps/teacher_forcing.h"

namespace dragoman::decoding {
namespace {

constexpr std::string_view kWordStart = "\u2581";  // SentencePiece's mark of a space
constexpr size_t kLeastLetters = 3;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view without_mark(std::string_view piece) {
  return piece.starts_with(kWordStart) ? piece.substr(kWordStart.size()) : piece;
}

std::string_view without_signs(std::string_view word) {
  while (!word.empty() && !is_letter(word.front())) {
    word.remove_prefix(1);
  }
  while (!word.empty() && !is_letter(word.back())) {
    word.remove_suffix(1);
  }
  return word;
}

// What the model shows of one sentence pair: the rows that are compared, as weights of words.
struct Row {
  std::string attention;
  int64_t head;
  std::vector<float> weights;
};

class RowCollector : public nn::ForwardObserver {
 public:
  RowCollector(const SentenceWords& words, std::span<const size_t> it, size_t step)
      : words_(words), it_(it.begin(), it.end()), step_{step} {}

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    const bool in_encoder = path.starts_with("encoder.");
    if (!in_encoder && !path.ends_with(".cross_attention")) {
      return;
    }
    for (int64_t head = 0; head < weights.dim(0); ++head) {
      const std::vector<float> cells = weights.rows(head, head + 1).to_vector<float>();  // [T, S]
      rows.push_back({std::string(path), head, words_of(cells, in_encoder ? it_ : step_, size_t(weights.dim(2)))});
    }
  }

  std::vector<Row> rows;

 private:
  // The mean of the chosen rows, with the columns of each word added.
  std::vector<float> words_of(const std::vector<float>& cells, const std::vector<size_t>& chosen,
                              size_t columns) const {
    std::vector<float> weights(words_.pieces.size(), 0.0F);
    for (size_t word = 0; word < weights.size(); ++word) {
      for (const size_t piece : words_.pieces[word]) {
        for (const size_t row : chosen) {
          weights[word] += cells[row * columns + piece] / static_cast<float>(chosen.size());
        }
      }
    }
    return weights;
  }

  const SentenceWords& words_;
  std::vector<size_t> it_;    // rows of "it" in the encoder
  std::vector<size_t> step_;  // the row of the decoder
};

// One of two twins, ready for the model.
struct Twin {
  const data::PronounRow& row;
  std::vector<int32_t> source, target;
  SentenceWords words;

  std::vector<Row> rows(const models::Model& model, size_t step) const {
    base::check_data(size_t(row.it_word) < words.pieces.size() && !words.pieces[size_t(row.it_word)].empty(),
                     "pronoun attention: line {} has no word {}; write the sample corpus again", row.line, row.it_word);
    RowCollector collector(words, words.pieces[size_t(row.it_word)], step);
    observe_pair(model, source, teacher_forced_input(target), collector);
    return std::move(collector.rows);
  }
};

class TwinReader {
 public:
  TwinReader(const Translator& translator, std::span<const std::string> english, std::span<const std::string> german)
      : translator_(translator), english_(english), german_(german) {}

  Twin read(const data::PronounRow& row) const {
    base::check_data(row.line >= 1 && size_t(row.line) <= std::min(english_.size(), german_.size()),
                     "pronoun attention: a row speaks of line {} but there are {}; write the sample corpus again",
                     row.line, std::min(english_.size(), german_.size()));
    const std::string& line = english_[size_t(row.line - 1)];
    Twin twin{row,
              data::encode_source(translator_.source_vocabulary(), line),
              translator_.target_vocabulary().encode(german_[size_t(row.line - 1)]),
              {}};
    twin.target.push_back(data::kEosId);
    twin.words = sentence_words(line, translator_.source_vocabulary().pieces(twin.source));
    return twin;
  }

 private:
  const Translator& translator_;
  std::span<const std::string> english_, german_;
};

// The place of the n-th word `text`, or the number of words.
size_t nth_word(const SentenceWords& words, std::string_view text, int64_t n) {
  size_t place = 0;
  for (; place < words.texts.size(); ++place) {
    if (words.texts[place] == text && n-- == 0) {
      break;
    }
  }
  return place;
}

int named_by(const std::optional<AttentionMovement>& movement, const Twin& first, const Twin& second) {
  if (!movement.has_value()) {
    return 0;
  }
  return (movement->gain == first.words.find(first.row.antecedent_english) ? 1 : 0) +
         (movement->loss == first.words.find(second.row.antecedent_english) ? 1 : 0);
}

double percent(int64_t count, int64_t total) {
  return total == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(total);
}

std::string head_name(const HeadNaming& head) {
  return fmt::format("{}, head {}", head.attention, head.head + 1);
}

}  // namespace

size_t SentenceWords::find(std::string_view text) const {
  const auto found = std::ranges::find(texts, text);
  base::check_data(found != texts.end(), "pronoun attention: no word \"{}\" in \"{}\"; write the sample corpus again",
                   text, fmt::join(texts, " "));
  return size_t(found - texts.begin());
}

SentenceWords sentence_words(std::string_view line, std::span<const std::string> pieces) {
  SentenceWords words;
  for (const std::string_view word : data::sample::split_words(line)) {
    words.texts.emplace_back(without_signs(word));
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].starts_with(kWordStart)) {
      words.pieces.emplace_back();
    }
    const bool is_special = pieces[i].starts_with('<');
    if (!words.pieces.empty() && !is_special && !without_signs(without_mark(pieces[i])).empty()) {
      words.pieces.back().push_back(i);
    }
  }
  base::check_data(words.pieces.size() == words.texts.size(),
                   "pronoun attention: the vocabulary joins words of \"{}\"; choose another vocabulary", line);
  return words;
}

std::optional<AttentionMovement> attention_movement(const SentenceWords& first_words, std::span<const float> first,
                                                    const SentenceWords& second_words, std::span<const float> second) {
  std::optional<AttentionMovement> movement;
  float most = 0.0F, least = 0.0F;
  for (size_t word = 0; word < first_words.texts.size(); ++word) {
    const std::string& text = first_words.texts[word];
    const auto before = std::ranges::count(first_words.texts.begin(), first_words.texts.begin() + int64_t(word), text);
    const size_t other = nth_word(second_words, text, before);
    if (text.size() < kLeastLetters || other == second_words.texts.size()) {
      continue;
    }
    const float change = first[word] - second[other];
    if (!movement.has_value()) {
      movement = {word, word};
      most = least = change;
    }
    if (change > most) {
      movement->gain = word;
      most = change;
    }
    if (change < least) {
      movement->loss = word;
      least = change;
    }
  }
  return movement;
}

PronounAttention measure_pronoun_attention(const Translator& translator, std::span<const data::PronounTwins> twins,
                                           std::span<const std::string> english, std::span<const std::string> german) {
  const TwinReader reader(translator, english, german);
  PronounAttention attention;
  for (const data::PronounTwins& pair : twins) {
    const Twin first = reader.read(pair.first), second = reader.read(pair.second);
    const auto parting = std::ranges::mismatch(first.target, second.target);
    const auto step = size_t(parting.in1 - first.target.begin());
    base::check_data(parting.in1 != first.target.end() && parting.in2 != second.target.end(),
                     "pronoun attention: lines {} and {} have the same translation; write the sample corpus again",
                     first.row.line, second.row.line);
    const std::vector<Row> of_first = first.rows(translator.model(), step),
                           of_second = second.rows(translator.model(), step);
    base::check_usage(!of_first.empty(), "pronoun attention: the model shows no attention; choose a Transformer");
    if (attention.heads.empty()) {
      std::ranges::transform(of_first, std::back_inserter(attention.heads), [](const Row& row) {
        return HeadNaming{row.attention, row.head};
      });
    }
    for (size_t i = 0; i < of_first.size(); ++i) {
      const auto movement = attention_movement(first.words, of_first[i].weights, second.words, of_second[i].weights);
      const int named = named_by(movement, first, second);
      attention.heads[i].named += named;
      attention.heads[i].named_of_even += attention.pairs % 2 == 0 ? named : 0;
    }
    ++attention.pairs;
  }
  return attention;
}

std::string pronoun_attention_report(const PronounAttention& attention, size_t count) {
  if (attention.pairs == 0) {
    return "attention: the test part has no two sentences that differ only in what \"it\" stands for\n";
  }
  std::vector<HeadNaming> heads = attention.heads;
  std::ranges::stable_sort(heads, std::greater(), &HeadNaming::named);
  std::string text = fmt::format(
      "attention: {} pairs of sentences differ only in what \"it\" stands for. A head names a noun if, against the "
      "twin, "
      "that noun gains more weight than every other word\n",
      attention.pairs);
  for (const HeadNaming& head : heads | std::views::take(count)) {
    text += fmt::format("  {:<44} {:6.2f} % ({} of {})\n", head_name(head), percent(head.named, attention.sentences()),
                        head.named, attention.sentences());
  }
  const HeadNaming& chosen = *std::ranges::max_element(attention.heads, {}, &HeadNaming::named_of_even);
  const int64_t odd = 2 * (attention.pairs / 2);
  if (odd > 0) {
    text += fmt::format(
        "the head that is best on one half of the pairs, {}, names the noun in {:.2f} % of the other half\n",
        head_name(chosen), percent(chosen.named - chosen.named_of_even, odd));
  }
  return text;
}

}  // namespace dragoman::decoding
