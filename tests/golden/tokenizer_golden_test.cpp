#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/vocabulary.h"
#include "support/corpora.h"

namespace dragoman::data {
namespace {

using nlohmann::json;

// Stored files and ids of the `tokenizers` package (make_tokenizers.py).
std::filesystem::path stored(const std::string& name) {
  return std::filesystem::path(DRAGOMAN_TEST_DATA) / "tokenizers" / name;
}

void expect_stored_ids(const Vocabulary& vocabulary, const std::string& name) {
  const json all = json::parse(base::read_file(stored("ids.json")));
  for (const json& row : all.at(name)) {
    const auto text = row.at("text").get<std::string>();
    EXPECT_EQ(vocabulary.encode(text), row.at("ids").get<std::vector<int32_t>>()) << name << ": " << row.at("text");
  }
}

TEST(Tokenizer, IdsEqualThoseOfTheTokenizersPackage) {
  for (const std::string name : {"llama3", "qwen2", "llama2"}) {
    expect_stored_ids(Vocabulary::from_file(stored(name + ".json")), name);
  }
}

TEST(Tokenizer, IdsOfGpt2EqualThoseOfTheTokenizersPackage) {
  const std::string folder = "vocabularies/gpt2/";
  if (const auto missing = test_support::missing_corpora({folder + "vocab.json", folder + "merges.txt"});
      !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const Vocabulary vocabulary =
      from_vocab_and_merges(base::read_file(test_support::corpus_file(folder + "vocab.json")),
                            base::read_file(test_support::corpus_file(folder + "merges.txt")));
  EXPECT_EQ(vocabulary.size(), 50257);
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.bos = 50256, .eos = {50256}}));
  EXPECT_EQ(vocabulary.encode("Hello world"), (std::vector<int32_t>{15496, 995}));
  EXPECT_EQ(vocabulary.encode(" Hello world"), (std::vector<int32_t>{18435, 995}));
  expect_stored_ids(vocabulary, "gpt2");
}

}  // namespace
}  // namespace dragoman::data
