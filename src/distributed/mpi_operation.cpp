#include "distributed/mpi_operation.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "distributed/message_pieces.h"
#include "distributed/mpi_tags.h"

namespace dragoman::distributed {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) [[likely]] {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  base::fail(base::ErrorKind::kRuntime, "{}: {}", call, text.data());
}

void MpiRequests::send(const void* bytes, size_t count, int to, int tag) {
  for_each_piece(count, kMaxMessageBytes, [&](size_t offset, size_t length) {
    MPI_Request& request = requests_.emplace_back();
    check_mpi(MPI_Isend(static_cast<const char*>(bytes) + offset, static_cast<int>(length), MPI_BYTE, to, tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Isend");
  });
}

void MpiRequests::receive(void* bytes, size_t count, int from, int tag) {
  for_each_piece(count, kMaxMessageBytes, [&](size_t offset, size_t length) {
    MPI_Request& request = requests_.emplace_back();
    check_mpi(MPI_Irecv(static_cast<char*>(bytes) + offset, static_cast<int>(length), MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Irecv");
  });
}

bool MpiRequests::done() {
  int all = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  if (all != 0) {
    requests_.clear();
  }
  return all != 0;
}

void MpiGather::start(int rank, int size) {
  rank_ = rank;
  my_size_ = mine_.size();
  sizes_.resize(static_cast<size_t>(size));
  all_.resize(static_cast<size_t>(size));
  const int tag = mpi_tags::sizes(channel_);
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      requests_.receive(&sizes_[static_cast<size_t>(other)], sizeof(uint64_t), other, tag);
      requests_.send(&my_size_, sizeof my_size_, other, tag);
    }
  }
}

bool MpiGather::advance() {
  if (!requests_.done()) {
    return false;
  }
  if (stage_ == Stage::kBytes) {
    all_[static_cast<size_t>(rank_)] = std::move(mine_);
    return true;
  }
  stage_ = Stage::kBytes;
  exchange_bytes();
  return false;
}

void MpiGather::exchange_bytes() {
  const int tag = mpi_tags::bytes(channel_);
  for (size_t other = 0; other < all_.size(); ++other) {
    if (static_cast<int>(other) == rank_) {
      continue;
    }
    if (sizes_[other] > 0) {
      all_[other].resize(sizes_[other]);
      requests_.receive(all_[other].data(), all_[other].size(), static_cast<int>(other), tag);
    }
    if (!mine_.empty()) {
      requests_.send(mine_.data(), mine_.size(), static_cast<int>(other), tag);
    }
  }
}

void MpiSum::prepare(std::span<float> values, int tag) {
  values_ = values;
  tag_ = tag;
  stage_ = Stage::kParts;
  done = false;
}

std::span<float> MpiSum::part(int rank) const {
  const Part part = part_of(static_cast<int64_t>(values_.size()), rank, size_);
  return values_.subspan(static_cast<size_t>(part.begin), static_cast<size_t>(part.end - part.begin));
}

void MpiSum::start(int rank, int size) {
  rank_ = rank;
  size_ = size;
  const size_t length = part(rank).size();
  scratch_.resize(length * static_cast<size_t>(size));
  for (int other = 0; other < size; ++other) {
    if (other != rank) {
      const std::span<float> theirs = part(other);
      requests_.receive(scratch_.data() + length * static_cast<size_t>(other), length * sizeof(float), other,
                        mpi_tags::parts(tag_));
      requests_.send(theirs.data(), theirs.size_bytes(), other, mpi_tags::parts(tag_));
    }
  }
}

bool MpiSum::advance() {
  if (!requests_.done()) {
    return false;
  }
  if (stage_ == Stage::kSums) {
    return true;
  }
  add_parts();
  stage_ = Stage::kSums;
  hand_out();
  return false;
}

// values[own part] = the sum over all ranks, in rank order.
void MpiSum::add_parts() {
  const std::span<float> own = part(rank_);
  constexpr size_t kBlock = 4096;  // elements: the running sum stays in cache
  std::array<float, kBlock> sum;
  for (size_t begin = 0; begin < own.size(); begin += kBlock) {
    const size_t length = std::min(kBlock, own.size() - begin);
    for (int rank = 0; rank < size_; ++rank) {
      const float* from =
          rank == rank_ ? own.data() + begin : scratch_.data() + own.size() * static_cast<size_t>(rank) + begin;
      for (size_t index = 0; index < length; ++index) {
        sum[index] = rank == 0 ? from[index] : sum[index] + from[index];
      }
    }
    std::copy_n(sum.data(), length, own.data() + begin);
  }
}

void MpiSum::hand_out() {
  const std::span<float> own = part(rank_);
  for (int other = 0; other < size_; ++other) {
    if (other != rank_) {
      const std::span<float> theirs = part(other);
      requests_.receive(theirs.data(), theirs.size_bytes(), other, mpi_tags::sums(tag_));
      requests_.send(own.data(), own.size_bytes(), other, mpi_tags::sums(tag_));
    }
  }
}

}  // namespace dragoman::distributed
