#include "distributed/process_group.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/cpu.h"
#include "base/error.h"

namespace dragoman::distributed {
namespace {

constexpr size_t kPieceBytes = size_t{16} << 20;  // of a broadcast: bounds the copies that are held

}  // namespace

int ProcessGroup::default_workers() const {
  return std::max(1, base::cpu_count() / processes_here());
}

void ProcessGroup::broadcast_bytes(std::span<std::byte> bytes, int root) {
  for (size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const std::span<std::byte> piece = bytes.subspan(begin, std::min(kPieceBytes, bytes.size() - begin));
    const std::string_view mine(reinterpret_cast<const char*>(piece.data()), piece.size());
    const std::vector<std::string> all = all_gather(rank() == root ? mine : std::string_view());
    const std::string& sent = all[static_cast<size_t>(root)];
    base::check_argument(sent.size() == piece.size(), "broadcast: rank {} expects {} bytes, rank {} sends {}", rank(),
                         piece.size(), root, sent.size());
    std::memcpy(piece.data(), sent.data(), piece.size());
  }
}

std::string ProcessGroup::broadcast(std::string_view text, int root) {
  return all_gather(rank() == root ? text : std::string_view())[static_cast<size_t>(root)];
}

std::vector<std::vector<double>> ProcessGroup::gather_numbers(std::span<const double> mine) {
  std::vector<std::vector<double>> all;
  for (const std::string& bytes : all_gather({reinterpret_cast<const char*>(mine.data()), mine.size_bytes()})) {
    base::check_argument(bytes.size() == mine.size_bytes(), "numbers: rank {} brings {} bytes, another rank {}", rank(),
                         mine.size_bytes(), bytes.size());
    std::memcpy(all.emplace_back(mine.size()).data(), bytes.data(), bytes.size());
  }
  return all;
}

void ProcessGroup::all_reduce_sum(std::span<double> values) {
  const auto all = gather_numbers(values);
  std::ranges::fill(values, 0.0);
  for (const std::vector<double>& part : all) {
    std::ranges::transform(values, part, values.begin(), std::plus<>());
  }
}

double ProcessGroup::maximum(double value) {
  double largest = value;
  for (const std::vector<double>& other : gather_numbers({&value, 1})) {
    largest = std::max(largest, other.front());
  }
  return largest;
}

}  // namespace dragoman::distributed
