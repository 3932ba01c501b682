// Sums over processes with a GPU each. In the emulation the processes are threads.
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/worker_pool.h"
#include "distributed/device_sums.h"
#include "kernels/backends/backend_of.h"
#include "models/transformer/transformer.h"
#include "support/cuda_device.h"
#include "support/random_batch.h"
#include "support/thread_processes.h"
#include "support/tiny_config.h"
#include "training/data_parallel.h"

namespace dragoman {
namespace {

using tensor::Tensor;
using test_support::OnCuda;
using test_support::ThreadProcesses;

const kernels::Backend& device_backend() {
  return kernels::backend_of(Tensor::empty({1}));
}

// On one GPU, too: NCCL lets a rank send to itself.
TEST(DeviceGroup, ARankAloneSendsToItself) {
  if (!kernels::cuda::has_device()) {
    GTEST_SKIP() << kernels::cuda::describe_devices().front();
  }
  const OnCuda device;
  const kernels::Backend& backend = device_backend();
  const std::string group = backend.new_device_group();
  ASSERT_FALSE(group.empty()) << "NCCL is missing";
  EXPECT_FALSE(backend.device_place().empty());
  const auto messages = backend.join_device_group(group, 0, 1);
  for (int round = 0; round < 3; ++round) {
    const std::vector<float> values{1.0F, 2.0F, static_cast<float>(round)};
    const Tensor sent = Tensor::from<float>(values, {3}), received = Tensor::zeros({3});
    const kernels::DeviceMessages::Piece from{0, sent}, to{0, received};
    messages->begin_exchange({&from, 1}, {&to, 1});
    messages->end_exchanges();
    EXPECT_EQ(received.to_vector<float>(), values);
  }
}

#ifndef DRAGOMAN_ON_A_CARD  // where several processes share one GPU there are no messages

class DeviceSums : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DeviceSums, testing::Values(2, 3, 4));

// Ranks begin their sums in different orders. Sums of 1e8, 1 and -1e8 depend on the order of the ranks.
TEST_P(DeviceSums, AreTakenInTheOrderOfTheRanks) {
  const int ranks = GetParam();
  constexpr int kSums = 5, kRounds = 3;
  const std::vector<int64_t> lengths{1000, 1, 48, 17, 4096};
  const auto value = [](int rank, int sum, int64_t index, int round) {
    base::Random random(static_cast<uint64_t>(rank + 10 * sum + 100 * round), static_cast<uint64_t>(index));
    return static_cast<float>((random.uniform() - 0.5) * (random.below(2) == 0 ? 1e8 : 1.0));
  };
  auto processes = ThreadProcesses::make(ranks);
  base::WorkerPool pool(ranks);
  std::vector<int> wrong(static_cast<size_t>(ranks));
  pool.run([&](int rank) {
    const OnCuda device;
    auto messages = distributed::connect_devices(*processes[static_cast<size_t>(rank)], device_backend());
    ASSERT_NE(messages, nullptr);
    distributed::DeviceSums sums(std::move(messages), rank, ranks, kSums);
    base::Random random(static_cast<uint64_t>(rank));
    for (int round = 0; round < kRounds; ++round) {
      std::vector<int> tags{0, 1, 2, 3, 4};
      base::shuffle(tags.begin(), tags.end(), random);
      std::vector<Tensor> values(kSums);
      for (const int tag : tags) {
        std::vector<float> mine(static_cast<size_t>(lengths[static_cast<size_t>(tag)]));
        for (size_t index = 0; index < mine.size(); ++index) {
          mine[index] = value(rank, tag, static_cast<int64_t>(index), round);
        }
        const auto length = static_cast<int64_t>(mine.size());
        values[static_cast<size_t>(tag)] = Tensor::from<float>(mine, {length});
        sums.begin(values[static_cast<size_t>(tag)], tag);
      }
      sums.end();
      sums.hand_out(values);
      for (int tag = 0; tag < kSums; ++tag) {
        const std::vector<float> seen = values[static_cast<size_t>(tag)].to_vector<float>();
        for (size_t index = 0; index < seen.size(); ++index) {
          float expected = value(0, tag, static_cast<int64_t>(index), round);
          for (int other = 1; other < ranks; ++other) {
            expected += value(other, tag, static_cast<int64_t>(index), round);
          }
          wrong[static_cast<size_t>(rank)] += seen[index] == expected ? 0 : 1;
        }
      }
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(static_cast<size_t>(ranks)));
}

TEST(DeviceSums, RefuseASumTwiceAndAnEndTooEarly) {
  const OnCuda device;
  const kernels::Backend& backend = device_backend();
  distributed::DeviceSums sums(backend.join_device_group(backend.new_device_group(), 0, 1), 0, 1, 2);
  sums.begin(Tensor::zeros({4}), 1);
  EXPECT_THROW(sums.begin(Tensor::zeros({4}), 1), base::Error);
  EXPECT_THROW(sums.end(), base::Error);
}

struct Trained {
  std::vector<double> losses;
  std::vector<float> weights, first_moment, second_moment;
  int64_t own_moments = 0;  // elements of a moment in the memory of one process
};

Trained train(distributed::ProcessGroup& processes, int workers) {
  models::TransformerConfig config = test_support::tiny_config();
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = 0.2F;
  models::Transformer model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  training::AdamOptions adam;
  adam.clip_norm = 1.0;
  training::DataParallel replicas(model, training::next_word_objective({}), adam, processes, {workers});
  Trained trained;
  for (int step = 1; step <= 6; ++step) {
    const data::Batch batch = test_support::random_batch(static_cast<uint64_t>(step), 7);
    trained.losses.push_back(replicas.update({&batch, 1}, step, 1e-3, 7).sums.loss_per_token());
  }
  trained.weights = model.parameters().values().to_vector<float>();
  const training::DataParallel::Moments moments = replicas.moments();
  replicas.set_moments(moments);
  const training::DataParallel::Moments again = replicas.moments();
  EXPECT_EQ(moments.first.to_vector<float>(), again.first.to_vector<float>());
  EXPECT_EQ(moments.second.to_vector<float>(), again.second.to_vector<float>());
  trained.first_moment = moments.first.to_vector<float>();
  trained.second_moment = moments.second.to_vector<float>();
  trained.own_moments = replicas.optimizer().first_moment().size();
  return trained;
}

// As many replicas on the CPU see the same shards and the same masks.
TEST(DeviceGroup, TwoProcessesWithAGpuEachTrainAsTwoReplicasOfTheCpu) {
  distributed::SingleProcess alone;
  const Trained expected = train(alone, 2);
  auto processes = ThreadProcesses::make(2);
  base::WorkerPool pool(2);
  std::vector<Trained> seen(2);
  pool.run([&](int rank) {
    const OnCuda device;
    seen[static_cast<size_t>(rank)] = train(*processes[static_cast<size_t>(rank)], 1);
  });
  EXPECT_EQ(seen[0].weights, seen[1].weights);
  EXPECT_EQ(seen[0].losses, seen[1].losses);
  EXPECT_EQ(seen[0].first_moment, seen[1].first_moment);
  EXPECT_EQ(seen[0].second_moment, seen[1].second_moment);
  EXPECT_EQ(seen[0].own_moments + seen[1].own_moments, std::ssize(expected.weights));
  EXPECT_LT(seen[0].own_moments, seen[1].own_moments + 32) << "about a half each";
  for (size_t index = 0; index < expected.first_moment.size(); ++index) {
    ASSERT_NEAR(seen[0].first_moment[index], expected.first_moment[index], 1e-3) << "element " << index;
  }
  for (size_t step = 0; step < expected.losses.size(); ++step) {
    EXPECT_NEAR(seen[0].losses[step], expected.losses[step], 1e-4 * expected.losses[step]) << "update " << step + 1;
  }
}

#endif

}  // namespace
}  // namespace dragoman
