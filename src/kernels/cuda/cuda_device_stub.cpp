#include "base/error.h"
#include "kernels/cuda/cuda_device.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr const char* kMissing = "cuda: this program was built without CUDA; configure with -DDRAGOMAN_CUDA=ON";

}  // namespace

std::vector<std::string> describe_devices() {
  return {kMissing};
}

int device_count() {
  return 0;
}

std::shared_ptr<tensor::Allocator> open_device(int) {
  base::fail(base::ErrorKind::kUsage, "{}", kMissing);
}

}  // namespace dragoman::kernels::cuda
