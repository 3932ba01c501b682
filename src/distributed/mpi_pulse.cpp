#include "distributed/mpi_pulse.h"

#include <algorithm>

#include "distributed/mpi_tags.h"

namespace dragoman::distributed {

MpiPulse::MpiPulse(int rank, int size, double timeout, double now)
    : rank_(rank),
      size_(size),
      interval_(std::min(1.0, timeout / 5)),
      next_beat_(now),
      watch_(rank, size, timeout, now),
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

std::vector<int> MpiPulse::beat(double now) {
  if (now >= next_beat_) {
    next_beat_ = now + interval_;
    send_signs_of_life();
  }
  take_messages(now);
  return watch_.silent(now);
}

void MpiPulse::send_signs_of_life() {
  for (int other = 0; other < size_; ++other) {
    const bool due = rank_ == 0 ? other != 0 : other == 0;
    int sent = 0;  // the previous sign: a rank that receives nothing is sent nothing more
    MPI_Request& request = sends_[static_cast<size_t>(other)];
    if (due && MPI_Test(&request, &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && sent != 0) {
      check_mpi(MPI_Isend(&alive_, sizeof alive_.status, MPI_BYTE, other, mpi_tags::kPulse, MPI_COMM_WORLD, &request),
                "MPI_Isend");
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
    if (received_.status != 0 && !last_words_) {
      last_words_ = {status.MPI_SOURCE, received_.status, received_.text.data()};
    }
    listen();
  }
}

}  // namespace dragoman::distributed
