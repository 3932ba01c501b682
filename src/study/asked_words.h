#pragma once

#include <string>
#include <vector>

namespace dragoman::study {

/// Returns whether two steps ask for the same (Step::asked). The order of options makes no difference.
bool asks_the_same(const std::vector<std::string>& first, const std::vector<std::string>& second);

/// Returns what differs between two steps that ask for different things, options and texts: "max-steps was 6, is 9;
/// dropout was not given, is 0.1".
std::string asked_changes(const std::vector<std::string>& before, const std::vector<std::string>& now);

}  // namespace dragoman::study
