#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

inline constexpr std::string_view kPronounFileName = "test.pronouns.tsv";

/// One test sentence whose pronoun stands for a noun: a line of test.pronouns.tsv, after a line of column names.
struct PronounRow {
  int64_t line = 0;     ///< of the test files, from 1
  std::string pronoun;  ///< what the translation must have: sample::Coreference::pronoun
  /// Position of "it" among the words of the English source (cut at spaces), from 0. In Chinese, which has no pronoun
  /// there, this is the clause that lacks it, in bytes only.
  int64_t it_word = 0;
  int64_t it_byte = 0;                               ///< the same in bytes, from 0
  std::string antecedent_english, antecedent_other;  ///< what the pronoun stands for: animal, Tier
  std::string rival_english, rival_other;            ///< what it could stand for by grammar alone: street, Straße
  std::string pattern;                               ///< sentence pattern: cross

  bool operator==(const PronounRow&) const = default;
};

/// The rows as tab-separated text, and back.
/// @param other  the language beside English, for the column names: de or zh
/// @param name   the file named in errors
/// Throws: Error(kBadData): "test.pronouns.tsv: line 3 has 4 columns instead of 9; write the sample corpus again".
std::string format_pronoun_rows(std::span<const PronounRow> rows, std::string_view other = "de");
std::vector<PronounRow> parse_pronoun_rows(std::string_view text, std::string_view name);

/// How many translations chose the right pronoun.
struct PronounAccuracy {
  struct Count {
    int64_t correct = 0;
    int64_t total = 0;
  };
  Count all;
  std::map<std::string, Count, std::less<>> by_pronoun;
  std::map<std::string, Count, std::less<>> by_pattern;

  /// 0 to 100; 0 for no rows.
  double percent() const { return all.total == 0 ? 0.0 : 100.0 * double(all.correct) / double(all.total); }
};

/// Counts the hypotheses (one a line, in the order of the test part) that resolve the pronoun as their row says; the
/// form of the row's pronoun tells the language. The clause from the first word that joins clauses (weil, because, 因为
/// ...) to the next comma or stop decides, so that an "es" of "gab es" cannot count.
///   - German and English: the clause holds the right pronoun and no other one.
///   - Chinese: the clause holds the pronoun, such as 那条, with the antecedent behind it, and not the rival.
/// A hypothesis without such a clause is wrong. Lines without a row are not looked at.
/// Throws: Error(kBadData) if a row names a line that is not there:
/// "pronoun accuracy: a row speaks of line 900 but there are 899 hypotheses; translate the whole of test.en".
PronounAccuracy pronoun_accuracy(std::span<const std::string> hypotheses, std::span<const PronounRow> rows);

/// pronoun_accuracy of a file against FOLDER/test.pronouns.tsv. Throws: Error(kBadData) for unreadable files too.
PronounAccuracy check_pronouns(const std::filesystem::path& hypothesis, const std::filesystem::path& corpus_folder);

/// "pronoun accuracy 98.44 % (630 of 640)" and one line for each pronoun and each pattern.
std::string pronoun_report(const PronounAccuracy& accuracy);

}  // namespace dragoman::data
