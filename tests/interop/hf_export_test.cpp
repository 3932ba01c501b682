// Export of language models: an imported one goes back as it came, one of dragoman computes the same after both ways,
// and what a layout lacks is refused.
#include "interop/hf_export.h"

#include <gtest/gtest.h>

#include <random>

#include "data/chat/chat_template.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "interop/gguf_export.h"
#include "interop/hf_import.h"
#include "language_model_folders.h"
#include "support/expect_error.h"
#include "support/llama_config.h"
#include "support/temporary_folder.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using models::DecoderOnlyConfig;
using tensor::Tensor;
using test_support::expect_error;

constexpr std::string_view kText = "to be, or not to be";

DecoderOnlyConfig gpt() {
  DecoderOnlyConfig config;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  config.max_positions = 24;
  return config;
}

DecoderOnlyConfig llama() {
  DecoderOnlyConfig config = test_support::as_llama(gpt());
  config.layer.n_kv_heads = 2;
  return config;
}

// A model of the characters of kText with random values.
models::ModelFiles files_of(DecoderOnlyConfig config) {
  const data::Vocabulary vocabulary = data::character_tokenizer(kText);
  config.vocab_size = vocabulary.size();
  models::DecoderOnly model(config);
  model.parameters().allocate();
  models::ModelFiles files{models::to_json(config), models::named_tensors(model.parameters()), {}};
  std::mt19937 random(5);
  std::uniform_real_distribution<float> values(-0.5F, 0.5F);
  for (auto& [name, tensor] : files.tensors) {
    for (float& value : tensor.span<float>()) {
      value = values(random) + (name.ends_with("gain") ? 1.0F : 0.0F);
    }
  }
  files.vocabularies[models::kTokenizerName] = vocabulary.bytes();
  return files;
}

void expect_same_logits(const models::ModelFiles& left, const models::ModelFiles& right, double tolerance) {
  const std::vector<int32_t> ids = {1, 4, 0, 2, 3, 5, 5, 1};
  const Tensor one = logits_of(*language_model_of(left), ids), two = logits_of(*language_model_of(right), ids);
  ASSERT_EQ(one.shape(), two.shape());
  for (size_t i = 0; i < static_cast<size_t>(one.size()); ++i) {
    ASSERT_NEAR(one.span<float>()[i], two.span<float>()[i], tolerance) << i;
  }
}

class ExportedLanguageModel : public testing::Test {
 protected:
  // The model after both ways.
  models::ModelFiles there_and_back(const models::ModelFiles& files, bool is_gpt2) {
    const fs::path folder = folder_.path() / std::to_string(count_++);
    write_exported_model(is_gpt2 ? export_gpt2(files, "m") : export_llama(files, "m"), folder);
    return is_gpt2 ? import_gpt2(folder).files : import_llama(folder).files;
  }

  test_support::TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(ExportedLanguageModel, AnImportedFolderGoesBackAsItCame) {
  for (const std::string& name : kLanguageModels) {
    const bool is_gpt2 = name.starts_with("gpt2");
    const fs::path folder = language_model_folder(name);
    const models::ModelFiles files = (is_gpt2 ? import_gpt2(folder) : import_llama(folder)).files;
    const models::ModelFiles back = there_and_back(files, is_gpt2);
    EXPECT_EQ(back.config, files.config) << name;
    EXPECT_EQ(back.vocabularies, files.vocabularies) << name;
    ASSERT_EQ(back.tensors.size(), files.tensors.size()) << name;
    for (const auto& [path, tensor] : files.tensors) {
      EXPECT_EQ(back.tensors.at(path).to_vector<float>(), tensor.to_vector<float>()) << name << ' ' << path;
    }
  }
}

TEST_F(ExportedLanguageModel, GptsOfAllOptionsThatGpt2CanExpressComputeTheSame) {
  for (const nn::Biases biases : {nn::Biases::kAll, nn::Biases::kAttentionInput, nn::Biases::kNone}) {
    for (const nn::PositionKind positions :
         {nn::PositionKind::kLearned, nn::PositionKind::kSinusoidal, nn::PositionKind::kNone}) {
      DecoderOnlyConfig config = gpt();
      config.layer.biases = biases;
      config.positions = positions;
      const models::ModelFiles files = files_of(config);
      expect_same_logits(there_and_back(files, true), files, 1e-6);
    }
  }
  DecoderOnlyConfig scaled = gpt();
  scaled.layer.scale_embedding = true;
  scaled.activation = kernels::Activation::kReluSquared;
  expect_same_logits(there_and_back(files_of(scaled), true), files_of(scaled), 1e-5);
}

TEST_F(ExportedLanguageModel, LlamasOfAllOptionsThatTheFamilyCanExpressComputeTheSame) {
  std::vector<DecoderOnlyConfig> configs(6, llama());
  configs[1].layer.biases = nn::Biases::kAll;
  configs[2].layer.biases = nn::Biases::kAttentionInput;
  configs[3].layer.window = 3;
  configs[4].layer.qk_norm = true;
  configs[4].layer.d_head = 6;
  configs[4].layer.window = 3;
  configs[5].layer.biases = nn::Biases::kAttentionInput;
  configs[5].layer.window = 3;
  configs[5].layer.rope_scaling = kernels::RotationScaling::kLlama3;
  configs[5].layer.rope_factor = 4.0;
  configs[5].layer.rope_trained_length = 12;
  for (const DecoderOnlyConfig& config : configs) {
    expect_same_logits(there_and_back(files_of(config), false), files_of(config), 1e-6);
  }
}

void expect_refused(const DecoderOnlyConfig& config, bool is_gpt2, const std::vector<std::string>& parts) {
  const models::ModelFiles files = files_of(config);
  expect_error(ErrorKind::kBadData, parts,
               [&] { static_cast<void>(is_gpt2 ? export_gpt2(files, "m") : export_llama(files, "m")); });
}

TEST(LanguageModelExport, WhatALayoutLacksIsRefusedByField) {
  expect_refused(llama(), true, {"m/config.json", "norm is rms", "layer only"});
  expect_refused(gpt(), false, {"m/config.json", "norm is layer", "rms only"});
  DecoderOnlyConfig config = gpt();
  config.norm_order = nn::NormOrder::kPost;
  expect_refused(config, true, {"norm_order is post"});
  config = gpt();
  config.layer.scale_attention = false;
  expect_refused(config, true, {"scale_attention is false"});
  for (const bool is_gpt2 : {true, false}) {
    config = is_gpt2 ? gpt() : llama();
    config.layer.d_key = 2;
    expect_refused(config, is_gpt2, {"d_key is 2"});
  }
  config = gpt();
  config.layer.n_kv_heads = 2;
  expect_refused(config, true, {"n_kv_heads is 2"});
  config = gpt();
  config.layer.window = 4;
  expect_refused(config, true, {"window is 4"});
  config = llama();
  config.layer.biases = nn::Biases::kAll;
  config.layer.qk_norm = true;
  expect_refused(config, false, {"m/model.safetensors", "feed_forward", "is not zero"});
}

TEST(LanguageModelExport, ASentencePieceVocabularyIsRefused) {
  models::ModelFiles files = files_of(gpt());
  files.vocabularies = {{"vocabulary.spm", "x"}};
  expect_error(ErrorKind::kBadData, {"SentencePiece"}, [&] { static_cast<void>(export_gpt2(files, "m")); });
  expect_error(ErrorKind::kBadData, {"tokenizer.json"},
               [&] { static_cast<void>(export_gguf(files, "m", GgufType::kF16)); });
}

TEST(Gguf, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(to_half(0.0F), 0x0000);
  EXPECT_EQ(to_half(-0.0F), 0x8000);
  EXPECT_EQ(to_half(1.0F), 0x3C00);
  EXPECT_EQ(to_half(-2.5F), 0xC100);
  EXPECT_EQ(to_half(65'504.0F), 0x7BFF);
  EXPECT_EQ(to_half(65'519.0F), 0x7BFF);
  EXPECT_EQ(to_half(65'520.0F), 0x7C00);
  EXPECT_EQ(to_half(0x1p-24F), 0x0001);
  EXPECT_EQ(to_half(0x1p-25F), 0x0000);
  EXPECT_EQ(to_half(0x1.8p-24F), 0x0002);
  EXPECT_EQ(to_half(0x1p-14F), 0x0400);
  EXPECT_EQ(to_half(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(to_half(1.0F + 0x1.8p-10F), 0x3C02);
}

TEST(Gguf, AFileHasItsKeysAndAlignedTensors) {
  test_support::TemporaryFolder folder;
  GgufFile file;
  file.add("general.architecture", std::string_view("gpt2"));
  file.add_tensor("a", Tensor::full({2, 32}, 1.0), GgufType::kQ8_0);
  file.add_tensor("b", Tensor::full({3}, 2.0), GgufType::kQ8_0);
  file.write(folder.path() / "x.gguf");
  const std::string bytes = base::read_file(folder.path() / "x.gguf");
  EXPECT_EQ(bytes.substr(0, 8), std::string("GGUF\x03\0\0\0", 8));
  EXPECT_NE(bytes.find("general.architecture"), std::string::npos);
  EXPECT_EQ(bytes.size() % 32, 0U);
  const size_t data = bytes.size() - 96 - 32;  // two blocks of 34 bytes fill 96, three floats 32
  EXPECT_EQ(bytes[data + 2], 127);
  EXPECT_EQ(bytes.substr(data + 96, 4), std::string("\0\0\0\x40", 4));
}

TEST(Gguf, WhatLlamaCppLacksIsRefusedByField) {
  DecoderOnlyConfig config = gpt();
  config.activation = kernels::Activation::kRelu;
  const auto expect = [&](const std::vector<std::string>& parts) {
    const models::ModelFiles files = files_of(config);
    expect_error(ErrorKind::kBadData, parts, [&] { static_cast<void>(export_gguf(files, "m", GgufType::kF16)); });
  };
  expect({"m/config.json", "activation is relu", "gelu-tanh"});
  config = llama();
  config.layer.window = 4;
  expect({"window is 4"});
  config = llama();
  config.layer.biases = nn::Biases::kAll;
  config.layer.qk_norm = true;
  expect({"biases is all"});
}

TEST_F(ExportedLanguageModel, ItsChatTemplateGoesAlong) {
  models::ModelFiles files = files_of(llama());
  files.chat = data::chat_file_json({"{{ bos_token }}\n\"{{ messages }}", {{"bos_token", "t"}}});
  EXPECT_EQ(there_and_back(files, false).chat, files.chat);
}

}  // namespace
}  // namespace dragoman::interop
