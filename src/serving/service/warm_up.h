#pragma once

#include <cstddef>
#include <functional>
#include <future>

namespace dragoman::serving {

/// Runs one text, so that the memory of a model is warm, and then eight at once.
/// @param begin_one  begins a text; its future tells the number of its tokens, or its error
/// Returns: the tokens of the eight per second.  Throws: the error of a text.
[[nodiscard]] double warm_up(const std::function<std::future<size_t>()>& begin_one);

}  // namespace dragoman::serving
