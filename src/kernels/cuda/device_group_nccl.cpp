#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nccl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "kernels/cuda/cuda_error-inl.h"
#include "kernels/cuda/device_group.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/vendor_library.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr const char* kLibrary = "libnccl.so.2";

// Null if the library, or a function in it, is missing.
void* find(const char* name) {
  static void* const library = load_vendor_library(kLibrary).handle;
  return library == nullptr ? nullptr : dlsym(library, name);
}

// The functions of NCCL that are used, under their names.
struct Functions {
#define DRAGOMAN_FUNCTION(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(find(#name))
  DRAGOMAN_FUNCTION(ncclGetVersion);
  DRAGOMAN_FUNCTION(ncclGetErrorString);
  DRAGOMAN_FUNCTION(ncclGetUniqueId);
  DRAGOMAN_FUNCTION(ncclCommInitRank);
  DRAGOMAN_FUNCTION(ncclCommDestroy);
  DRAGOMAN_FUNCTION(ncclGroupStart);
  DRAGOMAN_FUNCTION(ncclGroupEnd);
  DRAGOMAN_FUNCTION(ncclSend);
  DRAGOMAN_FUNCTION(ncclRecv);
#undef DRAGOMAN_FUNCTION
  bool are_there() const {
    return ncclGetVersion != nullptr && ncclGetErrorString != nullptr && ncclGetUniqueId != nullptr &&
           ncclCommInitRank != nullptr && ncclCommDestroy != nullptr && ncclGroupStart != nullptr &&
           ncclGroupEnd != nullptr && ncclSend != nullptr && ncclRecv != nullptr;
  }
};

const Functions& nccl() {
  static const Functions functions;
  return functions;
}

void check_nccl(ncclResult_t status, const char* call) {
  base::check(status == ncclSuccess, base::ErrorKind::kRuntime, "cuda: {}: {}; NCCL_DEBUG=WARN says more", call,
              nccl().ncclGetErrorString(status));
}

// Messages have a stream of their own, so that they run beside the kernels.
class NcclMessages final : public DeviceMessages {
 public:
  NcclMessages(const ncclUniqueId& id, int rank, int size) {
    begin_launch();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    check_nccl(nccl().ncclCommInitRank(&group_, size, id, rank), "ncclCommInitRank");
  }
  // Errors have been reported where they happened.
  ~NcclMessages() override {
    cudaStreamSynchronize(stream_);
    nccl().ncclCommDestroy(group_);
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }

  void begin_exchange(std::span<const Piece> sent, std::span<const Piece> received) override {
    begin_launch();
    check(cudaEventRecord(event_, current_stream()), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream_, event_), "cudaStreamWaitEvent");
    check_nccl(nccl().ncclGroupStart(), "ncclGroupStart");
    for (const Piece& piece : sent) {
      check_nccl(nccl().ncclSend(piece.values.device_data(), static_cast<size_t>(piece.values.size()), ncclFloat32,
                                 piece.rank, group_, stream_),
                 "ncclSend");
    }
    for (const Piece& piece : received) {
      tensor::Tensor values = piece.values;
      check_nccl(nccl().ncclRecv(values.device_data(), static_cast<size_t>(values.size()), ncclFloat32, piece.rank,
                                 group_, stream_),
                 "ncclRecv");
    }
    check_nccl(nccl().ncclGroupEnd(), "ncclGroupEnd");
  }

  void end_exchanges() override {
    begin_launch();
    check(cudaEventRecord(event_, stream_), "cudaEventRecord");
    check(cudaStreamWaitEvent(current_stream(), event_), "cudaStreamWaitEvent");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
  ncclComm_t group_ = nullptr;
};

}  // namespace

std::string new_device_group() {
  if (!nccl().are_there()) {
    return {};
  }
  begin_launch();
  ncclUniqueId id;
  check_nccl(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId");
  return {id.internal, sizeof id.internal};
}

std::string device_place() {
  std::array<char, 256> host{}, bus{};
  gethostname(host.data(), host.size() - 1);
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), selected_device()), "cudaDeviceGetPCIBusId");
  return std::string(host.data()) + " " + bus.data();
}

std::unique_ptr<DeviceMessages> join_device_group(const std::string& group, int rank, int size) {
  base::check(nccl().are_there(), base::ErrorKind::kRuntime, "cuda: {}", describe_messages());
  ncclUniqueId id;
  base::check_argument(group.size() == sizeof id.internal, "cuda: the identity of a group has {} bytes", group.size());
  std::memcpy(id.internal, group.data(), sizeof id.internal);
  return std::make_unique<NcclMessages>(id, rank, size);
}

std::string describe_messages() {
  if (!nccl().are_there()) {
    return std::string(kLibrary) + " is missing: sums between GPUs go through the host";
  }
  int version = 0;
  check_nccl(nccl().ncclGetVersion(&version), "ncclGetVersion");
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace dragoman::kernels::cuda
