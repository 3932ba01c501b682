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

/// A text cut into what is translated and what stays as it is.
struct TextPlan {
  struct Piece {
    bool is_line = false;
    std::string text;                  ///< the line, or what stays
    std::vector<InlineTag> tags = {};  ///< that stand inside the line
    bool is_gap = false;               ///< blanks, or nothing, between two sentences
  };
  std::vector<Piece> pieces;
  bool is_html = false;
  std::string original = {};  ///< of HTML: as it came

  size_t lines() const;
  /// True when tags stand inside a line, so that the translations must be aligned.
  bool has_tags() const;
};

/// What is translated as one: a sentence of a line, or the whole line. LF separates lines, a CR before it is dropped.
/// What has neither letter nor digit (blank lines, emoji) stays as it is. Below, "line" is either.
TextPlan plan_text(std::string_view text, Sentences sentences = Sentences::kApart);

/// Markup (HtmlToken) stays byte for byte. Between what ends a sentence, text is translated as a line, or as sentences
/// where no element reaches from one into the next; its character references are read before and < > & written as
/// references after, blanks at its ends kept and those inside made single spaces. Tags around the whole line stay
/// around it; tags inside it are put into its translation (with_tags) when they are well nested, 200 at most and the
/// line has 5,000 bytes at most, else the text between them is translated piece by piece. So the tags that come out are
/// those that went in, well nested as they were.
TextPlan plan_html(std::string_view html, const MarkupOptions& options = {}, Sentences sentences = Sentences::kApart);

/// The text as it came; of a plain text the line ends are LF.
std::string unchanged(const TextPlan& plan);

/// The text with its lines replaced. Between sentences stand the blanks that stood there, a space where none stood,
/// and nothing behind a wide full stop. @param lines  one translation for each line of the plan, in order
/// @param rank  0 = the best translation of each line, k = its k-th alternative, or its last if it has fewer
std::string assemble(const TextPlan& plan, std::span<const decoding::Translation> lines, size_t rank = 0);

/// The next best texts, at most `count`, none of them twice or the same as the best.
std::vector<std::string> alternatives_of(const TextPlan& plan, std::span<const decoding::Translation> lines,
                                         size_t count);

/// The lines of the plan, a space between them: what its language is told from.
std::string words_of(const TextPlan& plan);

/// True for text with a letter or digit: without one there is nothing to translate.
bool has_words(std::string_view text);

/// Characters (code points) of valid UTF-8.
size_t count_characters(std::string_view text);

}  // namespace dragoman::serving
