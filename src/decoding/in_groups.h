#pragma once

#include <cstddef>
#include <functional>

namespace dragoman::decoding {

/// Calls work(number) once for each number below `count`, the smaller first, in at most `workers` threads (0 = one for
/// each core). Each thread has memory of its own, which is of the kind that the calling thread has.
/// Requires: a call touches no result of another call. Throws: the first exception of a call.
void for_each_group(size_t count, int workers, const std::function<void(size_t number)>& work);

}  // namespace dragoman::decoding
