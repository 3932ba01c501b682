// Imported M2M-100 and NLLB-200 models compared with the results of transformers for these folders
// (tests/golden/make_hf_m2m100.py), and folders that are refused.
#include "interop/hf_m2m100.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "decoding/translator.h"
#include "marian_folders.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test_support::expect_error;

// Folders with more lines may be named by an environment variable.
fs::path many_folder(const std::string& name) {
  const char* const other = std::getenv("DRAGOMAN_M2M100_FOLDERS");
  return fs::path(other != nullptr ? other : DRAGOMAN_M2M100_FOLDERS) / name;
}

// >>de<< of __de__.
std::string code_of(const std::string& token) {
  return ">>" + (token.starts_with("__") ? token.substr(2, token.size() - 4) : token) + "<<";
}

class StoredM2m100 : public testing::TestWithParam<std::string> {
 protected:
  StoredM2m100()
      : folder_(many_folder(GetParam())),
        imported_(import_m2m100(folder_)),
        expected_(json_of(folder_ / "expected.json")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("vocabulary.spm"), "vocabulary.spm")) {
    ids_ = {1, 3, 2, 2};  // of <pad>, <unk>, <s>, </s>
    ids_.push_back(0);    // their <s>
    for (int64_t id = 4; static_cast<int64_t>(ids_.size()) < vocabulary_.size(); ++id) {
      ids_.push_back(id);
    }
  }

  void expect_search(int beam_size, const char* search) const {
    decoding::SearchOptions options;
    options.beam_size = beam_size;
    options.ranking.length_penalty = decoding::LengthPenalty::kLength;
    options.ranking.alpha = 1.0;
    options.beam.rule = decoding::BeamRule::kFull;
    options.length.min_length = 0;
    options.length.max_length_ratio = 0.0;
    options.length.max_length_extra = expected_["max_length"].get<int>() - 2;  // without the start and the forced end
    std::vector<decoding::TranslationRequest> requests;
    for (const json& row : expected_["lines"]) {
      requests.push_back(
          {.text = code_of(row["source"]) + " " + row["line"].get<std::string>(), .prefix = code_of(row["target"])});
    }
    const auto seen =
        decoding::Translator(model_of(imported_.files), vocabulary_, vocabulary_).translate_requests(requests, options);
    for (size_t line = 0; line < seen.size(); ++line) {
      const json& row = expected_["lines"][line];
      EXPECT_EQ(mapped(seen[line].ids, ids_), row[search].get<std::vector<int64_t>>()) << row["line"];
      EXPECT_EQ(seen[line].text.find(">>"), std::string::npos) << seen[line].text;
    }
  }

  fs::path folder_;
  ImportedModel imported_;
  json expected_;
  data::Vocabulary vocabulary_;
  std::vector<int64_t> ids_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredM2m100, testing::Values("m2m100", "nllb"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredM2m100, LinesBeginWithTheCodeOfTheirLanguage) {
  for (const json& row : expected_["lines"]) {
    const std::string line = code_of(row["source"]) + " " + row["line"].get<std::string>();
    EXPECT_EQ(mapped(data::encode_source(vocabulary_, line), ids_), row["ids"].get<std::vector<int64_t>>()) << line;
  }
}

TEST_P(StoredM2m100, LogitsEqualThoseOfTransformers) {
  const std::string name = (folder_ / "expected.safetensors").string();
  const tensor::NamedTensors stored = tensor::read_safetensors(base::read_file(name), name);
  const auto model = model_of(imported_.files);
  std::map<int64_t, int32_t> ours;
  for (size_t id = 0; id < ids_.size(); ++id) {
    ours[ids_[id]] = static_cast<int32_t>(id);  // of 2, </s>
  }
  for (size_t line = 0; line < stored.size(); ++line) {
    std::vector<int32_t> source, target{data::kBosId};
    for (const int64_t id : expected_["lines"][line]["ids"]) {
      source.push_back(ours.at(id));
    }
    target.insert(target.end(), source.begin(), source.end() - 1);
    const autograd::NoGrad inference;
    const tensor::Tensor seen =
        model->output()
            .logits(model->forward({models::one_sentence(source), models::one_sentence(target)}, {}))
            .value();
    const tensor::Tensor& expected = stored.at("logits." + std::to_string(line));
    ASSERT_EQ(seen.dim(0), expected.dim(0));
    ASSERT_EQ(seen.dim(1), expected.dim(1) + 1);
    for (int64_t row = 0; row < seen.dim(0); ++row) {
      for (int64_t id = 0; id < seen.dim(1); ++id) {
        if (id != data::kBosId) {
          ASSERT_NEAR(seen.data<float>()[row * seen.dim(1) + id],
                      expected.data<float>()[row * expected.dim(1) + ids_[static_cast<size_t>(id)]], 2e-4)
              << "line " << line << ", id " << id;
        }
      }
    }
  }
}

// Beams are not compared: scores here include the code that the translation must begin with, in transformers they do
// not.
TEST_P(StoredM2m100, GreedySearchWritesTheSame) {
  expect_search(1, "greedy");
}

TEST(HfM2m100, WhatIsNotUnderstoodIsRefusedByName) {
  const std::string text = base::read_file(many_folder("m2m100") / "config.json");
  const auto refuses = [&](const char* key, const json& value, const std::string& message) {
    json config = base::parse_json(text, "config.json");
    config[key] = value;
    expect_error(base::ErrorKind::kBadData, {message},
                 [&] { static_cast<void>(m2m100_config_from_json(config.dump(), "config.json")); });
  };
  refuses("model_type", "mbart", "model_type is \"mbart\", must be m2m_100");
  refuses("decoder_start_token_id", 5, "decoder_start_token_id is 5, that of an M2M-100 is 2");
  refuses("encoder_sparse_step", 4, "encoder_sparse_step is 4; dragoman does not know this key");
  refuses("tie_word_embeddings", false, "tie_word_embeddings is false");
}

TEST(HfM2m100, FoldersWithoutLanguagesOrOfAnotherModelAreRefused) {
  const test_support::TemporaryFolder place;
  fs::copy(many_folder("nllb"), place.path() / "nllb", fs::copy_options::recursive);
  const auto refuses = [&](const std::string& message) {
    expect_error(base::ErrorKind::kBadData, {message},
                 [&] { static_cast<void>(import_m2m100(place.path() / "nllb")); });
  };
  write_text(place.path() / "nllb" / "special_tokens_map.json", "{}");
  refuses("which are the languages of the model");
  write_text(place.path() / "nllb" / "special_tokens_map.json", R"({"additional_special_tokens": [3]})");
  refuses("must be a list of texts");
  fs::copy_file(many_folder("m2m100") / "model.safetensors", place.path() / "nllb" / "model.safetensors",
                fs::copy_options::overwrite_existing);
  fs::copy_file(many_folder("nllb") / "special_tokens_map.json", place.path() / "nllb" / "special_tokens_map.json",
                fs::copy_options::overwrite_existing);
  refuses("model.safetensors");
}

}  // namespace
}  // namespace dragoman::interop
