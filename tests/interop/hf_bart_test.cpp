// Imported BART models compared with the results of transformers for these folders (tests/golden/make_hf_bart.py), and
// folders that are refused.
#include "interop/hf_bart.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "decoding/translator.h"
#include "exported_twice.h"
#include "marian_folders.h"
#include "stored_encoder_decoder.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"
#include "transformers_search.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test_support::expect_error;

// Folders with more lines may be named by an environment variable.
fs::path bart_folder(const std::string& name) {
  const char* const other = std::getenv("DRAGOMAN_BART_FOLDERS");
  return fs::path(other != nullptr ? other : DRAGOMAN_BART_FOLDERS) / name;
}

class StoredBart : public testing::TestWithParam<std::string> {
 protected:
  StoredBart()
      : folder_(bart_folder(GetParam())),
        imported_(import_bart(folder_)),
        expected_(json_of(folder_ / "expected.json")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("tokenizer.json"), "tokenizer.json")),
        ids_{1, 3, 2, 2, 0} {  // of <pad>, <unk>, <start>, </s>, <s>
    for (int64_t id = 4; static_cast<int64_t>(ids_.size()) < vocabulary_.size(); ++id) {
      ids_.push_back(id);
    }
  }

  void expect_search(int beam_size, const char* search) const {
    std::vector<std::string> lines;
    for (const json& row : expected_["lines"]) {
      lines.push_back(row["line"].get<std::string>());
    }
    const auto seen = decoding::Translator(model_of(imported_.files), vocabulary_, vocabulary_)
                          .translate(lines, transformers_search(beam_size, expected_["max_length"]));
    for (size_t line = 0; line < seen.size(); ++line) {
      EXPECT_EQ(mapped(seen[line].ids, ids_), expected_["lines"][line][search].get<std::vector<int64_t>>())
          << lines[line];
      EXPECT_EQ(seen[line].text.find("<s>"), std::string::npos) << seen[line].text;
    }
  }

  fs::path folder_;
  ImportedModel imported_;
  json expected_;
  data::Vocabulary vocabulary_;
  std::vector<int64_t> ids_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredBart, testing::Values("files", "json"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredBart, TextsHaveTheIdsOfTheirTokenizer) {
  for (const json& row : expected_["lines"]) {
    const auto line = row["line"].get<std::string>();
    EXPECT_EQ(mapped(data::encode_source(vocabulary_, line), ids_), row["ids"].get<std::vector<int64_t>>()) << line;
  }
  EXPECT_TRUE(data::encode_source(vocabulary_, "").empty()) << "a blank line is not framed";
}

TEST_P(StoredBart, LogitsEqualThoseOfTransformers) {
  expect_logits_of_lines(*model_of(imported_.files), folder_, expected_["lines"], ids_);
}

TEST_P(StoredBart, GreedyAndBeamSearchWriteTheSame) {
  expect_search(1, "greedy");
  expect_search(4, "beam");
}

TEST_P(StoredBart, AnExportedFolderIsTheSameModel) {
  const test_support::TemporaryFolder place;
  write_exported_model(export_bart(imported_.files, "m", search_of(imported_)), place.path() / "bart");
  expect_same_model(import_bart(place.path() / "bart"), imported_);
  EXPECT_EQ(json_of(place.path() / "bart" / "config.json")["vocab_size"], vocabulary_.size() - 1);
}

// Training moves the rows of <s> and </s> apart; the decoder then begins with a piece of its own.
TEST_P(StoredBart, AModelThatWasTrainedFurtherKeepsItsStart) {
  const test_support::TemporaryFolder place;
  train_start(imported_.files);
  write_exported_model(export_bart(imported_.files, "m", search_of(imported_)), place.path() / "bart");
  const json config = json_of(place.path() / "bart" / "config.json");
  EXPECT_EQ(config["vocab_size"], vocabulary_.size());
  EXPECT_EQ(config["decoder_start_token_id"], vocabulary_.size() - 1);
  const json tokenizer = json_of(place.path() / "bart" / "tokenizer.json");
  EXPECT_EQ(tokenizer["model"]["vocab"]["<start>"], vocabulary_.size() - 1);
  expect_same_model(import_bart(place.path() / "bart"), imported_);
}

TEST(HfBart, OtherModelsAreNotExported) {
  const ImportedModel imported = import_bart(bart_folder("json"));
  const auto refuses = [&](const char* from, const char* to, const std::string& message) {
    models::ModelFiles files = imported.files;
    const size_t at = files.config.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    files.config.replace(at, std::string(from).size(), to);
    expect_error(base::ErrorKind::kBadData, {message}, [&] { static_cast<void>(export_bart(files, "m", {})); });
  };
  refuses("\"norm_order\": \"post\"", "\"norm_order\": \"pre\"", "norm_order is pre, BART has post only");
  refuses("\"embedding_norm\": true", "\"embedding_norm\": false", "embedding_norm is false, BART has true only");
  refuses("\"positions\": \"learned\"", "\"positions\": \"rope\"", "positions is rope, BART has learned only");
  refuses("\"norm_order\": \"post\"", "\"norm_order\": \"post\", \"qk_norm\": true",
          "qk_norm is true, BART has false only");
  models::ModelFiles files = imported.files;
  files.vocabularies = {{"vocabulary.spm", "x"}};
  expect_error(base::ErrorKind::kBadData, {"m/tokenizer.json: is missing; only a model that was imported as a BART"},
               [&] { static_cast<void>(export_bart(files, "m", {})); });
  std::string& text = files.vocabularies["tokenizer.json"] = imported.files.vocabularies.at("tokenizer.json");
  for (size_t at = text.find("<start>"); at != std::string::npos; at = text.find("<start>")) {
    text.replace(at, 7, "<begin>");
  }
  expect_error(base::ErrorKind::kBadData, {"m/tokenizer.json: piece 2 is \"<begin>\", must be <start>"},
               [&] { static_cast<void>(export_bart(files, "m", {})); });
}

class BrokenBart : public testing::Test {
 protected:
  BrokenBart() { fs::copy(bart_folder("files"), folder(), fs::copy_options::recursive); }
  fs::path folder() const { return place_.path() / "bart"; }
  void refuses(const std::string& message) const {
    expect_error(base::ErrorKind::kBadData, {message}, [&] { static_cast<void>(import_bart(folder())); });
  }
  void refuses(const char* key, const json& value, const std::string& message) const {
    json config = json_of(bart_folder("files") / "config.json");
    config[key] = value;
    write_text(folder() / "config.json", config.dump());
    refuses(message);
  }

 private:
  test_support::TemporaryFolder place_;
};

TEST_F(BrokenBart, WhatIsNotUnderstoodIsRefusedByName) {
  refuses("model_type", "mbart", "model_type is \"mbart\", must be bart");
  refuses("normalize_before", true, "normalize_before is true");
  refuses("add_final_layer_norm", true, "add_final_layer_norm is true");
  refuses("decoder_start_token_id", 0, "decoder_start_token_id is 0, that of a BART is 2");
  refuses("forced_bos_token_id", nullptr, "forced_bos_token_id of generation_config.json or config.json must be 0");
  refuses("encoder_stride", 2, "encoder_stride is 2; dragoman does not know this key");
  refuses("vocab_size", 100'000, "config.json has a vocab_size of 100000");
  refuses("max_position_embeddings", 32, "embed_positions.weight");
  refuses("encoder_layers", 2, "model.encoder.layers.1");
}

TEST_F(BrokenBart, MissingAndDamagedTokenizersAreNamed) {
  write_text(folder() / "merges.txt", "th\n");
  refuses("merges.txt: line 1");
  fs::remove(folder() / "merges.txt");
  refuses("tokenizer.json: is missing");
  write_text(folder() / "tokenizer.json", "{}");
  refuses("tokenizer.json");
}

}  // namespace
}  // namespace dragoman::interop
