#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// Whether a line is cut into its sentences. A model that was trained on single sentences drops everything after the
/// first one.
enum class Sentences { kApart, kTogether };

/// Returns the ends of the sentences of a line, each as the offset behind the last byte, without the end of the line.
/// - A sentence ends with a mark, and the closing quotes, brackets and citations ([1]) behind it. A mark is a character
///   with the Unicode property Sentence_Terminal (. ! ? 。 ؟ । ։ and others) or an ellipsis.
/// - . ! ? and the ellipsis need blanks behind them, and then a capital letter, a letter of a script without capitals,
///   or a digit. An opening quote, a bracket or a dash may stand before it. Between letters of a script without spaces
///   they need no blanks. Other marks end a sentence whatever follows, except a comma.
/// - A full stop ends no sentence behind an initial, an abbreviation or, where the language writes them so, an ordinal
///   (sentence_rules.h). Most of them do end it before a word with which sentences begin.
/// - A number or a letter that begins a sentence (1. A.) is part of it.
/// - Both sides of an end have a letter or a digit.
/// Source: Unicode Standard Annex 29, section 5, from which the abbreviations and the digits differ.
/// Requires: `line` is valid UTF-8.
/// @param language  the language of the line, such as "de" or "pt-BR"; empty = unknown
[[nodiscard]] std::vector<size_t> sentence_ends(std::string_view line, std::string_view language);

}  // namespace dragoman::serving
