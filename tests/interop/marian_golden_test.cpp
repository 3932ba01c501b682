// Imported models compared with the results of transformers for these folders (tests/golden/make_hf_marian.py).
#include <gtest/gtest.h>

#include "decoding/translator.h"
#include "marian_folders.h"
#include "tensor/safetensors.h"
#include "transformers_search.h"

namespace dragoman::interop {
namespace {

using nlohmann::json;

class StoredFolder : public testing::TestWithParam<std::string> {
 protected:
  StoredFolder()
      : folder_(stored_folder(GetParam())),
        imported_(import_marian(folder_)),
        expected_(json_of(folder_ / "expected.json")),
        source_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("source.spm"), "source.spm")),
        target_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("target.spm"), "target.spm")),
        model_(model_of(imported_.files)) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const json& row : expected_["sentences"]) {
      lines.push_back(row["line"].get<std::string>());
    }
    return lines;
  }

  std::vector<decoding::Translation> translate(int beam_size) const {
    decoding::SearchOptions options = transformers_search(beam_size, expected_["max_length"]);
    options.beam.rule = decoding::BeamRule::kShrinking;
    return decoding::Translator(model_, source_, target_).translate(lines(), options);
  }

  // Compares ids and texts with those stored for one search, "greedy" or "beam".
  void expect_same(const std::vector<decoding::Translation>& seen, const std::string& search) const {
    const std::vector<int64_t> ids = marian_ids(folder_, "target");
    for (size_t line = 0; line < seen.size(); ++line) {
      const json& row = expected_["sentences"][line];
      EXPECT_EQ(mapped(seen[line].ids, ids), row[search].get<std::vector<int64_t>>()) << row["line"];
      EXPECT_EQ(seen[line].text, row[search + "_text"].get<std::string>()) << row["line"];
    }
  }

  std::filesystem::path folder_;
  ImportedModel imported_;
  json expected_;
  data::Vocabulary source_;
  data::Vocabulary target_;
  std::shared_ptr<models::Transformer> model_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredFolder, testing::ValuesIn(kStoredFolders),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredFolder, LinesHaveTheIdsThatMarianTokenizerGives) {
  const std::vector<int64_t> ids = marian_ids(folder_, "source");
  for (const json& row : expected_["sentences"]) {
    const auto line = row["line"].get<std::string>();
    EXPECT_EQ(mapped(data::encode_source(source_, line), ids), row["ids"].get<std::vector<int64_t>>()) << line;
  }
}

TEST_P(StoredFolder, LogitsEqualThoseOfTransformers) {
  const std::string name = (folder_ / "expected.safetensors").string();
  const tensor::NamedTensors stored = tensor::read_safetensors(base::read_file(name), name);
  const std::vector<int32_t> source_ids = our_ids(marian_ids(folder_, "source"));
  const std::vector<int64_t> target_ids = marian_ids(folder_, "target");
  const std::vector<int32_t> our_target_ids = our_ids(target_ids);
  ASSERT_EQ(stored.size(), expected_["forced"].size());
  for (size_t sentence = 0; sentence < stored.size(); ++sentence) {
    std::vector<int32_t> source, target{data::kBosId};
    for (const size_t id : expected_["sentences"][sentence]["ids"]) {
      source.push_back(source_ids.at(id));
    }
    for (const size_t id : expected_["forced"][sentence]) {
      target.push_back(our_target_ids.at(id));
    }
    const autograd::NoGrad inference;
    const tensor::Tensor seen =
        model_->output()
            .logits(model_->forward({models::one_sentence(source), models::one_sentence(target)}, {}))
            .value();
    const tensor::Tensor& expected = stored.at("logits." + std::to_string(sentence));
    ASSERT_EQ(seen.dim(0), expected.dim(0));
    ASSERT_EQ(seen.dim(1), expected.dim(1) + 1);
    for (int64_t row = 0; row < seen.dim(0); ++row) {
      for (int64_t id = 0; id < seen.dim(1); ++id) {
        const float logit = seen.data<float>()[row * seen.dim(1) + id];
        if (id == data::kBosId) {
          ASSERT_LT(logit, -1e8F) << "the second name of the start must not take part";
          continue;
        }
        ASSERT_NEAR(logit, expected.data<float>()[row * expected.dim(1) + target_ids[static_cast<size_t>(id)]], 1e-4)
            << "sentence " << sentence << ", row " << row << ", id " << id;
      }
    }
  }
}

TEST_P(StoredFolder, GreedySearchWritesTheSame) {
  expect_same(translate(1), "greedy");
}

TEST_P(StoredFolder, BeamSearchWritesTheSameAsThePlainSearchByMariansRule) {
  const std::vector<decoding::Translation> seen = translate(4);
  expect_same(seen, "beam");
  for (size_t line = 0; line < seen.size(); ++line) {
    const json& row = expected_["sentences"][line];
    EXPECT_NEAR(seen[line].normalised_score, row["beam_score"].get<double>(), 1e-4) << row["line"];
  }
}

TEST_P(StoredFolder, TheSearchOfTheFolderIsTakenOver) {
  EXPECT_EQ(imported_.search.beam_size, 4);
  EXPECT_EQ(imported_.search.length_penalty, 1.0);
}

}  // namespace
}  // namespace dragoman::interop
