// Imported BART models compared with the results of transformers for these folders (tests/golden/make_hf_bart.py), and
// folders that are refused.
#include "interop/hf_bart.h"

#include <gtest/gtest.h>

#include <cstdlib>

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
