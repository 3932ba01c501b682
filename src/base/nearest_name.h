#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// Returns the entry of `known` that someone who wrote `name` may have meant. Empty if no entry is near enough. Near
/// are entries that differ in at most a third of their letters (missing, added, replaced, or two letters swapped), and
/// entries that begin with `name`. The nearest entry counts, and the first of equally near ones. Dashes in front, and
/// the case of letters, make no difference.
std::string near_name(std::string_view name, const std::vector<std::string>& known);

/// Returns at most `most` entries that someone who wrote `name` may have meant, the nearest first and equally near ones
/// in their order. It takes those that near_name takes, and those with one letter missing, added, replaced or swapped.
std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& known, size_t most);

/// Returns the end of an error about an unknown name: `; did you mean "d_model"?`. Empty if no known name is near.
/// @param quote  in front of the name and behind it
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view quote = "\"");

}  // namespace dragoman::base
