// Imported T5 models compared with the results of transformers for these folders (tests/golden/make_hf_t5.py), exported
// ones, and folders that are broken, hostile or of models that dragoman lacks.
#include "interop/hf_t5.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "decoding/translator.h"
#include "marian_folders.h"
#include "stored_encoder_decoder.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"
#include "transformers_search.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using nlohmann::json;
using test_support::expect_error;

// Folders with more texts may be named by an environment variable (tests/peers/hf_t5_check.py).
fs::path t5_folder(const std::string& name) {
  const char* const other = std::getenv("DRAGOMAN_T5_FOLDERS");
  return fs::path(other != nullptr ? other : DRAGOMAN_T5_FOLDERS) / name;
}

// T5's id of each of our ids.
std::vector<int64_t> t5_ids(int64_t ours) {
  std::vector<int64_t> ids = {0, 2, 0, 1};
  for (int64_t id = data::kEosId + 1; id < ours; ++id) {
    ids.push_back(id - 1);
  }
  return ids;
}

class StoredT5 : public testing::TestWithParam<std::string> {
 protected:
  StoredT5()
      : folder_(t5_folder(GetParam())),
        imported_(import_t5(folder_)),
        expected_(json_of(folder_ / "expected.json")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("vocabulary.spm"), "vocabulary.spm")),
        ids_(t5_ids(vocabulary_.size())) {}

  void expect_logits(const models::Transformer& model) const {
    const std::string name = (folder_ / "expected.safetensors").string();
    const tensor::NamedTensors stored = tensor::read_safetensors(base::read_file(name), name);
    for (size_t text = 0; text < stored.size(); ++text) {
      SCOPED_TRACE(text);
      expect_stored_logits(model, expected_["texts"][text]["ids"], expected_["forced"][text],
                           stored.at("logits." + std::to_string(text)), ids_);
    }
  }

  void expect_search(int beam_size, const char* search) const {
    const decoding::SearchOptions options = transformers_search(beam_size, expected_["max_length"]);
    std::vector<std::string> lines;
    for (const json& row : expected_["texts"]) {
      lines.push_back(row["text"].get<std::string>());
    }
    const auto seen =
        decoding::Translator(model_of(imported_.files), vocabulary_, vocabulary_).translate(lines, options);
    for (size_t line = 0; line < seen.size(); ++line) {
      const json& row = expected_["texts"][line];
      EXPECT_EQ(mapped(seen[line].ids, ids_), row[search].get<std::vector<int64_t>>()) << row["text"];
    }
  }

  fs::path folder_;
  ImportedModel imported_;
  json expected_;
  data::Vocabulary vocabulary_;
  std::vector<int64_t> ids_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredT5, testing::Values("v1_0", "v1_1", "mt5", "silu_tied"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredT5, TextsHaveTheIdsOfTheirTokenizer) {
  for (const json& row : expected_["texts"]) {
    const auto text = row["text"].get<std::string>();
    EXPECT_EQ(mapped(data::encode_source(vocabulary_, text), ids_), row["ids"].get<std::vector<int64_t>>()) << text;
  }
}

TEST_P(StoredT5, LogitsEqualThoseOfTransformers) {
  expect_logits(*model_of(imported_.files));
}

TEST_P(StoredT5, GreedyAndBeamSearchWriteTheSame) {
  expect_search(1, "greedy");
  expect_search(4, "beam");
}

// A folder that is exported and imported again is the same model, to the bit.
TEST_P(StoredT5, AnExportedFolderIsTheSameModel) {
  const test_support::TemporaryFolder place;
  write_exported_model(export_t5(imported_.files, "m"), place.path() / "t5");
  const ImportedModel again = import_t5(place.path() / "t5");
  EXPECT_EQ(again.files.config, imported_.files.config);
  EXPECT_EQ(again.files.vocabularies, imported_.files.vocabularies);
  ASSERT_EQ(again.files.tensors.size(), imported_.files.tensors.size());
  for (const auto& [name, tensor] : imported_.files.tensors) {
    EXPECT_EQ(again.files.tensors.at(name).to_vector<float>(), tensor.to_vector<float>()) << name;
  }
}

TEST(HfT5, SentinelsAreReadAndWritten) {
  const ImportedModel imported = import_t5(t5_folder("v1_0"));
  const auto vocabulary =
      data::Vocabulary::from_bytes(imported.files.vocabularies.at("vocabulary.spm"), "vocabulary.spm");
  const std::string text = "the <extra_id_0> cat <extra_id_1>";
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), "the<extra_id_0> cat<extra_id_1>");
  EXPECT_EQ(vocabulary.id("<extra_id_0>"), vocabulary.id("<extra_id_1>") + 1) << "the last one comes first";
  EXPECT_EQ(vocabulary.encode("<extra_id_1000>"), vocabulary.encode("<extra_id_1000>")) << "no sentinel, plain text";
  EXPECT_EQ(vocabulary.encode("<extra_id_").size(), vocabulary.encode("<extra_id_").size());
}

class BrokenT5 : public testing::Test {
 protected:
  BrokenT5() { fs::copy(t5_folder("v1_0"), folder_.path() / "t5", fs::copy_options::recursive); }
  fs::path folder() const { return folder_.path() / "t5"; }

  void refuses(const std::function<void(json&)>& change, const std::string& message) const {
    json config = json_of(t5_folder("v1_0") / "config.json");
    change(config);
    write_text(folder() / "config.json", config.dump());
    expect_error(ErrorKind::kBadData, {message}, [&] { static_cast<void>(import_t5(folder())); });
  }

 private:
  test_support::TemporaryFolder folder_;
};

TEST_F(BrokenT5, WhatIsNotUnderstoodIsRefusedByName) {
  refuses([](json& c) { c["model_type"] = "umt5"; }, "model_type is \"umt5\", must be t5 or mt5");
  refuses([](json& c) { c["feed_forward_proj"] = "gated-tango"; }, "feed_forward_proj is \"tango\"");
  refuses([](json& c) { c["is_gated_act"] = true; }, "is_gated_act is true, feed_forward_proj is \"relu\"");
  refuses([](json& c) { c["num_sparse_encoder_layers"] = 3; },
          "num_sparse_encoder_layers is 3; dragoman does not know this key");
  refuses([](json& c) { c["is_encoder_decoder"] = false; }, "is_encoder_decoder is false");
  refuses([](json& c) { c["relative_attention_num_buckets"] = 10; }, "relative_buckets is 10");
  refuses([](json& c) { c["num_layers"] = 1 << 30; }, "num_layers must be an integer from 1 to 512");
  refuses([](json& c) { c["vocab_size"] = 50; }, "pieces, config.json has a vocab_size of 50");
  refuses([](json& c) { c["eos_token_id"] = 5; }, "piece 5 is not </s>");
  refuses([](json& c) { c["d_kv"] = 7; }, "SelfAttention");
  refuses([](json& c) { c["num_layers"] = 1; }, "encoder.block.1");
}

// T5 has no scale of its products: the exported queries have it.
TEST(HfT5, AScaledAttentionIsExportedWithShorterQueries) {
  const ImportedModel imported = import_t5(t5_folder("v1_1"));
  models::ModelFiles files = imported.files;
  json config = json::parse(files.config);
  config.erase("scale_attention");
  files.config = config.dump();
  const test_support::TemporaryFolder place;
  write_exported_model(export_t5(files, "m"), place.path() / "t5");
  const ImportedModel again = import_t5(place.path() / "t5");
  EXPECT_EQ(again.files.config, imported.files.config);
  const float width = config["d_head"].get<float>();
  for (const auto& [name, tensor] : imported.files.tensors) {
    std::vector<float> expected = tensor.to_vector<float>();
    if (name.ends_with("attention.query.weight")) {
      std::ranges::for_each(expected, [&](float& value) { value *= 1.0F / std::sqrt(width); });
    }
    EXPECT_EQ(again.files.tensors.at(name).to_vector<float>(), expected) << name;
  }
}

TEST_F(BrokenT5, MissingAndDamagedFilesAreNamed) {
  write_text(folder() / "spiece.model", "no model");
  expect_error(ErrorKind::kBadData, {"spiece.model"}, [&] { static_cast<void>(import_t5(folder())); });
  fs::remove(folder() / "spiece.model");
  expect_error(ErrorKind::kBadData, {"spiece.model: is missing, and so is tokenizer.json"},
               [&] { static_cast<void>(import_t5(folder())); });
}

TEST(HfT5, OtherModelsAreNotExported) {
  ImportedModel imported = import_t5(t5_folder("v1_1"));
  const auto refuses = [&](const char* from, const char* to, const std::string& message) {
    models::ModelFiles files = imported.files;
    const size_t at = files.config.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    files.config.replace(at, std::string(from).size(), to);
    expect_error(ErrorKind::kBadData, {message}, [&] { static_cast<void>(export_t5(files, "m")); });
  };
  refuses("\"positions\": \"relative\"", "\"positions\": \"sinusoidal\"", "positions is sinusoidal, T5 has relative");
  refuses("\"norm_order\": \"pre\"", "\"norm_order\": \"post\"", "norm_order is post, T5 has pre");
  refuses("\"norm_order\": \"pre\"", "\"norm_order\": \"pre\", \"decoder_sublayer\": \"ssru\"",
          "decoder_sublayer is ssru, T5 has self-attention only");
}

}  // namespace
}  // namespace dragoman::interop
