#pragma once

#include <cstddef>
#include <functional>

#include "tensor/device.h"

namespace dragoman::decoding {

/// Returns: the number of workers: `asked`; 0 = one a core, or one on a GPU, whose kernels run one after another.
[[nodiscard]] int worker_count(int asked, tensor::Device device);

/// Calls work(number) once for each number below `count`, the smaller first, in at most worker_count(workers, device of
/// the calling thread) threads. Each thread has memory of its own, which is of the kind that the calling thread has.
/// Requires: a call touches no result of another call. Throws: the first exception of a call.
void for_each_group(size_t count, int workers, const std::function<void(size_t number)>& work);

}  // namespace dragoman::decoding
