#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/translator.h"

namespace dragoman::serving {

/// A text cut into what is translated and what stays as it is.
struct TextPlan {
  struct Piece {
    bool is_line = false;
    std::string text;  ///< the line, or what stays
  };
  std::vector<Piece> pieces;
  bool is_html = false;

  size_t lines() const;
};

/// Lines are translated one by one, as `dragoman translate` does: LF separates them, a CR before it is dropped. What
/// has neither letter nor digit (blank lines, emoji) stays as it is.
TextPlan plan_text(std::string_view text);

/// Tags, comments, declarations, and the content of script, style, code, pre, textarea and of what says translate="no"
/// stay byte for byte; text between them is translated piece by piece, its character references read before and < > &
/// written as references after, blanks at its ends kept and those inside made single spaces. So the tags that come out
/// are those that went in, in their order. A "<" that begins no tag is text.
/// @param left_alone  names of more elements, in lower case, whose content stays
TextPlan plan_html(std::string_view html, const std::vector<std::string>& left_alone = {});

/// The text with its lines replaced. @param lines  one translation for each line of the plan, in order
/// @param rank  0 = the best translation of each line, k = its k-th alternative, or its last if it has fewer
std::string assemble(const TextPlan& plan, std::span<const decoding::Translation> lines, size_t rank = 0);

/// The next best texts, at most `count`, none of them twice or the same as the best.
std::vector<std::string> alternatives_of(const TextPlan& plan, std::span<const decoding::Translation> lines,
                                         size_t count);

/// The lines of the plan, a space between them: what its language is told from.
std::string words_of(const TextPlan& plan);

/// Characters (code points) of valid UTF-8.
size_t count_characters(std::string_view text);

}  // namespace dragoman::serving
