// Run by mpi_test.cpp under mpirun: every rank makes the same calls and checks what it gets.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/random.h"
#include "base/worker_pool.h"
#include "distributed/join_processes.h"
#include "distributed/process_group.h"
#include "distributed/thread_communicator.h"

namespace dragoman::distributed {
namespace {

ProcessGroup* ranks = nullptr;  // of this program, set by main before the tests run

std::string text_of(int rank, int round) {
  return std::string(static_cast<size_t>((rank * 7 + round * 13) % 40), static_cast<char>('a' + rank)) +
         (round % 5 == 0 ? std::string(300'000, '.') : "");
}

TEST(MpiRanks, EveryRankGetsWhatEachBrings) {
  for (int round = 0; round < 20; ++round) {
    const std::vector<std::string> all = ranks->all_gather(text_of(ranks->rank(), round));
    ASSERT_EQ(all.size(), static_cast<size_t>(ranks->size()));
    for (int rank = 0; rank < ranks->size(); ++rank) {
      ASSERT_EQ(all[static_cast<size_t>(rank)], text_of(rank, round)) << "from rank " << rank << " in round " << round;
    }
  }
}

TEST(MpiRanks, BroadcastHandsOutWhatTheRootHas) {
  const int last = ranks->size() - 1;
  EXPECT_EQ(ranks->broadcast(ranks->rank() == last ? "from the last" : "ignored", last), "from the last");
  std::vector<float> values(5'000'000, static_cast<float>(ranks->rank()));  // more than one piece
  ranks->broadcast(values);
  EXPECT_EQ(std::ranges::count(values, 0.0F), 5'000'000);
}

TEST(MpiRanks, ChannelsDoNotMix) {
  std::thread data([] {
    for (int round = 0; round < 30; ++round) {
      EXPECT_EQ(ranks->all_gather("data" + std::to_string(round), Channel::kData).back(),
                "data" + std::to_string(round));
    }
  });
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(ranks->all_gather("train" + std::to_string(round)).back(), "train" + std::to_string(round));
  }
  data.join();
}

float value_of(int rank, size_t index, int round) {
  base::Random random(static_cast<uint64_t>(rank), index % 97 + 100 * static_cast<uint64_t>(round));
  return static_cast<float>(random.uniform() - 0.5);
}

// Ranks with two threads each; the result must be the sum in the order of all replicas, to the bit.
TEST(MpiRanks, GroupsOfThreadsSumOverAllRanksInOrder) {
  constexpr int kThreads = 2, kTags = 5, kRounds = 4;
  constexpr size_t kLength = 40'000;
  auto group = ThreadCommunicator::make_group(kThreads, ranks);
  base::WorkerPool pool(kThreads);
  std::vector<std::vector<float>> values(kThreads, std::vector<float>(kTags * kLength));
  std::vector<int> wrong(kThreads);
  pool.run([&](int thread) {
    ThreadCommunicator& mine = *group[static_cast<size_t>(thread)];
    base::Random random(static_cast<uint64_t>(ranks->rank() * kThreads + thread));
    const std::span<float> all = values[static_cast<size_t>(thread)];
    for (int round = 0; round < kRounds; ++round) {
      std::vector<int> tags{0, 1, 2, 3, 4};
      base::shuffle(tags.begin(), tags.end(), random);
      for (const int tag : tags) {
        const std::span<float> bucket = all.subspan(static_cast<size_t>(tag) * kLength, kLength);
        for (size_t index = 0; index < kLength; ++index) {
          bucket[index] = value_of(ranks->rank() * kThreads + thread, index, round);
        }
        mine.begin_sum(bucket, tag);
      }
      mine.end_sums();
      const Part share = mine.share(static_cast<int64_t>(kLength));
      for (size_t at = 0; at < all.size(); at += 13) {
        const size_t index = at % kLength;
        float expected = 0.0F;
        for (int rank = 0; rank < ranks->size(); ++rank) {
          const float process = value_of(rank * kThreads, index, round) + value_of(rank * kThreads + 1, index, round);
          expected = rank == 0 ? process : expected + process;
        }
        const bool own = static_cast<int64_t>(index) >= share.begin && static_cast<int64_t>(index) < share.end;
        wrong[static_cast<size_t>(thread)] += own && all[at] != expected ? 1 : 0;
      }
      mine.barrier();
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(kThreads)) << "sums that differ from those in order";
  EXPECT_GT(ranks->take_sum_seconds(), 0.0);
}

TEST(MpiRanks, SumsOfDoublesAreTheSameOnAllRanks) {
  std::vector<double> values{0.1 * (ranks->rank() + 1), 1.0};
  ranks->all_reduce_sum(values);
  EXPECT_EQ(values[1], ranks->size());
  double expected = 0.0;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    expected += 0.1 * (rank + 1);
  }
  EXPECT_EQ(values[0], expected);
  EXPECT_EQ(ranks->processes_here(), ranks->size());
}

}  // namespace
}  // namespace dragoman::distributed

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // where the test that starts this looks
  using dragoman::distributed::Channel;
  const bool disagree = argc > 1 && std::string_view(argv[1]) == "disagree";
  const auto group = dragoman::distributed::join_processes({.timeout_seconds = disagree ? 1.0 : 20.0});
  dragoman::distributed::ranks = group.get();
  if (disagree) {  // each waits for what the others do not send
    group->all_gather("", group->rank() == 0 ? Channel::kTraining : Channel::kData);
  }
  return RUN_ALL_TESTS();
}
