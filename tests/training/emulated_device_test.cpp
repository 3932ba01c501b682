// A device whose memory the host cannot touch: training, saving, resuming and translating on it give the bytes of the
// CPU.
#include "support/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "base/files.h"
#include "data/sample/sample_corpus.h"
#include "decoding/load_translator.h"
#include "support/temporary_folder.h"
#include "tensor/transfer.h"
#include "training/checkpoint.h"
#include "training/presets.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using tensor::Tensor;
using test_support::OnEmulatedDevice;

TEST(EmulatedDevice, PointersToItsMemoryAreRefused) {
  const OnEmulatedDevice device;
  Tensor x = Tensor::from<float>({1, 2, 3}, {3});
  EXPECT_EQ(x.device().name(), "emulated:0");
  const char* message =
      "tensor: the host asked for the memory of emulated:0, a float32 [3]; use a transfer of tensor/transfer.h";
  EXPECT_THAT([&] { x.data<float>(); }, testing::ThrowsMessage<base::Error>(message));
  EXPECT_THAT([&] { x.span<float>(); }, testing::ThrowsMessage<base::Error>(message));
  EXPECT_THAT([&] { x.raw_data(); }, testing::ThrowsMessage<base::Error>(message));
}

TEST(EmulatedDeviceDeathTest, ReadingItsMemoryDirectlyFaults) {
  const OnEmulatedDevice device;
  const Tensor x = Tensor::from<float>({1, 2, 3}, {3});
  EXPECT_EXIT(std::exit(static_cast<int>(*static_cast<const volatile float*>(x.device_data()))),
              testing::KilledBySignal(SIGSEGV), "");
}

TEST(EmulatedDevice, TransfersCrossTheBorder) {
  const OnEmulatedDevice device;
  Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(x.to_vector<float>(), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(x.columns(1, 3).to_vector<float>(), testing::ElementsAre(2, 3, 5, 6));
  EXPECT_EQ(x.rows(1, 2).columns(2, 3).item(), 6);
  EXPECT_THAT(x.to(tensor::DType::kBFloat16).to(tensor::DType::kFloat32).to_vector<float>(),
              testing::ElementsAre(1, 2, 3, 4, 5, 6));
  {
    tensor::HostEdit<float> edit(x.rows(0, 1));
    for (float& value : edit.span()) {
      value *= 10;
    }
  }
  EXPECT_THAT(tensor::HostView<float>(x).span(), testing::ElementsAre(10, 20, 30, 4, 5, 6));
  Tensor zeros = Tensor::zeros({2, 3});
  tensor::swap_elements(x, zeros);
  EXPECT_THAT(x.to_vector<float>(), testing::Each(0.0F));
  EXPECT_EQ(tensor::offset_in(zeros, zeros.rows(1, 2)), 3);
  zeros.columns(0, 2).copy_from(x.columns(0, 2));
  EXPECT_THAT(zeros.to_vector<float>(), testing::ElementsAre(0, 0, 30, 0, 0, 6));
}

TEST(EmulatedDevice, NumbersOfSeveralTensorsComeTogether) {
  const OnEmulatedDevice device;
  const Tensor numbers[] = {Tensor::from<double>({1, 2}, {2}), Tensor::from<double>({3}, {1})};
  EXPECT_THAT(tensor::numbers_of(numbers), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(tensor::numbers_of({}), testing::IsEmpty());
}

TEST(EmulatedDevice, ADeviceWithoutABackendIsNamed) {
  EXPECT_THAT(
      [] {
        kernels::backend_of({tensor::DeviceKind::kCuda, 1}, tensor::DType::kFloat32);
      },
      testing::ThrowsMessage<base::Error>("kernels: this program has no backend for cuda:1"));
}

/// Runs of a small Transformer on sample sentences.
class EmulatedTraining : public testing::Test {
 protected:
  EmulatedTraining() {
    data::SampleCorpusOptions corpus;
    corpus.size = 300;
    corpus.output = folder_.path() / "corpus";
    data::write_sample_corpus(corpus);
  }

  TrainOptions options(const std::string& name) const {
    TrainOptions options = preset_options("tiny");
    options.source = {folder_.path() / "corpus/train.en"};
    options.target = {folder_.path() / "corpus/train.de"};
    options.valid_source = {folder_.path() / "corpus/valid.en"};
    options.valid_target = {folder_.path() / "corpus/valid.de"};
    options.model_folder = folder_.path() / name;
    options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
      shape.d_model = 16;
      shape.d_ff = 32;
      shape.n_heads = 2;
      shape.encoder_layers = shape.decoder_layers = 1;
      shape.source_word_dropout = 0.1F;
    });
    options.vocabulary.size = 300;
    options.precision = kernels::Precision::kFloat32;
    options.batch.batch_tokens = 600;
    options.batch.window_sentences = 100;
    options.run.validate_every = 10;
    options.run.average = 2;
    options.run.workers = 1;
    options.run.ema_decay = 0.9;
    return options;
  }

  static void train(TrainOptions options, int64_t max_steps) {
    options.run.max_steps = max_steps;
    std::ostringstream terminal;
    Trainer trainer(options, terminal);
    ASSERT_EQ(trainer.run(), StopReason::kMaxSteps) << terminal.str();
  }

  std::vector<std::string> translations(const std::string& name) const {
    const decoding::Translator translator =
        decoding::load_translator(folder_.path() / name, kernels::Precision::kFloat32);
    const std::vector<std::string> lines = {"The old man sees a small dog.", "A woman reads the book.", ""};
    decoding::SearchOptions search;
    search.beam_size = 4;
    std::vector<std::string> texts;
    for (const decoding::Translation& translation : translator.translate(lines, search)) {
      texts.push_back(translation.text);
    }
    return texts;
  }

  std::string hash(const std::string& name, const char* file) const {
    return base::sha256_file(checkpoint_folder(folder_.path() / name, 20) / file);
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(EmulatedTraining, TrainsResumesAndTranslatesWithTheBytesOfTheCpu) {
  for (const double rdrop : {0.0, 5.0}) {
    const std::string suffix = rdrop > 0 ? "-rdrop" : "";
    TrainOptions cpu = options("cpu" + suffix), device = options("device" + suffix);
    cpu.loss.rdrop = device.loss.rdrop = rdrop;
    train(cpu, 20);
    const std::vector<std::string> expected = translations("cpu" + suffix);
    const OnEmulatedDevice scope;
    train(device, 7);
    train(device, 20);  // resumed
    EXPECT_EQ(translations("device" + suffix), expected);
    EXPECT_THAT(scope.kernels_run(),
                testing::IsSupersetOf({"gemm", "gather_rows", "scatter_rows_accumulate", "residual_dropout_layer_norm",
                                       "activation", "attention_forward", "attention_backward", "attention_step",
                                       "attention_shared", "pack_shared_keys", "store_cached_rows", "best_of_rows",
                                       "clip_factors", "all_finite", "adam_update", "ema_update",
                                       rdrop > 0 ? "two_pass_cross_entropy" : "cross_entropy_gradient"}));
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      EXPECT_EQ(hash("device" + suffix, file), hash("cpu" + suffix, file)) << file;
    }
    EXPECT_EQ(base::sha256_file(folder_.path() / ("device" + suffix) / "model.safetensors"),
              base::sha256_file(folder_.path() / ("cpu" + suffix) / "model.safetensors"));
  }
}

TEST_F(EmulatedTraining, AskedForAnotherPrecisionItSaysWhatItHas) {
  TrainOptions rounded = options("rounded");
  rounded.precision = kernels::Precision::kBFloat16;
  const OnEmulatedDevice scope;
  EXPECT_THAT([&] { train(rounded, 1); },
              testing::ThrowsMessage<base::Error>(
                  "parameters: emulated:0 multiplies weights in float32 only, asked for bfloat16; choose float32"));
}

}  // namespace
}  // namespace dragoman::training
