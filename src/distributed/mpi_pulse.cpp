#include "distributed/mpi_pulse.h"

#include <algorithm>
#include <cstddef>

#include "distributed/mpi_tags.h"

namespace dragoman::distributed {

MpiPulse::MpiPulse(int rank, int size, double timeout, double now)
    : rank_(rank),
      size_(size),
      interval_(std::min(1.0, timeout / 5)),
      next_beat_(now),
      watch_(rank, size, timeout, now),
      stuck_(static_cast<size_t>(size), 0.0F),
      sends_(static_cast<size_t>(size), MPI_REQUEST_NULL) {
  listen();
}

MpiPulse::~MpiPulse() {
  MPI_Cancel(&receive_);
  MPI_Wait(&receive_, MPI_STATUS_IGNORE);
  for (MPI_Request& send : sends_) {
    if (send != MPI_REQUEST_NULL) {
      MPI_Request_free(&send);
    }
  }
}

std::vector<int> MpiPulse::beat(double now, double stuck) {
  stuck_[static_cast<size_t>(rank_)] = static_cast<float>(stuck);
  if (now >= next_beat_) {
    next_beat_ = now + interval_;
    send_signs_of_life(stuck);
  }
  take_messages(now);
  return watch_.silent(now);
}

double MpiPulse::all_stuck() const {
  return rank_ == 0 ? std::ranges::min(stuck_) : 0.0;
}

void MpiPulse::send_signs_of_life(double stuck) {
  constexpr int kBytes = offsetof(Message, text);
  for (int other = 0; other < size_; ++other) {
    const bool due = rank_ == 0 ? other != 0 : other == 0;
    int sent = 0;  // the previous sign: a rank that receives nothing is sent nothing more
    MPI_Request& request = sends_[static_cast<size_t>(other)];
    if (due && MPI_Test(&request, &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && sent != 0) {
      if (other == 0) {  // rank 0 alone reads it; it sends to many, whose messages may be under way
        alive_.stuck = static_cast<float>(stuck);
      }
      check_mpi(MPI_Isend(&alive_, kBytes, MPI_BYTE, other, mpi_tags::kPulse, MPI_COMM_WORLD, &request), "MPI_Isend");
    }
  }
}

void MpiPulse::send_last_words(int status, const std::string& text) {
  dying_.status = status;
  std::ranges::fill(dying_.text, '\0');
  std::copy_n(text.data(), std::min(text.size(), dying_.text.size() - 1), dying_.text.data());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(&dying_, sizeof dying_, MPI_BYTE, 0, mpi_tags::kPulse, MPI_COMM_WORLD, &request), "MPI_Isend");
  MPI_Request_free(&request);  // ends by itself, or with the process
}

void MpiPulse::listen() {
  check_mpi(
      MPI_Irecv(&received_, sizeof received_, MPI_BYTE, MPI_ANY_SOURCE, mpi_tags::kPulse, MPI_COMM_WORLD, &receive_),
      "MPI_Irecv");
}

void MpiPulse::take_messages(double now) {
  for (;;) {
    int arrived = 0;
    MPI_Status status{};
    check_mpi(MPI_Test(&receive_, &arrived, &status), "MPI_Test");
    if (arrived == 0) {
      return;
    }
    watch_.heard(status.MPI_SOURCE, now);
    stuck_[static_cast<size_t>(status.MPI_SOURCE)] = received_.stuck;
    if (received_.status != 0 && !last_words_) {
      last_words_ = {status.MPI_SOURCE, received_.status, received_.text.data()};
    }
    listen();
  }
}

}  // namespace dragoman::distributed
