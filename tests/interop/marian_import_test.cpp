// Folders that are broken or hostile, mix models, or have models that dragoman does not support.
#include "interop/marian_import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "data/vocabulary/piece_list.h"
#include "marian_folders.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using nlohmann::json;
using tensor::Tensor;
using test_support::expect_error;

class BrokenFolder : public testing::Test {
 protected:
  BrokenFolder() { copy("swish_shared"); }

  void copy(const std::string& name) {
    for (const auto& entry : fs::directory_iterator(stored_folder(name))) {
      fs::copy_file(entry.path(), folder() / entry.path().filename(), fs::copy_options::overwrite_existing);
    }
  }

  const fs::path& folder() const { return folder_.path(); }

  void change_json(const char* name, const std::function<void(json&)>& change) const {
    json tree = json_of(folder() / name);
    change(tree);
    write_text(folder() / name, base::dump_json(tree));
  }

  void change_tensors(const std::function<void(tensor::NamedTensors&)>& change) const {
    const fs::path path = folder() / "model.safetensors";
    tensor::NamedTensors tensors = tensor::read_safetensors(base::read_file(path), path.string());
    change(tensors);
    write_text(path, tensor::make_safetensors(tensors).bytes());
  }

  void expect_refused(const std::vector<std::string>& parts) const {
    expect_error(ErrorKind::kBadData, parts, [&] { static_cast<void>(import_marian(folder())); });
  }

  // config.json with one key changed must be refused with the key, its value and what is supported.
  void expect_config_refused(const char* key, const json& value, const std::vector<std::string>& parts) {
    copy("swish_shared");
    change_json("config.json", [&](json& tree) { tree[key] = value; });
    std::vector<std::string> all = parts;
    all.insert(all.end(), {"config.json", key});
    expect_refused(all);
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(BrokenFolder, AsStoredItIsImported) {
  EXPECT_NO_THROW(import_marian(folder()));
}

TEST_F(BrokenFolder, EachMissingFileIsNamed) {
  for (const char* name : {"config.json", "model.safetensors", "vocab.json", "source.spm", "target.spm"}) {
    copy("swish_shared");
    fs::remove(folder() / name);
    expect_refused({name, "cannot open"});
  }
}

TEST_F(BrokenFolder, WeightsOfPickleAreNotReadAndTheWayOutIsNamed) {
  fs::rename(folder() / "model.safetensors", folder() / "pytorch_model.bin");
  expect_refused({"model.safetensors", "pytorch_model.bin", "save_pretrained"});
}

TEST_F(BrokenFolder, ModelsThatDragomanDoesNotHaveAreRefusedByKeyAndValue) {
  expect_config_refused("model_type", "bart", {"\"bart\"", "\"marian\""});
  expect_config_refused("normalize_before", true, {"is true", "false only"});
  expect_config_refused("normalize_embedding", true, {"is true", "false only"});
  expect_config_refused("layernorm_embedding", true, {"is true", "false only"});
  expect_config_refused("add_final_layer_norm", true, {"is true", "false only"});
  expect_config_refused("static_position_embeddings", false, {"is false", "true only"});
  expect_config_refused("activation_function", "tanh", {"\"tanh\"", "relu, gelu, swish"});
  expect_config_refused("activation_function", "gelu_new", {"\"gelu_new\""});
}

TEST_F(BrokenFolder, SizesOutOfRangeAreRefusedBeforeAnythingIsAllocated) {
  expect_config_refused("d_model", 1 << 30, {"1073741824", "from 2 to 65536"});
  expect_config_refused("d_model", -4, {"-4"});
  expect_config_refused("d_model", 16.5, {"16.5"});
  expect_config_refused("d_model", "16", {"\"16\""});
  expect_config_refused("encoder_layers", 0, {"0", "from 1 to 512"});
  expect_config_refused("max_position_embeddings", 1 << 24, {"from 2 to 65536"});
  expect_config_refused("vocab_size", int64_t{1} << 40, {"1099511627776"});
  expect_config_refused("pad_token_id", -1, {"-1"});
  expect_config_refused("pad_token_id", nullptr, {"missing"});
  expect_config_refused("scale_embedding", 1, {"must be true or false"});
  copy("swish_shared");
  change_json("config.json", [](json& tree) { tree["encoder_attention_heads"] = 3; });
  expect_refused({"config.json", "d_model is 16", "n_heads (3)"});
}

TEST_F(BrokenFolder, BadJsonIsRefusedWithFileAndPlace) {
  for (const char* name : {"config.json", "vocab.json", "generation_config.json"}) {
    copy("swish_shared");
    write_text(folder() / name, "{\"a\": ");
    expect_refused({name, "byte"});
    write_text(folder() / name, std::string(100'000, '['));
    expect_refused({name, "nests deeper"});
    write_text(folder() / name, "[1, 2]");
    expect_refused({name, "JSON object"});
  }
}

TEST_F(BrokenFolder, VocabulariesThatDoNotFitAreRefused) {
  change_json("vocab.json", [](json& tree) { tree["<one more>"] = tree.size(); });
  expect_refused({"vocab.json", "of different models"});
  copy("swish_shared");
  change_json("vocab.json", [](json& tree) { std::swap(tree["</s>"], tree["<unk>"]); });
  expect_refused({"vocab.json", "id 0 is '<unk>'", "</s>"});
  copy("swish_shared");
  change_json("vocab.json", [](json& tree) { tree["<unk>"] = 7; });
  expect_refused({"vocab.json", "both have the id 7"});
  copy("swish_shared");
  change_json("vocab.json", [](json& tree) { tree["<unk>"] = -1; });
  expect_refused({"vocab.json", "'<unk>'", "-1"});
  copy("swish_shared");
  change_json("vocab.json", [](json& tree) { tree["<unk>"] = "one"; });
  expect_refused({"vocab.json", "'<unk>'", "\"one\""});
  copy("swish_shared");
  change_json("vocab.json", [](json& tree) {
    tree["<unknown>"] = tree["<unk>"];
    tree.erase("<unk>");
  });
  expect_refused({"vocab.json", "no piece <unk>"});
}

TEST_F(BrokenFolder, TwoVocabulariesNeedTwoTables) {
  fs::copy_file(folder() / "vocab.json", folder() / "target_vocab.json");
  expect_refused({"target_vocab.json", "share_encoder_decoder_embeddings"});
}

TEST_F(BrokenFolder, ASubwordModelOfAnotherModelIsRefused) {
  change_json("vocab.json", [](json& tree) {
    json other = {{"</s>", 0}, {"<unk>", 1}, {"<pad>", tree.size() - 1}};
    for (size_t id = 2; id + 1 < tree.size(); ++id) {
      other["x" + std::to_string(id)] = id;
    }
    tree = other;
  });
  expect_refused({"source.spm", "are not in vocab.json", "of different models"});
}

TEST_F(BrokenFolder, DamagedSubwordModelsAreRefused) {
  const std::string good = base::read_file(folder() / "source.spm");
  write_text(folder() / "source.spm", "");
  expect_refused({"source.spm"});
  write_text(folder() / "source.spm", good.substr(0, good.size() - 1));
  expect_refused({"source.spm", "cut short"});
  write_text(folder() / "source.spm", std::string(1000, '\xFF'));
  expect_refused({"source.spm"});
}

TEST_F(BrokenFolder, MissingUnknownAndMisshapenTensorsAreNamed) {
  const std::string fc1 = "model.encoder.layers.1.fc1.weight";
  change_tensors([&](auto& tensors) { tensors.erase(fc1); });
  expect_refused({"model.safetensors", fc1, "is missing", "[32, 16]"});
  copy("swish_shared");
  change_tensors([&](auto& tensors) { tensors[fc1] = Tensor::zeros({16, 32}); });
  expect_refused({"model.safetensors", fc1, "[16, 32]", "[32, 16]"});
  copy("swish_shared");
  change_tensors([&](auto& tensors) { tensors[fc1] = Tensor::zeros({32, 16}, tensor::DType::kInt8); });
  expect_refused({"model.safetensors", fc1, "int8"});
  copy("swish_shared");
  change_tensors([](auto& tensors) { tensors["model.encoder.layernorm_embedding.weight"] = Tensor::zeros({16}); });
  expect_refused({"model.safetensors", "model.encoder.layernorm_embedding.weight", "belongs to no part"});
  copy("swish_shared");
  change_tensors([](auto& tensors) { tensors["model.encoder.layers.2.fc1.bias"] = Tensor::zeros({32}); });
  expect_refused({"model.safetensors", "model.encoder.layers.2.fc1.bias", "belongs to no part"});
}

TEST_F(BrokenFolder, DamagedWeightsAreRefused) {
  const std::string good = base::read_file(folder() / "model.safetensors");
  write_text(folder() / "model.safetensors", good.substr(0, good.size() - 100));
  expect_refused({"model.safetensors"});
  write_text(folder() / "model.safetensors", std::string(8, '\xFF') + good);
  expect_refused({"model.safetensors"});
  write_text(folder() / "model.safetensors", good);
  const fs::path path = folder() / "model.safetensors";
  tensor::NamedTensors tensors = tensor::read_safetensors(good, path.string());
  tensors.at("model.shared.weight").data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  write_text(path, tensor::make_safetensors(tensors, {}, tensor::FiniteCheck::kNo).bytes());
  expect_refused({"model.safetensors", "model.shared.weight", "element 5"});
}

TEST_F(BrokenFolder, SecondNamesOfTheTableAreReadAndMustAgree) {
  const std::string before = import_marian(folder()).files.config;
  change_tensors([](auto& tensors) {
    tensors["lm_head.weight"] = tensors.at("model.shared.weight");
    tensors["model.encoder.embed_tokens.weight"] = tensors.at("model.shared.weight");
  });
  EXPECT_EQ(import_marian(folder()).files.config, before);
  change_tensors([](auto& tensors) {
    Tensor other = tensors.at("lm_head.weight").clone();
    other.template data<float>()[3] += 1.0F;
    tensors["lm_head.weight"] = other;
  });
  expect_refused({"model.safetensors", "lm_head.weight", "differs from 'model.shared.weight'"});
}

// transformers 4 writes only the shared table, transformers 5 writes every table.
TEST_F(BrokenFolder, UntiedTablesMayBeWrittenOnce) {
  copy("gelu_untied");
  change_tensors([](auto& tensors) {
    for (const char* side : {"encoder", "decoder"}) {
      tensors.erase("model." + std::string(side) + ".embed_tokens.weight");
    }
  });
  const tensor::NamedTensors tensors = import_marian(folder()).files.tensors;
  const auto source = tensors.at("source_embedding.weight").span<float>();
  EXPECT_TRUE(std::ranges::equal(source, tensors.at("target_embedding.weight").span<float>()));
  EXPECT_FALSE(std::ranges::equal(source, tensors.at("output.weight").span<float>()));
}

TEST_F(BrokenFolder, StoredPositionsMustBeTheSinusoids) {
  const int64_t positions = 64, d_model = 16;
  Tensor table = Tensor::empty({positions, d_model});
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t i = 0; i < d_model / 2; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / d_model);
      table.data<float>()[p * d_model + i] = static_cast<float>(std::sin(angle));
      table.data<float>()[p * d_model + d_model / 2 + i] = static_cast<float>(std::cos(angle));
    }
  }
  change_tensors([&](auto& tensors) { tensors["model.encoder.embed_positions.weight"] = table; });
  EXPECT_NO_THROW(import_marian(folder()));
  table.data<float>()[40] += 0.5F;
  change_tensors([&](auto& tensors) { tensors["model.encoder.embed_positions.weight"] = table; });
  expect_refused({"model.safetensors", "embed_positions", "element 40", "sinusoid"});
}

TEST_F(BrokenFolder, WithoutGenerationConfigTheSearchIsThatOfConfigJson) {
  fs::remove(folder() / "generation_config.json");
  change_json("config.json", [](json& tree) {
    tree["num_beams"] = 6;
    tree["length_penalty"] = 0.8;
  });
  const MarianSearch search = import_marian(folder()).search;
  EXPECT_EQ(search.beam_size, 6);
  EXPECT_EQ(search.length_penalty, 0.8);
}

TEST_F(BrokenFolder, PiecesThatAreNotInVocabJsonAreReadAsUnkAndNoted) {
  const ImportedModel imported = import_marian(folder());
  ASSERT_FALSE(imported.notes.empty());
  EXPECT_NE(imported.notes.front().find("pieces are not in vocab.json"), std::string::npos) << imported.notes.front();
}

TEST_F(BrokenFolder, TheSubwordModelsAreKeptByteForByteUnderTheirLists) {
  const ImportedModel imported = import_marian(folder());
  for (const char* name : {"source.spm", "target.spm"}) {
    EXPECT_EQ(data::without_piece_list(imported.files.vocabularies.at(name), name), base::read_file(folder() / name));
  }
}

}  // namespace
}  // namespace dragoman::interop
