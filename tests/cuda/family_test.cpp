// Each architecture and task of the family trains on a GPU, or on its emulation, as on the CPU.
#include <gmock/gmock.h>

#include "base/random.h"
#include "kernels/cuda/runtime.h"
#include "models/architectures/architectures.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "support/cuda_device.h"
#include "support/llama_config.h"
#include "support/recurrent_shape.h"
#include "support/tiny_config.h"
#include "tensor/transfer.h"
#include "training/contrastive_objective.h"
#include "training/data_parallel.h"

namespace dragoman::training {
namespace {

using kernels::Precision;
using models::ModelConfig;
using test_support::OnCuda;

constexpr int64_t kWords = 50;

/// What a model learns from.
enum class Text { kPairs, kRunning, kChosen, kLabels, kGroups };

/// One row of the table.
struct Member {
  const char* name;
  ModelConfig config;
  Text text;
  uint64_t waits = 1;  ///< of a warm update

  friend void PrintTo(const Member& member, std::ostream* out) { *out << member.name; }
};

std::vector<int32_t> random_ids(base::Random& random, size_t count, int32_t limit = kWords) {
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) {
    id = static_cast<int32_t>(random.below(static_cast<uint64_t>(limit)));
  }
  return ids;
}

/// @param lengths  gives the lengths
data::SentencePair random_pair(base::Random& random, base::Random& lengths, Text text) {
  data::SentencePair pair{0, random_ids(random, 2 + lengths.below(12)), {}};
  switch (text) {
    case Text::kPairs:
      pair.target = random_ids(random, 1 + lengths.below(12));
      break;
    case Text::kRunning:
      pair.source.clear();
      pair.target = random_ids(random, 3 + lengths.below(20));
      break;
    case Text::kChosen:  // two rows are predicted
      pair.target = random_ids(random, 1);
      pair.after_target = 7;
      pair.chosen = {static_cast<int32_t>(random.below(pair.source.size())),
                     static_cast<int32_t>(pair.source.size()) - 1};
      break;
    case Text::kLabels:
      pair.after_target = static_cast<int32_t>(random.below(3));
      break;
    case Text::kGroups:  // two pairs of texts
      pair.source = random_ids(random, 12);
      pair.target = random_ids(random, 1);
      pair.text_begins = {0, 3, 5, 9};
      break;
  }
  return pair;
}

/// The loss of each update, and the weights after the last.
struct Trained {
  std::vector<double> losses;
  std::vector<float> weights;
};

class Updates {
 public:
  Updates(const Member& member, Precision precision, const ObjectiveOptions& options = {}, bool records = true)
      : member_(member), model_(models::make_model(member.config)) {
    model_->parameters().allocate();
    model_->parameters().initialize(3);
    replicas_.emplace(*model_, objective(options), AdamOptions{.clip_norm = 1.0}, alone_,
                      ProcessOptions{1, precision, records});
  }

  UpdateResult update() {
    const data::Batch batch = next_batch(static_cast<uint64_t>(step_ + 1), 5);
    return replicas_->update({&batch, 1}, step_, 1e-3, 7);
  }
  /// Updates whose batches of one form have the lengths that `form` draws.
  UpdateResult update_of_form(uint64_t form, int sentences) {
    const data::Batch batch = next_batch(form, sentences);
    return replicas_->update({&batch, 1}, step_, 1e-3, 7);
  }
  int64_t replayed() const { return replicas_->replayed_passes(); }

  std::vector<float> weights() const { return model_->parameters().values().to_vector<float>(); }

 private:
  data::Batch next_batch(uint64_t form, int sentences) {
    ++step_;
    base::Random random(static_cast<uint64_t>(step_)), lengths(form);
    data::Batch batch;
    for (int sentence = 0; sentence < sentences; ++sentence) {
      data::append(batch, random_pair(random, lengths, member_.text));
    }
    return batch;
  }

  std::unique_ptr<Objective> objective(const ObjectiveOptions& options) const {
    if (member_.text == Text::kGroups) {
      return contrastive_objective(WholeTextOptions{});
    }
    return next_word_objective(options);
  }

  const Member& member_;
  std::unique_ptr<models::Model> model_;
  distributed::SingleProcess alone_;
  std::optional<DataParallel> replicas_;
  int64_t step_ = 0;
};

Trained train(const Member& member, Precision precision, int steps) {
  Updates run(member, precision);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    trained.losses.push_back(run.update().sums.loss_per_token());
  }
  trained.weights = run.weights();
  return trained;
}

models::TransformerConfig transformer() {
  models::TransformerConfig config = test_support::tiny_config(kWords);
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1F;
  return config;
}

models::TransformerConfig transformer_with(nn::DecoderSublayer sublayer) {
  models::TransformerConfig config = transformer();
  config.decoder_sublayer = sublayer;
  return config;
}

models::TransformerConfig batch_normed() {
  models::TransformerConfig config = transformer();
  config.layer.norm = kernels::NormKind::kBatch;
  return config;
}

models::TransformerConfig t5() {
  models::TransformerConfig config = transformer();
  config.norm_order = nn::NormOrder::kPre;
  config.activation = kernels::Activation::kGeluTanh;
  config.positions = nn::PositionKind::kRelative;
  config.layer.norm = kernels::NormKind::kRms;
  config.layer.feed_forward = nn::FeedForwardKind::kGated;
  config.layer.biases = nn::Biases::kNone;
  config.layer.scale_embedding = config.layer.scale_attention = false;
  config.layer.relative_buckets = 8;
  config.layer.relative_distance = 10;
  config.layer.initial_weights = nn::InitialWeights::kT5;
  return config;
}

models::DecoderOnlyConfig gpt2() {
  models::DecoderOnlyConfig config;
  config.vocab_size = kWords;
  config.layers = 2;
  config.d_model = 32;
  config.d_ff = 48;
  config.n_heads = 4;
  config.max_positions = 32;
  config.dropout = 0.1F;
  return config;
}

models::DecoderOnlyConfig llama() {
  return test_support::as_llama(gpt2());
}

models::DecoderOnlyConfig grouped() {
  models::DecoderOnlyConfig config = llama();
  config.layer.n_kv_heads = 2;
  config.layer.qk_norm = true;
  config.layer.biases = nn::Biases::kAttentionInput;
  return config;
}

models::DecoderOnlyConfig narrow_keys() {
  models::DecoderOnlyConfig config = llama();
  config.layer.d_key = 4;
  return config;
}

models::DecoderOnlyConfig windowed() {
  models::DecoderOnlyConfig config = llama();
  config.layer.window = 5;
  return config;
}

models::EncoderOnlyConfig encoder(models::EncoderHead head) {
  models::EncoderOnlyConfig config;
  config.vocab_size = kWords;
  config.layers = 1;
  config.d_model = 32;
  config.d_ff = 48;
  config.n_heads = 4;
  config.max_positions = 24;
  config.head = head;
  config.pooler = head == models::EncoderHead::kClasses ? models::Pooler::kTanh : models::Pooler::kNone;
  config.n_labels = head == models::EncoderHead::kClasses ? 3 : head == models::EncoderHead::kTags ? kWords : 0;
  return config;
}

models::RecurrentConfig gru() {
  using enum models::RecurrentAttention;
  return test_support::recurrent_config({"gru", kernels::CellKind::kGru, kBahdanau, false, 1}, kWords, 16, 16);
}

models::RecurrentConfig lstm() {
  using enum models::RecurrentAttention;
  return test_support::recurrent_config({"lstm", kernels::CellKind::kLstm, kLuong, true, 2}, kWords, 16, 16);
}

models::ConvolutionalConfig convolutional() {
  models::ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = kWords;
  config.encoder_layers = config.decoder_layers = 1;
  config.d_model = config.d_hidden = 16;
  return config;
}

std::vector<Member> family() {
  using models::EncoderHead;
  return {
      {"Transformer", transformer(), Text::kPairs},
      {"BatchNorm", batch_normed(), Text::kPairs, 33},  // 16 more for each of two norms
      {"T5", t5(), Text::kPairs},
      {"GPT2", gpt2(), Text::kRunning},
      {"Llama", llama(), Text::kRunning},
      {"LlamaGroupedQkNorm", grouped(), Text::kRunning},
      {"LlamaWindow", windowed(), Text::kRunning},
      {"LlamaNarrowKeys", narrow_keys(), Text::kRunning},
      {"MaskedLanguageModel", encoder(EncoderHead::kWords), Text::kChosen},
      {"Classify", encoder(EncoderHead::kClasses), Text::kLabels},
      {"Tag", encoder(EncoderHead::kTags), Text::kChosen},
      {"Embed", encoder(EncoderHead::kNone), Text::kGroups, 16},  // three times more for each group
      {"AverageAttention", transformer_with(nn::DecoderSublayer::kAverageAttention), Text::kPairs},
      {"Ssru", transformer_with(nn::DecoderSublayer::kSsru), Text::kPairs},
      {"Convolutional", convolutional(), Text::kPairs},
      {"Recurrent", gru(), Text::kPairs},
      {"LstmInputFeeding", lstm(), Text::kPairs},
  };
}

class CudaFamily : public testing::TestWithParam<Member> {
 protected:
  void SetUp() override {
    if (!kernels::cuda::has_device()) {
      GTEST_SKIP() << kernels::cuda::describe_devices().front();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Members, CudaFamily, testing::ValuesIn(family()),
                         [](const auto& member) { return member.param.name; });

TEST_P(CudaFamily, ThreeUpdatesLoseAsOnTheCpu) {
  const Member& member = GetParam();
  const Trained expected = train(member, Precision::kFloat32, 3);
  const OnCuda device;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const bool exact = precision == Precision::kFloat32;
    const Trained seen = train(member, precision, 3);
    EXPECT_NEAR(seen.losses[0], expected.losses[0], (exact ? 1e-5 : 1e-2) * expected.losses[0]);
    EXPECT_NEAR(seen.losses[2], expected.losses[2], (exact ? 1e-4 : 1e-2) * expected.losses[2]);
  }
}

// The host queues a whole update, and then reads losses and norm together.
TEST_P(CudaFamily, WarmUpdatesWaitOnce) {
  const Member& member = GetParam();
  const OnCuda device;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    Updates run(member, precision);
    run.update();
    for (int update = 0; update < 2; ++update) {
      const uint64_t before = kernels::cuda::waits_for_device();
      run.update();
      EXPECT_EQ(kernels::cuda::waits_for_device() - before, member.waits) << kernels::name_of(precision);
    }
  }
}

std::vector<Member> recorded_members() {
  std::vector<Member> members = family();
  std::erase_if(members, [](const Member& member) {
    return member.text == Text::kGroups || !models::make_model(member.config)->can_be_recorded();
  });
  return members;
}

class CudaRecordedUpdates : public CudaFamily {};
INSTANTIATE_TEST_SUITE_P(Members, CudaRecordedUpdates, testing::ValuesIn(recorded_members()),
                         [](const auto& member) { return member.param.name; });

// Updates of one form, another between them, and two of the first again.
Trained train_in_forms(const Member& member, const ObjectiveOptions& options, bool records) {
  Updates run(member, Precision::kBFloat16, options, records);
  Trained trained;
  for (const uint64_t form : {1, 1, 1, 2, 1, 1}) {
    const uint64_t before = kernels::cuda::waits_for_device();
    trained.losses.push_back(run.update_of_form(form, 3).sums.loss_per_token());
    EXPECT_TRUE(trained.losses.size() == 1 || kernels::cuda::waits_for_device() - before == 1);
  }
  trained.weights = run.weights();
  EXPECT_EQ(run.replayed(), records ? 3 : 0) << "all but the first two, and the one of the other form";
  return trained;
}

TEST_P(CudaRecordedUpdates, HaveTheBitsOfOthers) {
  const Member& member = GetParam();
  const OnCuda device;
  const bool is_transformer = std::string_view(member.name) == "Transformer";
  for (const double rdrop : is_transformer ? std::vector<double>{0.0, 5.0} : std::vector<double>{0.0}) {
    ObjectiveOptions options;
    options.rdrop = rdrop;
    const Trained expected = train_in_forms(member, options, false), seen = train_in_forms(member, options, true);
    EXPECT_EQ(seen.losses, expected.losses);
    EXPECT_EQ(seen.weights, expected.weights);
  }
}

}  // namespace
}  // namespace dragoman::training
