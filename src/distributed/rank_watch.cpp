#include "distributed/rank_watch.h"

#include <algorithm>

namespace dragoman::distributed {
namespace {

constexpr double kTurnSeconds = 2.0;
constexpr double kMaxTurnSeconds = 8.0;

}  // namespace

RankWatch::RankWatch(int rank, int size, double timeout, double now)
    : timeout_(timeout),
      patience_(timeout + (rank == 0 ? 0.0 : std::min(kTurnSeconds * (rank - 1), kMaxTurnSeconds))),
      watched_(static_cast<size_t>(size), rank == 0),
      last_heard_(static_cast<size_t>(size), now),
      last_look_(now) {
  watched_[0] = rank != 0;
}

void RankWatch::heard(int rank, double now) {
  last_heard_[static_cast<size_t>(rank)] = now;
}

std::vector<int> RankWatch::silent(double now) {
  if (now - last_look_ > timeout_ / 4) {
    std::ranges::fill(last_heard_, now);
  }
  last_look_ = now;
  std::vector<int> ranks;
  for (size_t rank = 0; rank < watched_.size(); ++rank) {
    if (watched_[rank] && now - last_heard_[rank] > patience_) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

}  // namespace dragoman::distributed
