#pragma once

#include <vector>

#include "data/chat/template_function.h"

namespace dragoman::data {

/// Returns the tests of templates, which stand behind "is".
[[nodiscard]] const std::vector<TemplateFunction>& template_tests();

}  // namespace dragoman::data
