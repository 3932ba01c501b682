#include "kernels/cuda/recording.h"

#include <memory>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/launch.h"

namespace dragoman::kernels::cuda {
namespace {

using Launches = std::vector<std::function<void()>>;

std::shared_ptr<Launches>& recording_of_thread() {
  thread_local std::shared_ptr<Launches> launches;
  return launches;
}

}  // namespace

CUstream_st* current_stream() {
  return nullptr;
}

bool is_recording() {
  return recording_of_thread() != nullptr;
}

void check_not_recording(const char* call) {
  base::check(!is_recording(), base::ErrorKind::kRuntime, "cuda: {} while kernels are recorded", call);
}

void run_or_record(std::function<void()> launch) {
  if (const auto& launches = recording_of_thread(); launches != nullptr) {
    launches->push_back(std::move(launch));
  } else {
    launch();
  }
}

Recording::Recording() {
  base::check(recording_of_thread() == nullptr, base::ErrorKind::kRuntime,
              "cuda: a recording is under way in this thread");
  recording_of_thread() = std::make_shared<Launches>();
}

Recording::~Recording() {
  recording_of_thread() = nullptr;
}

std::function<void()> Recording::finish() {
  const std::shared_ptr<Launches> launches = std::exchange(recording_of_thread(), nullptr);
  return [launches] {
    for (const auto& launch : *launches) {
      launch();
    }
  };
}

}  // namespace dragoman::kernels::cuda
