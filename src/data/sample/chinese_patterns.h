#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::data::sample {

/// The Chinese of a coreference pattern with the same name. Slots of the statement: {A}, {B}, {P} a person who is the
/// subject where the English pattern says so, and {T} the place of an adverbial or of 为什么.
struct ChinesePattern {
  std::string_view name = {};
  std::string_view statement = {};
  bool people = false;  ///< a person can stand for A, too
  /// Clauses that can only speak of A (of B), "english=chinese", '|' between them. In English <it> and <obj> stand for
  /// the pronoun as subject and object, and <was> for its verb; in Chinese <np> stands for the noun, which may be left
  /// out.
  std::string_view clauses_a = {}, clauses_b = {};
};

extern const std::span<const ChinesePattern> kChinesePatterns;

/// An English word or part of a sentence and its Chinese.
struct Rendering {
  std::string_view english;
  std::string_view chinese;
};

extern const std::span<const Rendering> kChineseConnectives;
extern const std::span<const Rendering> kChineseDegrees;      ///< with * for the adjective: 太*了
extern const std::span<const Rendering> kChineseWeather;      ///< clauses whose "it" stands for nothing
extern const std::span<const Rendering> kChinesePositions;    ///< behind: 后面
extern const std::span<const Rendering> kChineseNumerals;     ///< with * for the measure word: 两*, 许多
extern const std::span<const Rendering> kChinesePluralVerbs;  ///< with * for the place: 睡在*里
extern const std::span<const Rendering> kChinesePast;         ///< saw: 看见了
extern const std::span<const Rendering> kChineseModals;       ///< wants to: 想
extern const std::span<const Rendering> kChineseInfinitives;  ///< buy: 买

/// The English pronouns of the third person. They tell which noun is meant by its number, and of people by its gender.
struct EnglishPronoun {
  std::string_view subject, object, verb;  ///< he, him, was
};
inline constexpr EnglishPronoun kHe = {"he", "him", "was"};
inline constexpr EnglishPronoun kShe = {"she", "her", "was"};
inline constexpr EnglishPronoun kIt = {"it", "it", "was"};
inline constexpr EnglishPronoun kThey = {"they", "them", "were"};

/// Every form of these pronouns, once.
inline constexpr std::array<std::string_view, 7> kEnglishPronouns = {"he", "him", "she", "her", "it", "they", "them"};

}  // namespace dragoman::data::sample
