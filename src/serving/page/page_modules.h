#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace dragoman::serving {

/// Returns the JSON of an import map that holds the script `entry` of the page and all scripts that it imports, so that
/// a page in a file needs no server: {"imports": {"assets/story.js": "data:text/javascript;base64,..."}}. In the map,
/// and in the scripts in it, "/assets/story.js" is called "assets/story.js", since a data: URL has no folders.
/// @param entry  "story_file.js";  @param stand_ins  scripts by the name of that in whose place they stand
/// Requires: the names are those of files of src/serving/page/.
/// Source: HTML Living Standard, section 8.1.6.2 (import maps).
[[nodiscard]] std::string import_map(std::string_view entry,
                                     const std::map<std::string, std::string, std::less<>>& stand_ins);

/// Returns the text of files of src/serving/page/, one after another. Requires: as import_map.
[[nodiscard]] std::string page_texts(std::initializer_list<std::string_view> names);

}  // namespace dragoman::serving
