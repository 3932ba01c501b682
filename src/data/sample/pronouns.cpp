#include "data/sample/pronouns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text_input.h"
#include "base/utf8.h"
#include "data/sample/chinese_patterns.h"
#include "data/sample/german.h"
#include "data/sample/lexicon.h"
#include "data/sample/patterns.h"

namespace dragoman::data {

namespace {

constexpr size_t kColumns = 9;

std::string header(std::string_view other) {
  return fmt::format("line\tpronoun\tit_word\tit_byte\tantecedent_en\tantecedent_{0}\trival_en\trival_{0}\tpattern",
                     other);
}

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

// The words of a language whose pronouns show what was understood.
struct PronounLanguage {
  std::span<const std::string_view> pronouns;
  std::string_view sample::Connective::*connective;
};

constexpr PronounLanguage kGerman = {sample::kGermanPronouns, &sample::Connective::german};
constexpr PronounLanguage kEnglish = {sample::kEnglishPronouns, &sample::Connective::english};

bool is_of(const PronounLanguage& language, std::string_view word) {
  return std::ranges::find(language.pronouns, word) != language.pronouns.end();
}

// The pronouns of the clause that begins with the first joining word.
std::vector<std::string> clause_pronouns(std::string_view hypothesis, const PronounLanguage& language) {
  std::vector<std::string> pronouns;
  bool inside = false;
  for (const std::string_view token : sample::split_words(hypothesis)) {
    const size_t length = token.size() - size_t(std::ranges::distance(
                                             token.rbegin(), std::find_if_not(token.rbegin(), token.rend(), is_stop)));
    const std::string word = lower_ascii(token.substr(0, length));
    if (inside && is_of(language, word)) {
      pronouns.push_back(word);
    }
    if (inside && length < token.size()) {
      break;
    }
    inside = inside || std::ranges::find(sample::kConnectives, word, language.connective) != sample::kConnectives.end();
  }
  return pronouns;
}

// The text from the first joining word to the next comma or stop.
std::string_view chinese_clause(std::string_view hypothesis) {
  size_t begin = std::string_view::npos;
  for (const sample::Rendering& connective : sample::kChineseConnectives) {
    begin = std::min(begin, hypothesis.find(connective.chinese));
  }
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::string_view clause = hypothesis.substr(begin);
  size_t end = clause.size();
  for (const std::string_view stop : {"，", "。", "？", "！", ",", ".", "?", "!"}) {
    end = std::min(end, clause.find(stop));
  }
  return clause.substr(0, end);
}

bool is_right(std::string_view hypothesis, const PronounRow& row) {
  const bool is_english = is_of(kEnglish, row.pronoun);
  if (!is_english && !is_of(kGerman, row.pronoun)) {
    const std::string_view clause = chinese_clause(hypothesis);
    return clause.find(row.pronoun + row.antecedent_other) != std::string_view::npos &&
           clause.find(row.rival_other) == std::string_view::npos;
  }
  const std::vector<std::string> found = clause_pronouns(hypothesis, is_english ? kEnglish : kGerman);
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

std::string format_pronoun_rows(std::span<const PronounRow> rows, std::string_view other) {
  std::string text = header(other) + '\n';
  for (const PronounRow& row : rows) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.line, row.pronoun, row.it_word, row.it_byte,
                        row.antecedent_english, row.antecedent_other, row.rival_english, row.rival_other, row.pattern);
  }
  return text;
}

std::vector<PronounRow> parse_pronoun_rows(std::string_view text, std::string_view name) {
  std::vector<PronounRow> rows;
  const std::vector<std::string> lines = base::split_lines(text);
  base::check_data(!lines.empty() && (lines[0] == header("de") || lines[0] == header("zh")),
                   "{}: line 1 does not hold the column names '{}'; write the sample corpus again", name, header("de"));
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
    row.antecedent_other = field[5];
    row.rival_english = field[6];
    row.rival_other = field[7];
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
                     "{}",
                     row.line, hypotheses.size(), is_of(kEnglish, row.pronoun) ? "test.zh" : "test.en");
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
