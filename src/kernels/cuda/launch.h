#pragma once

namespace dragoman::kernels::cuda {

/// Make the device of this process current in this thread, and check a launch. Throws: Error, "cuda: kernel softmax:
/// invalid configuration argument".
void begin_launch();
void check_launch(const char* kernel);

}  // namespace dragoman::kernels::cuda
