#include "kernels/cuda/recording.h"

#include <cuda_runtime.h>

#include <memory>

#include "base/error.h"
#include "kernels/cuda/cuda_error-inl.h"
#include "kernels/cuda/launch.h"

namespace dragoman::kernels::cuda {
namespace {

cudaStream_t& recording_of_thread() {
  thread_local cudaStream_t stream = nullptr;
  return stream;
}

// The stream of the process. Work in the default stream waits for it, and it for that.
cudaStream_t process_stream() {
  static const cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    check(cudaStreamCreate(&made), "cudaStreamCreate");
    return made;
  }();
  return stream;
}

}  // namespace

CUstream_st* current_stream() {
  const cudaStream_t recording = recording_of_thread();
  return recording == nullptr ? process_stream() : recording;
}

bool is_recording() {
  return recording_of_thread() != nullptr;
}

void check_not_recording(const char* call) {
  base::check(!is_recording(), base::ErrorKind::kRuntime, "cuda: {} while kernels are recorded", call);
}

Recording::Recording() {
  base::check(recording_of_thread() == nullptr, base::ErrorKind::kRuntime,
              "cuda: a recording is under way in this thread");
  begin_launch();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  recording_of_thread() = stream;
}

Recording::~Recording() {
  if (const cudaStream_t stream = recording_of_thread(); stream != nullptr) {  // not finished
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) {
      cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    recording_of_thread() = nullptr;
  }
}

std::function<void()> Recording::finish() {
  const cudaStream_t stream = recording_of_thread();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  recording_of_thread() = nullptr;
  cudaStreamDestroy(stream);
  check(ended, "cudaStreamEndCapture");
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  const std::shared_ptr<CUgraphExec_st> ready(made, [](cudaGraphExec_t exec) { cudaGraphExecDestroy(exec); });
  return [ready] {
    begin_launch();
    check(cudaGraphLaunch(ready.get(), current_stream()), "cudaGraphLaunch");
  };
}

}  // namespace dragoman::kernels::cuda
