#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/device_group.h"
#include "kernels/cuda/runtime.h"

namespace dragoman::kernels::cuda {
namespace {

// Messages are files of a folder that the group shares. What is received arrives when the exchanges end, so that a
// kernel that does not wait for it reads what was there before.
class FileMessages final : public DeviceMessages {
 public:
  FileMessages(std::filesystem::path folder, int rank, int size)
      : folder_(std::move(folder)),
        rank_(rank),
        sent_(static_cast<size_t>(size)),
        received_(static_cast<size_t>(size)) {}

  ~FileMessages() override {
    std::error_code is_not_empty;  // another process has not received everything: it removes the folder
    std::filesystem::remove(folder_, is_not_empty);
  }

  void begin_exchange(std::span<const Piece> sent, std::span<const Piece> received) override {
    for (const Piece& piece : sent) {
      const std::filesystem::path file = name(rank_, piece.rank, sent_.at(static_cast<size_t>(piece.rank))++);
      std::ofstream out(file.string() + ".part", std::ios::binary);
      out.write(static_cast<const char*>(piece.values.device_data()), bytes_of(piece));
      out.close();
      base::check(!out.fail(), base::ErrorKind::kRuntime, "cuda: no message to rank {} can be written", piece.rank);
      std::filesystem::rename(file.string() + ".part", file);
    }
    expected_.insert(expected_.end(), received.begin(), received.end());
  }

  void end_exchanges() override {
    for (const Piece& piece : expected_) {
      receive(piece);
    }
    expected_.clear();
  }

 private:
  std::filesystem::path name(int from, int to, int64_t number) const {
    return folder_ / fmt::format("{}-{}-{}", from, to, number);
  }
  static std::streamsize bytes_of(const Piece& piece) {
    return static_cast<std::streamsize>(piece.values.size() * static_cast<int64_t>(sizeof(float)));
  }

  void receive(const Piece& piece) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kLongest(60);
    const std::filesystem::path file = name(piece.rank, rank_, received_.at(static_cast<size_t>(piece.rank))++);
    for (const auto begin = Clock::now(); !std::filesystem::exists(file);) {
      base::check(Clock::now() - begin < kLongest, base::ErrorKind::kRuntime, "cuda: no message from rank {}",
                  piece.rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    base::check(static_cast<std::streamsize>(std::filesystem::file_size(file)) == bytes_of(piece),
                base::ErrorKind::kRuntime, "cuda: a message from rank {} has another length", piece.rank);
    tensor::Tensor values = piece.values;
    std::ifstream(file, std::ios::binary).read(static_cast<char*>(values.device_data()), bytes_of(piece));
    std::filesystem::remove(file);
  }

  std::filesystem::path folder_;
  int rank_;
  std::vector<int64_t> sent_, received_;  // messages, by the other rank
  std::vector<Piece> expected_;
};

}  // namespace

std::string new_device_group() {
  std::string folder = (std::filesystem::temp_directory_path() / "dragoman-group-XXXXXX").string();
  base::check(mkdtemp(folder.data()) != nullptr, base::ErrorKind::kRuntime, "cuda: no folder for messages");
  return folder;
}

// Each process, and each thread of a test, has a device of its own.
std::string device_place() {
  static std::atomic<int> calls = 0;
  return fmt::format("emulated {} {}", getpid(), ++calls);
}

std::unique_ptr<DeviceMessages> join_device_group(const std::string& group, int rank, int size) {
  return std::make_unique<FileMessages>(group, rank, size);
}

std::string describe_messages() {
  return "messages between emulated GPUs are files";
}

}  // namespace dragoman::kernels::cuda
