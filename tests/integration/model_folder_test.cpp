#include "models/model_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/random.h"
#include "models/folder_description.h"
#include "models/model_tensors.h"
#include "models/transformer/transformer.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using tensor::NamedTensors;
using tensor::Tensor;
using test_support::expect_error;

// Every cut and every fault is tried: the fewer bytes the better.
TransformerConfig tiny_config() {
  TransformerConfig config = test_support::tiny_config(11);
  config.d_model = 8;
  config.d_ff = 16;
  config.n_heads = 2;
  config.encoder_layers = 1;
  return config;
}

std::unique_ptr<Transformer> tiny_model() {
  auto model = std::make_unique<Transformer>(tiny_config());
  model->parameters().allocate();
  model->parameters().initialize(3);
  return model;
}

ModelFiles files_of(const Transformer& model) {
  return {.config = to_json(model.config()),
          .tensors = named_tensors(model.parameters()),
          .vocabularies = {{"source.spm", std::string(700, 's')}, {"target.spm", std::string("t\0u", 3)}}};
}

class ModelFolder : public ::testing::Test {
 protected:
  // Thousands of small writes: in memory where there is a file system for it.
  static void SetUpTestSuite() {
    if (fs::is_directory("/dev/shm")) {
      ::setenv("TMPDIR", "/dev/shm", 0);
    }
  }
  void SetUp() override { publish_model_folder(root(), files_of(*model_)); }
  const fs::path& root() const { return folder_.path(); }

  test_support::TemporaryFolder folder_;
  std::unique_ptr<Transformer> model_ = tiny_model();
};

TEST_F(ModelFolder, WhatIsWrittenIsRead) {
  const ModelFiles read = read_model_folder(root());
  const ModelFiles written = files_of(*model_);
  EXPECT_EQ(read.config, written.config);
  EXPECT_EQ(read.vocabularies, written.vocabularies);
  const auto again = tiny_model();
  again->parameters().mutable_values().fill(0);
  load_tensors(read.tensors, again->parameters(), "x");
  EXPECT_EQ(again->parameters().values().to_vector<float>(), model_->parameters().values().to_vector<float>());
}

TEST_F(ModelFolder, HoldsTheFilesOfItsContract) {
  for (const char* name : {"config.json", "model.safetensors", "source.spm", "target.spm", "manifest.json"}) {
    EXPECT_TRUE(fs::is_regular_file(root() / name)) << name;
  }
}

// 1,000 copies of the folder, each with one bit flipped or one file cut: every one is refused, naming that file.
TEST_F(ModelFolder, AThousandDamagedFoldersAreRefused) {
  base::Random random(1000);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root())) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 5U);
  for (int i = 0; i < 1000; ++i) {
    const fs::path& file = files[random.below(files.size())];
    const std::string content = base::read_file(file);
    std::string damaged = content;
    const size_t at = random.below(content.size());
    if (i % 4 == 0) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    }
    base::write_file_atomic(file, damaged);
    SCOPED_TRACE(file.filename().string() + (i % 4 == 0 ? " cut at " : " flipped at ") + std::to_string(at));
    expect_error(ErrorKind::kBadData, {file.string()}, [&] { read_model_folder(root()); });
    if (i % 50 == 0) {
      expect_error(ErrorKind::kBadData, {file.string()},
                   [&] { static_cast<void>(describe_folder(root(), Verify::kYes)); });
    }
    base::write_file_atomic(file, content);
  }
  EXPECT_NO_THROW(read_model_folder(root()));
}

TEST_F(ModelFolder, MissingFilesAreNamed) {
  for (const char* name : {"config.json", "model.safetensors", "source.spm", "target.spm", "manifest.json"}) {
    const std::string content = base::read_file(root() / name);
    fs::remove(root() / name);
    expect_error(ErrorKind::kBadData, {root().string(), name}, [&] { read_model_folder(root()); });
    base::write_file_atomic(root() / name, content);
  }
  expect_error(ErrorKind::kBadData, {"/no/such/model"}, [] { read_model_folder("/no/such/model"); });
}

TEST_F(ModelFolder, FilesSwappedWithAnotherModelsAreRefused) {
  const test_support::TemporaryFolder other;
  const auto model = tiny_model();
  model->parameters().initialize(4);
  publish_model_folder(other.path(), files_of(*model));
  base::write_file_atomic(root() / kWeightsName, base::read_file(other.path() / kWeightsName));
  expect_error(ErrorKind::kBadData, {kWeightsName, "SHA-256 is"}, [&] { read_model_folder(root()); });
}

TEST_F(ModelFolder, SymbolicLinksOutOfTheFolderAreRefused) {
  const test_support::TemporaryFolder outside;
  for (const char* name : {"config.json", "model.safetensors", "source.spm", "manifest.json"}) {
    fs::rename(root() / name, outside.path() / name);
    fs::create_symlink(outside.path() / name, root() / name);
    expect_error(ErrorKind::kBadData, {(root() / name).string(), "symbolic link"}, [&] { read_model_folder(root()); });
    fs::remove(root() / name);
    fs::rename(outside.path() / name, root() / name);
  }
  EXPECT_NO_THROW(read_model_folder(root()));
}

TEST_F(ModelFolder, EachTensorDroppedRenamedReshapedOrRetypedIsNamed) {
  const NamedTensors good = named_tensors(model_->parameters());
  EXPECT_NO_THROW(check_tensors(model_->parameters(), good, "m"));
  int variants = 0;
  for (const auto& [name, tensor] : good) {
    const auto refused = [&](const char* said, const NamedTensors& tensors) {
      expect_error(ErrorKind::kBadData, {"m.safetensors", name, said},
                   [&] { check_tensors(model_->parameters(), tensors, "m.safetensors"); });
      ++variants;
    };
    NamedTensors changed = good;
    changed.erase(name);
    refused("is missing", changed);
    changed[name + "_"] = tensor;
    refused("is missing", changed);
    changed[name] = tensor;
    refused("belongs to no part", changed);
    changed.erase(name + "_");
    changed[name] = tensor.reshape({1, tensor.size()});
    refused("has shape", changed);
    changed[name] = tensor.to(tensor::DType::kBFloat16);
    refused("is bfloat16", changed);
    if (tensor.rank() == 2 && tensor.dim(0) != tensor.dim(1)) {
      changed[name] = tensor.reshape({tensor.dim(1), tensor.dim(0)});
      refused("has shape", changed);
    }
  }
  EXPECT_GE(variants, 200);
}

TEST_F(ModelFolder, ValuesThatAreNotFiniteAreNeverSavedAndNeverLoaded) {
  for (const auto& [name, tensor] : named_tensors(model_->parameters())) {
    ModelFiles model = files_of(*model_);
    model.tensors[name] = tensor.clone();
    model.tensors[name].data<float>()[tensor.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    expect_error(ErrorKind::kRuntime, {name, "is nan"}, [&] { publish_model_folder(root(), model); });
    EXPECT_NO_THROW(read_model_folder(root())) << "the model that was there must stay";
    const std::string bytes = tensor::make_safetensors(model.tensors, {}, tensor::FiniteCheck::kNo).bytes();
    base::FolderWriter writer(root() / "poisoned");
    writer.add(kConfigName, model.config);
    writer.add("source.spm", "s");
    writer.add(kWeightsName, bytes);
    writer.commit();
    expect_error(ErrorKind::kBadData, {"poisoned/model.safetensors", name, "is nan"},
                 [&] { read_model_folder(root() / "poisoned"); });
  }
}

TEST_F(ModelFolder, DescriptionListsTensorsConfigurationAndChecksums) {
  const FolderDescription description = describe_folder(root(), Verify::kYes);
  const nlohmann::json tree = base::parse_json(description.json, "description");
  EXPECT_EQ(tree["parameters"], model_->parameters().count());
  EXPECT_EQ(tree["config"]["d_model"], 8);
  EXPECT_EQ(tree["verified"], true);
  EXPECT_EQ(tree["tensors"].size(), model_->parameters().parameters().size());
  for (const auto& row : tree["tensors"]) {
    const auto& name = row["name"].get_ref<const std::string&>();
    EXPECT_NE(description.text.find(name), std::string::npos);
    double sum = 0;
    for (const float value : model_->parameters().find(name).variable.value().to_vector<float>()) {
      sum += static_cast<double>(value) * value;
    }
    EXPECT_NEAR(row["l2_norm"].get<double>(), std::sqrt(sum), 1e-9) << name;
  }
  for (const auto& row : tree["files"]) {
    const std::string name = row["name"];
    EXPECT_EQ(row["sha256"], base::sha256_file(root() / name)) << name;
    EXPECT_NE(description.text.find(row["sha256"].get<std::string>()), std::string::npos) << name;
  }
}

TEST_F(ModelFolder, DescriptionWithoutVerifyDoesNotReadOtherFiles) {
  base::FolderWriter writer(root() / "step-1");
  add_model_files(writer, files_of(*model_));
  writer.add("optimizer.safetensors", "large");
  writer.commit();
  base::write_file_atomic(root() / "step-1/optimizer.safetensors", "lorge");
  EXPECT_NO_THROW(static_cast<void>(describe_folder(root() / "step-1", Verify::kNo)));
  expect_error(ErrorKind::kBadData, {"optimizer.safetensors", "SHA-256"},
               [&] { static_cast<void>(describe_folder(root() / "step-1", Verify::kYes)); });
}

}  // namespace
}  // namespace dragoman::models
