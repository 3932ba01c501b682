#pragma once

#include <string_view>

/// The fixed texts of the attention page.
namespace dragoman::report::attention_page_parts {

/// Style sheet; colours for light and dark.
std::string_view style_sheet();

/// The elements that the script fills.
std::string_view body();

/// The script, in two pieces that stand in one element: what draws, and what reacts.
std::string_view drawing_script();
std::string_view interaction_script();

}  // namespace dragoman::report::attention_page_parts
