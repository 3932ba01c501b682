#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The texts of the pages that are written to files, in two languages. A reader switches the language on the page: its
/// elements with the class "en" or "zh" are shown or hidden.
namespace dragoman::report {

enum class PageLanguage { kEnglish, kChinese };

/// Returns a text in a language. Texts are named by their English form. A text that the table does not have stays as it
/// is.
std::string_view text_in(PageLanguage language, std::string_view english);

/// Returns a text in a language, with {0}, {1}, ... replaced by the values.
std::string text_in(PageLanguage language, std::string_view english, const std::vector<std::string>& values);

/// Returns both forms as HTML, each in an element with its language, escaped with the values in it. A text without
/// another form stands alone.
std::string said(std::string_view english, const std::vector<std::string>& values = {});

/// Returns both forms with " / " between them, for attributes and tooltips, which cannot be switched. Not escaped.
std::string both(std::string_view english, const std::vector<std::string>& values = {});

/// Returns the switch: the first children of the body. The element `main` behind them speaks the chosen language. The
/// switch needs no script; a script finds its inputs as "speak-en" and "speak-zh".
std::string_view language_switch();

/// Returns the style of the switch and of the elements "en" and "zh". It uses the page's --ink, --soft, --line, --c0.
std::string_view language_style();

/// Returns all texts as the JSON object {"English": "Chinese", ...}, for a script.
std::string chinese_texts();

}  // namespace dragoman::report
