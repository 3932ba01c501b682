// libdragoman.so with a model on a GPU, or on its emulation.
#include <dragoman.h>
#include <gmock/gmock.h>

#include <thread>

#include "kernels/cuda/cuda_device.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

class CudaCApi : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernels::cuda::has_device()) {
      GTEST_SKIP() << kernels::cuda::describe_devices().front();
    }
    test_support::write_tiny_model(folder_.path() / "model");
    test_support::write_tiny_language_model(folder_.path() / "letters");
    test_support::write_tiny_encoder(folder_.path() / "encoder", models::EncoderHead::kNone);
  }

  // @param device  null for the default
  std::shared_ptr<dragoman_model> load(const char* name, const char* device) const {
    dragoman_load_options options;
    EXPECT_EQ(dragoman_load_options_init(&options, sizeof options), DRAGOMAN_OK);
    options.device = device;
    dragoman_model* model = nullptr;
    EXPECT_EQ(dragoman_model_load((folder_.path() / name).c_str(), &options, &model), DRAGOMAN_OK)
        << dragoman_last_error();
    return {model, dragoman_model_free};
  }

  test_support::TemporaryFolder folder_;
};

std::string translated(const dragoman_model* model, const std::string& line) {
  const dragoman_text text{line.data(), line.size()};
  dragoman_translations* translations = nullptr;
  EXPECT_EQ(dragoman_translate(model, &text, 1, nullptr, &translations), DRAGOMAN_OK) << dragoman_last_error();
  dragoman_translation translation{};
  translation.size = sizeof translation;
  EXPECT_EQ(dragoman_translations_get(translations, 0, 0, &translation), DRAGOMAN_OK);
  std::string result = translation.text;
  dragoman_translations_free(translations);
  return result;
}

std::string continued(const dragoman_model* model, const std::string& prompt) {
  const dragoman_text text{prompt.data(), prompt.size()};
  dragoman_continuations* continuations = nullptr;
  EXPECT_EQ(dragoman_generate(model, &text, 1, nullptr, &continuations), DRAGOMAN_OK) << dragoman_last_error();
  dragoman_continuation continuation{};
  continuation.size = sizeof continuation;
  EXPECT_EQ(dragoman_continuations_get(continuations, 0, &continuation), DRAGOMAN_OK);
  std::string result = continuation.text;
  dragoman_continuations_free(continuations);
  return result;
}

std::vector<float> embedded(const dragoman_model* model, const std::string& line) {
  const dragoman_text text{line.data(), line.size()};
  dragoman_embeddings* embeddings = nullptr;
  EXPECT_EQ(dragoman_embed(model, &text, 1, nullptr, &embeddings), DRAGOMAN_OK) << dragoman_last_error();
  size_t count = 0, width = 0;
  const float* const values = dragoman_embeddings_values(embeddings, &count, &width, nullptr);
  std::vector<float> result(values, values + count * width);
  dragoman_embeddings_free(embeddings);
  return result;
}

TEST_F(CudaCApi, ModelsOfAGpuAnswerAsThoseOfTheCpu) {
  const std::string line = "the cat runs and the dog sleeps";
  const auto translator = load("model", "cuda"), letters = load("letters", "cuda:0"), encoder = load("encoder", "auto");
  EXPECT_EQ(translated(translator.get(), line), translated(load("model", nullptr).get(), line));
  EXPECT_EQ(continued(letters.get(), "the cat"), continued(load("letters", "cpu").get(), "the cat"));
  EXPECT_THAT(embedded(encoder.get(), line),
              testing::Pointwise(testing::FloatNear(1e-4F), embedded(load("encoder", "cpu").get(), line)));
  const std::string alone = translated(translator.get(), line);
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&] { EXPECT_EQ(translated(translator.get(), line), alone); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(CudaCApi, WrongDevicesAreRefused) {
  dragoman_load_options options;
  ASSERT_EQ(dragoman_load_options_init(&options, sizeof options), DRAGOMAN_OK);
  dragoman_model* model = nullptr;
  const std::string folder = (folder_.path() / "model").string();
  options.device = "cuda:77";
  EXPECT_EQ(dragoman_model_load(folder.c_str(), &options, &model), DRAGOMAN_USAGE_ERROR);
  EXPECT_THAT(dragoman_last_error(), testing::HasSubstr("there is no cuda:77"));
  EXPECT_EQ(model, nullptr);
}

}  // namespace
}  // namespace dragoman
