#include "models/languages.h"

#include <gtest/gtest.h>

#include "models/model_folder.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::models {
namespace {

using base::ErrorKind;
using test_support::expect_error;

TEST(Languages, AreThoseThatFileNamesEndIn) {
  EXPECT_EQ(languages_of_files("a/train.en", "b.x/train.de"), (LanguagePair{"en", "de"}));
  EXPECT_EQ(languages_of_files("train.en.gz", "train.de.zst"), (LanguagePair{"en", "de"}));
  EXPECT_EQ(languages_of_files("train.en", "train.en"), std::nullopt);
  EXPECT_EQ(languages_of_files("train.txt", "train.de"), std::nullopt);
  EXPECT_EQ(languages_of_files("train.src", "train.trg"), std::nullopt);
  EXPECT_EQ(languages_of_files("train.qq", "train.de"), std::nullopt) << "nobody's code";
  EXPECT_EQ(languages_of_files("en", "de"), std::nullopt);
  EXPECT_EQ(languages_of_files("train.en", "train.zh-Hant.gz"), (LanguagePair{"en", "zh-Hant"}));
  EXPECT_EQ(languages_of_files("train.en", "train.zh-CN"), (LanguagePair{"en", "zh-CN"}));
  EXPECT_EQ(languages_of_files("train.en-tok", "train.de-tok"), std::nullopt);
}

TEST(Languages, OfSeveralPairsAreSeenByTheNames) {
  using Files = std::vector<std::filesystem::path>;
  EXPECT_EQ(pairs_of_files(Files{"a.en", "a.de"}, Files{"a.de", "a.en"}).size(), 2U);
  EXPECT_EQ(pairs_of_files(Files{"a.en", "b", "a.en"}, Files{"a.de", "b", "a.fr"}).size(), 2U);
  EXPECT_EQ(pairs_of_files(Files{"b", "a.en", "c.en-GB"}, Files{"b", "a.zh", "c.zh-CN"}),
            (std::vector{LanguagePair{"en", "zh"}}));
  EXPECT_TRUE(pairs_of_files(Files{"a", "b"}, Files{"a", "b"}).empty());
}

TEST(Languages, TextAndBack) {
  const LanguagePair pair{"en", "zh-Hans"};
  EXPECT_EQ(languages_from_json(languages_json(pair), "f").only_pair(), pair);
  EXPECT_FALSE(languages_from_json(languages_json(pair), "f").has_codes());
  for (const std::string bad :
       {"{}", "[]", R"({"source":"en"})", R"({"source":"en","target":1})", R"({"source":"en","target":"german"})",
        R"({"source":"en","target":"de","x":1})", R"({"sources":{"en":"eng"},"targets":{}})",
        R"({"sources":{"en":""},"targets":{"de":"deu"}})", R"({"sources":{"english":"eng"},"targets":{"de":"deu"}})",
        ""}) {
    expect_error(ErrorKind::kBadData, {"m/languages.json"}, [&] { languages_from_json(bad, "m/languages.json"); });
  }
}

TEST(Languages, StayInAModelFolder) {
  const test_support::TemporaryFolder folder;
  ModelFiles model{.config = "{}", .tensors = {}, .vocabularies = {{"vocabulary.spm", "v"}}};
  model.tensors.emplace("a", tensor::Tensor::zeros({1}));
  model.languages = languages_json({"en", "de"});
  publish_model_folder(folder.path() / "m", model);
  EXPECT_EQ(read_model_folder(folder.path() / "m").languages, model.languages);
  store_decoding(folder.path() / "m", "{}");
  EXPECT_EQ(read_model_folder(folder.path() / "m").languages, model.languages) << "what `tune` stores leaves it";
}

}  // namespace
}  // namespace dragoman::models
