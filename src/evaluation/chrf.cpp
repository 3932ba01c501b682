#include "evaluation/chrf.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/utf8.h"
#include "evaluation/ngrams.h"
#include "evaluation/text.h"

namespace dragoman::evaluation {
namespace {

// Columns of one order in the counts.
constexpr size_t kOfHypothesis = 0;
constexpr size_t kOfReference = 1;
constexpr size_t kMatched = 2;
constexpr size_t kColumnsPerOrder = 3;

constexpr int kHighestOrder = 16;

// One sentence, both ways that chrF++ looks at it.
struct Sentence {
  Symbols characters;
  Symbols words;
};

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_one_character(std::string_view word) {
  return std::count_if(word.begin(), word.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }) == 1;
}

// Words with one punctuation mark set apart: the last character, or else the first ("(hi)" gives "(hi" and ")").
std::vector<std::string_view> words_without_punctuation(std::string_view line) {
  std::vector<std::string_view> result;
  for (const std::string_view word : split_words(line)) {
    if (is_one_character(word)) {
      result.push_back(word);
    } else if (is_ascii_punctuation(word.back())) {
      result.push_back(word.substr(0, word.size() - 1));
      result.push_back(word.substr(word.size() - 1));
    } else if (is_ascii_punctuation(word.front())) {
      result.push_back(word.substr(0, 1));
      result.push_back(word.substr(1));
    } else {
      result.push_back(word);
    }
  }
  return result;
}

Symbols characters_without_space(std::string_view line) {
  Symbols characters;
  characters.reserve(line.size());
  for (const char32_t c : base::decode_utf8(line)) {
    if (!is_space(c)) {
      characters.push_back(static_cast<uint32_t>(c));
    }
  }
  return characters;
}

Sentence read_sentence(const ChrfOptions& options, std::string_view line, WordNumbers& vocabulary) {
  const std::string lowered = options.lowercase ? lower_case(line) : std::string();
  const std::string_view text = options.lowercase ? std::string_view(lowered) : line;
  Sentence sentence{.characters = characters_without_space(text), .words = {}};
  if (options.word_order > 0) {
    sentence.words = vocabulary.numbers(words_without_punctuation(text));
  }
  return sentence;
}

// The F-score in the arithmetic of `Real`: double for a text, float for a resample of it.
template <typename Real, typename Count>
Real f_score(std::span<const Count> counts, int beta) {
  Real precision = 0;
  Real recall = 0;
  int effective_orders = 0;
  for (size_t at = 0; at < counts.size(); at += kColumnsPerOrder) {
    const auto of_hypothesis = static_cast<Real>(counts[at + kOfHypothesis]);
    const auto of_reference = static_cast<Real>(counts[at + kOfReference]);
    if (of_hypothesis > 0 && of_reference > 0) {
      const auto matched = static_cast<Real>(counts[at + kMatched]);
      precision += matched / of_hypothesis;
      recall += matched / of_reference;
      ++effective_orders;
    }
  }
  if (precision + recall == 0) {
    return 0;
  }
  precision /= static_cast<Real>(effective_orders);
  recall /= static_cast<Real>(effective_orders);
  const auto factor = static_cast<Real>(beta * beta);
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

void count_orders(const Symbols& reference, const Symbols& hypothesis, NgramMatcher& matcher,
                  std::span<int64_t> columns) {
  std::array<int64_t, kHighestOrder> matches{};
  const size_t orders = columns.size() / kColumnsPerOrder;
  matcher.count({&reference, 1}, hypothesis, std::span(matches).first(orders));
  for (size_t n = 0; n < orders; ++n) {
    const std::span<int64_t> column = columns.subspan(n * kColumnsPerOrder, kColumnsPerOrder);
    column[kOfReference] = ngram_count(reference.size(), n + 1);
    // A hypothesis n-gram is no miss where the reference is too short to have any.
    column[kOfHypothesis] = column[kOfReference] > 0 ? ngram_count(hypothesis.size(), n + 1) : 0;
    column[kMatched] = matches[n];
  }
}

}  // namespace

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  base::check_range("chrf-char-order", options.char_order, 1, kHighestOrder);
  base::check_range("chrf-word-order", options.word_order, 0, kHighestOrder);
  base::check_range("chrf-beta", options.beta, 1, 100);
}

std::string Chrf::name() const {
  return "chrF" + std::to_string(options_.beta) + std::string(static_cast<size_t>(options_.word_order), '+');
}

CountTable Chrf::count(Lines hypothesis, std::span<const Lines> references) const {
  check_same_lines(hypothesis, references);
  CountTable table(hypothesis.size(), orders() * kColumnsPerOrder);
  WordNumbers vocabulary;
  NgramMatcher matcher;
  std::vector<int64_t> counts(table.columns());
  const size_t character_columns = static_cast<size_t>(options_.char_order) * kColumnsPerOrder;
  for (size_t i = 0; i < hypothesis.size(); ++i) {
    const Sentence candidate = read_sentence(options_, hypothesis[i], vocabulary);
    double best = -1.0;
    for (const Lines& lines : references) {
      const Sentence reference = read_sentence(options_, lines[i], vocabulary);
      const std::span<int64_t> columns(counts);
      count_orders(reference.characters, candidate.characters, matcher, columns.first(character_columns));
      count_orders(reference.words, candidate.words, matcher, columns.subspan(character_columns));
      const double score = f_score<double, int64_t>(columns, options_.beta);
      if (score > best) {
        best = score;
        std::ranges::transform(counts, table.row(i).begin(), [](int64_t count) { return static_cast<double>(count); });
      }
    }
  }
  return table;
}

double Chrf::score(std::span<const double> sums) const {
  return f_score<double>(sums, options_.beta);
}

double Chrf::resampled_score(std::span<const float> sums) const {
  return f_score<float>(sums, options_.beta);
}

Signature Chrf::signature(size_t n_references, const Resampling& resampling) const {
  Signature signature = open_signature(n_references, resampling);
  signature.add("case", options_.lowercase ? "lc" : "mixed");
  signature.add("eff", "yes");
  signature.add("nc", std::to_string(options_.char_order));
  signature.add("nw", std::to_string(options_.word_order));
  signature.add("space", "no");
  signature.add("version", kSignatureVersion);
  return signature;
}

}  // namespace dragoman::evaluation
