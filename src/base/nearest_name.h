#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::base {

/// Returns the entry of `known` with the smallest edit distance (Levenshtein) to `name`, for "did you mean ...?".
/// The first of several such entries counts. Empty if `known` is empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace dragoman::base
