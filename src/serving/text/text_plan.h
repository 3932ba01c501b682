#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/translator.h"
#include "serving/text/html_tokens.h"
#include "serving/text/inline_tags.h"
#include "serving/text/sentences.h"

namespace dragoman::serving {

/// A text cut into the lines that are translated and the parts that stay unchanged.
struct TextPlan {
  struct Piece {
    bool is_line = false;
    std::string text;                  ///< the line, or the unchanged part
    std::vector<InlineTag> tags = {};  ///< tags inside the line
    bool is_gap = false;               ///< the part between two sentences: blanks, or nothing
    std::string original = {};         ///< the line as it is written in HTML
  };
  std::vector<Piece> pieces;
  bool is_html = false;
  std::string original = {};  ///< the whole text, for HTML only
  std::string language = {};  ///< of the text; empty = unknown

  /// Returns the number of lines to translate.
  [[nodiscard]] size_t lines() const;
  /// Returns whether a line has tags inside. Then its translation needs an alignment.
  [[nodiscard]] bool has_tags() const;
};

/// Plans the translation of a plain text. LF separates lines; a CR before it is dropped. A line of the plan is a
/// sentence or, with kTogether, a line of the text without the blanks at its ends. These blanks, and text without
/// letters and digits (blank lines, emoji), stay unchanged.
/// @param language  by whose rules sentences end, such as "de"; empty = unknown
[[nodiscard]] TextPlan plan_text(std::string_view text, Sentences sentences = Sentences::kApart,
                                 std::string_view language = {});

/// Plans the translation of a text with markup (HtmlToken), which stays byte for byte.
/// - The text between two kBreak is one line. It is cut into sentences if no element reaches from one into the next.
/// - Character references are decoded before the translation; <, > and & are encoded after it. Blanks at the ends of a
///   line are kept, runs of blanks inside become one space.
/// - What a line keeps inside (kKept) is a point in it, without words for the model.
/// - Tags around a whole line stay around it. Tags inside are placed in the translation (with_tags) if they are well
///   nested, at most 200, and the line has at most 5,000 bytes. Otherwise the text between them is translated in
///   pieces.
/// So the output has each tag of the input once, and is well nested if the input is.
/// @param language  by whose rules sentences end, such as "de"; empty = unknown
/// Throws: as xml_lexemes.
[[nodiscard]] TextPlan plan_html(std::string_view html, const MarkupOptions& options = {},
                                 Sentences sentences = Sentences::kApart, std::string_view language = {});

/// Returns the original text. The line ends of a plain text become LF.
[[nodiscard]] std::string unchanged(const TextPlan& plan);

/// Returns the text with its lines replaced by translations. A line whose translation is its source stays byte for
/// byte: its references, its blanks, its tags, and the blanks behind it. The blanks between two other sentences are
/// kept; if there are none, a space is added, except behind a wide full stop.
/// Requires: one translation for each line of the plan, in order.
/// @param rank  0 = the best translation of each line; k = its k-th alternative, or its last one if it has fewer
[[nodiscard]] std::string assemble(const TextPlan& plan, std::span<const decoding::Translation> lines, size_t rank = 0);

/// Returns at most `count` next best texts. All differ from each other and from the best text.
[[nodiscard]] std::vector<std::string> alternatives_of(const TextPlan& plan,
                                                       std::span<const decoding::Translation> lines, size_t count);

/// Returns the lines of the plan, joined by spaces. The language is detected from this text.
[[nodiscard]] std::string words_of(const TextPlan& plan);

/// Returns whether a text has a letter or a digit. Other texts are not translated.
[[nodiscard]] bool has_words(std::string_view text);

}  // namespace dragoman::serving
