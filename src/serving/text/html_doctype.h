#pragma once

#include <string_view>

#include "serving/text/lexeme.h"

namespace dragoman::serving {

/// Returns what HTML reads in a document type declaration.
/// Source: WHATWG HTML Living Standard, sections 13.2.5.53 to 13.2.5.68.
/// @param content    the text behind "<!DOCTYPE", without the ">"
/// @param is_closed  whether a ">" follows
[[nodiscard]] Lexeme::Doctype read_doctype(std::string_view content, bool is_closed);

}  // namespace dragoman::serving
