#include "data/sample/pronouns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text_input.h"
#include "base/utf8.h"
#include "data/sample/german.h"
#include "data/sample/lexicon.h"
#include "data/sample/patterns.h"

namespace dragoman::data {

namespace {

constexpr std::string_view kHeader =
    "line\tpronoun\tit_word\tit_byte\tantecedent_en\tantecedent_de\trival_en\trival_de\tpattern";
constexpr size_t kColumns = 9;

int64_t parse_number(std::string_view text, std::string_view name, size_t line) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  base::check_data(error == std::errc() && end == text.data() + text.size() && value >= 0,
                   "{}: line {}: '{}' is not a number; write the sample corpus again", name, line, text);
  return value;
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return lower;
}

bool is_stop(char c) {
  return c == ',' || c == '.' || c == '?' || c == '!' || c == ';';
}

bool joins_clauses(std::string_view word) {
  return std::ranges::find(sample::kConnectives, word, &sample::Connective::german) != sample::kConnectives.end();
}

// The pronouns of the clause that begins with the first joining word.
std::vector<std::string> clause_pronouns(std::string_view hypothesis) {
  std::vector<std::string> pronouns;
  bool inside = false;
  for (const std::string_view token : sample::split_words(hypothesis)) {
    const size_t length = token.size() - size_t(std::ranges::distance(
                                             token.rbegin(), std::find_if_not(token.rbegin(), token.rend(), is_stop)));
    const std::string word = lower_ascii(token.substr(0, length));
    if (inside && std::ranges::find(sample::kGermanPronouns, word) != sample::kGermanPronouns.end()) {
      pronouns.push_back(word);
    }
    if (inside && length < token.size()) {
      break;
    }
    inside = inside || joins_clauses(word);
  }
  return pronouns;
}

bool is_right(std::string_view hypothesis, const PronounRow& row) {
  const std::vector<std::string> found = clause_pronouns(hypothesis);
  return !found.empty() && std::ranges::all_of(found, [&](const std::string& word) { return word == row.pronoun; });
}

void add(PronounAccuracy::Count& count, bool right) {
  count.correct += right ? 1 : 0;
  count.total += 1;
}

std::string count_line(std::string_view name, const PronounAccuracy::Count& count) {
  return fmt::format("  {:<14} {:6.2f} % ({} of {})\n", name, 100.0 * double(count.correct) / double(count.total),
                     count.correct, count.total);
}

}  // namespace

std::string format_pronoun_rows(std::span<const PronounRow> rows) {
  std::string text = std::string(kHeader) + '\n';
  for (const PronounRow& row : rows) {
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.line, row.pronoun, row.it_word, row.it_byte,
                    row.antecedent_english, row.antecedent_german, row.rival_english, row.rival_german, row.pattern);
  }
  return text;
}

std::vector<PronounRow> parse_pronoun_rows(std::string_view text, std::string_view name) {
  std::vector<PronounRow> rows;
  const std::vector<std::string> lines = base::split_lines(text);
  base::check_data(!lines.empty() && lines[0] == kHeader,
                   "{}: line 1 does not hold the column names '{}'; write the sample corpus again", name, kHeader);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> field = sample::split_words(lines[i], '\t');
    base::check_data(field.size() == kColumns,
                     "{}: line {} has {} columns instead of {}; write the sample corpus again", name, i + 1,
                     field.size(), kColumns);
    PronounRow row;
    row.line = parse_number(field[0], name, i + 1);
    row.pronoun = field[1];
    row.it_word = parse_number(field[2], name, i + 1);
    row.it_byte = parse_number(field[3], name, i + 1);
    row.antecedent_english = field[4];
    row.antecedent_german = field[5];
    row.rival_english = field[6];
    row.rival_german = field[7];
    row.pattern = field[8];
    rows.push_back(std::move(row));
  }
  return rows;
}

PronounAccuracy pronoun_accuracy(std::span<const std::string> hypotheses, std::span<const PronounRow> rows) {
  PronounAccuracy accuracy;
  for (const PronounRow& row : rows) {
    base::check_data(row.line >= 1 && row.line <= int64_t(hypotheses.size()),
                     "pronoun accuracy: a row speaks of line {} but there are {} hypotheses; translate the whole of "
                     "test.en",
                     row.line, hypotheses.size());
    const bool right = is_right(hypotheses[size_t(row.line - 1)], row);
    add(accuracy.all, right);
    add(accuracy.by_pronoun[row.pronoun], right);
    add(accuracy.by_pattern[row.pattern], right);
  }
  return accuracy;
}

PronounAccuracy check_pronouns(const std::filesystem::path& hypothesis, const std::filesystem::path& corpus_folder) {
  const std::filesystem::path rows_file = corpus_folder / kPronounFileName;
  const std::vector<PronounRow> rows = parse_pronoun_rows(base::read_text_file(rows_file), rows_file.string());
  return pronoun_accuracy(base::split_lines(base::read_text_file(hypothesis)), rows);
}

std::string pronoun_report(const PronounAccuracy& accuracy) {
  std::string text = fmt::format("pronoun accuracy {:.2f} % ({} of {})\n", accuracy.percent(), accuracy.all.correct,
                                 accuracy.all.total);
  for (const auto& [pronoun, count] : accuracy.by_pronoun) {
    text += count_line(pronoun, count);
  }
  for (const auto& [pattern, count] : accuracy.by_pattern) {
    text += count_line(pattern, count);
  }
  return text;
}

}  // namespace dragoman::data
