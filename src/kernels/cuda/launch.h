#pragma once

struct CUstream_st;

namespace dragoman::kernels::cuda {

/// Returns: the CUDA stream that kernels and copies of this thread are queued in. The emulation has none.
CUstream_st* current_stream();

/// Make the device of this process current in this thread, and check a launch. Throws: Error, "cuda: kernel softmax:
/// invalid configuration argument".
void begin_launch();
void check_launch(const char* kernel);

}  // namespace dragoman::kernels::cuda
