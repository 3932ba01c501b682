#pragma once

#include <string>
#include <string_view>

/// The fixed texts of the attention page.
namespace dragoman::report::attention_page_parts {

/// Returns the style sheet, with colours for light and dark pages.
std::string_view style_sheet();

/// Returns the elements that the script fills.
std::string body();

/// Return the two pieces of the script: the drawing and the event handlers. Both stand in one element.
std::string_view drawing_script();
std::string_view interaction_script();

}  // namespace dragoman::report::attention_page_parts
