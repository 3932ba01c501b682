// tokenizer.json of a T5 without spiece.model, compared with the ids of the `tokenizers` package
// (tests/golden/make_hf_t5_tokenizers.py), and files that are refused.
#include "interop/unigram_tokenizer.h"

#include <gtest/gtest.h>

#include <functional>

#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/spm_pieces.h"
#include "interop/hf_t5.h"
#include "interop/piece_order.h"
#include "marian_folders.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test_support::expect_error;

const fs::path kTokenizers = DRAGOMAN_T5_TOKENIZERS;
constexpr const char* kName = "m/tokenizer.json";

// The vocabulary as import_t5 numbers it; theirs[i] is T5's id of our id i.
struct Read {
  data::Vocabulary vocabulary;
  std::vector<int64_t> theirs;
};

Read vocabulary_of(const std::string& spm, int64_t sentinels) {
  std::vector<std::string> pieces;
  for (const data::SpmPiece& piece : data::spm_pieces(spm, kName)) {
    pieces.push_back(piece.text);
  }
  for (int64_t number = sentinels - 1; number >= 0; --number) {
    pieces.push_back(data::sentinel_piece(number));
  }
  const PieceOrder order = order_pieces(pieces, {.pad = 0, .unk = 2, .start = 0, .eos = 1});
  return {data::Vocabulary::from_bytes(with_order(spm, order, kName), kName), order.theirs};
}

class StoredTokenizer : public testing::TestWithParam<std::string> {
 protected:
  fs::path folder_ = kTokenizers / GetParam();
  UnigramModel model_ = unigram_of_tokenizer_json(base::read_file(folder_ / "tokenizer.json"), kName);
};
INSTANTIATE_TEST_SUITE_P(All, StoredTokenizer, testing::Values("now", "older", "plain"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredTokenizer, TextsHaveTheIdsOfTokenizersAndOfThePieceFile) {
  EXPECT_EQ(model_.sentinels, 4);
  EXPECT_EQ(model_.notes.size(), GetParam() == "plain" ? 1U : 0U);
  const Read read = vocabulary_of(model_.spm, model_.sentinels);
  const Read spm = vocabulary_of(base::read_file(folder_ / "spiece.model"), 4);
  const json rows = json_of(folder_ / "expected.json");
  ASSERT_GT(rows.size(), 10U);
  for (const json& row : rows) {
    const auto text = row["text"].get<std::string>();
    std::vector<int32_t> ids = read.vocabulary.encode(text);
    EXPECT_EQ(ids, spm.vocabulary.encode(text)) << text;
    ids.push_back(data::kEosId);
    EXPECT_EQ(mapped(ids, read.theirs), row["ids"].get<std::vector<int64_t>>()) << text;
  }
}

TEST(UnigramTokenizer, AFolderWithoutThePieceFileIsTheSameModel) {
  const test_support::TemporaryFolder place;
  const fs::path stored = fs::path(DRAGOMAN_T5_FOLDERS) / "silu_tied", folder = place.path() / "t5";
  fs::copy(stored, folder, fs::copy_options::recursive);
  fs::remove(folder / "spiece.model");
  fs::copy_file(kTokenizers / "model" / "tokenizer.json", folder / "tokenizer.json");
  const ImportedModel with = import_t5(stored), without = import_t5(folder);
  EXPECT_EQ(without.files.config, with.files.config);
  for (const auto& [name, tensor] : with.files.tensors) {
    EXPECT_EQ(without.files.tensors.at(name).to_vector<float>(), tensor.to_vector<float>()) << name;
  }
  const auto vocabulary = [](const ImportedModel& model) {
    return data::Vocabulary::from_bytes(model.files.vocabularies.at("vocabulary.spm"), "vocabulary.spm");
  };
  const data::Vocabulary theirs = vocabulary(with), ours = vocabulary(without);
  ASSERT_EQ(ours.size(), theirs.size());
  for (int32_t id = 0; id < ours.size(); ++id) {
    EXPECT_EQ(ours.piece(id), theirs.piece(id));
  }
  for (const json& row : json_of(stored / "expected.json")["texts"]) {
    const auto text = row["text"].get<std::string>();
    EXPECT_EQ(ours.encode(text), theirs.encode(text)) << text;
    EXPECT_EQ(ours.decode(ours.encode(text)), theirs.decode(theirs.encode(text))) << text;
  }
  fs::remove(folder / "tokenizer.json");
  expect_error(base::ErrorKind::kBadData, {"spiece.model: is missing, and so is tokenizer.json"},
               [&] { static_cast<void>(import_t5(folder)); });
}

class ChangedTokenizer : public testing::Test {
 protected:
  json tree_ = json_of(kTokenizers / "older" / "tokenizer.json");

  void refuses(const std::function<void(json&)>& change, const std::string& message) const {
    json tree = tree_;
    change(tree);
    expect_error(base::ErrorKind::kBadData, {kName, message},
                 [&] { static_cast<void>(unigram_of_tokenizer_json(tree.dump(), kName)); });
  }
};

// Where text is cut at spaces, no piece with a space inside is found.
TEST_F(ChangedTokenizer, PiecesOverSeveralWordsAreFoundOnlyIfTextIsNotCut) {
  const auto pieces_of = [&](bool cuts) {
    json tree = tree_;
    tree["model"]["vocab"][4] = {"\u2581the\u2581cat", 0.0};
    tree["pre_tokenizer"]["split"] = cuts;
    const UnigramModel model = unigram_of_tokenizer_json(tree.dump(), kName);
    const Read read = vocabulary_of(model.spm, model.sentinels);
    return read.vocabulary.pieces(read.vocabulary.encode("the cat"));
  };
  EXPECT_EQ(pieces_of(false), std::vector<std::string>{"\u2581the\u2581cat"});
  EXPECT_GT(pieces_of(true).size(), 1U);
}

TEST_F(ChangedTokenizer, WhatIsNotUnderstoodIsRefusedByName) {
  refuses([](json& t) { t["model"]["type"] = "BPE"; }, "model.type is \"BPE\", must be Unigram for a T5");
  refuses([](json& t) { t["model"]["byte_fallback"] = true; }, "model.byte_fallback is true");
  refuses([](json& t) { t["model"]["dropout"] = 0.1; }, "unknown key \"model.dropout\"");
  refuses([](json& t) { t["normalizer"]["normalizers"][1]["type"] = "Lowercase"; },
          "normalizer.normalizers[1] is \"Lowercase\"; known is Precompiled first");
  refuses([](json& t) { t["normalizer"]["normalizers"].erase(2); }, "normalizer has Strip alone");
  refuses([](json& t) { t["normalizer"] = t["normalizer"]["normalizers"][0]; }, "keeps several spaces in a row");
  refuses([](json& t) { t["normalizer"]["normalizers"][2]["pattern"]["Regex"] = "a+"; },
          "normalizer.normalizers[2] is \"Replace\"");
  refuses([](json& t) { t["pre_tokenizer"]["prepend_scheme"] = "first"; },
          "pre_tokenizer.prepend_scheme is \"first\", must put U+2581 before each part");
  refuses(
      [](json& t) {
        t["pre_tokenizer"] = {{"type", "Digits"}};
      },
      "pre_tokenizer is \"Digits\"; known is Metaspace");
  refuses([](json& t) { t["pre_tokenizer"] = nullptr; }, "pre_tokenizer has no Metaspace");
  refuses([](json& t) { t["post_processor"] = nullptr; }, "post_processor does not put </s> behind a text");
  refuses([](json& t) { t["decoder"] = {{"type", "Fuse"}}; }, "decoder must be a Metaspace");
  refuses([](json& t) { t["added_tokens"][0]["content"] = "[CLS]"; },
          "added_tokens[0] is \"[CLS]\"; known are <pad>, </s>, <unk> and sentinels");
  refuses([](json& t) { t["extra"] = 1; }, "extra");
}

TEST_F(ChangedTokenizer, DamagedFilesAreRefused) {
  refuses([](json& t) { t["model"]["vocab"][5] = {"\u2581"}; },
          "model.vocab[5] is [\"\u2581\"], must be a piece and its score");
  refuses([](json& t) { t["model"]["vocab"][6] = t["model"]["vocab"][7]; }, "as is model.vocab[6]");
  refuses(
      [](json& t) {
        t["model"]["vocab"][6] = {"x", 1e300};
      },
      "the score of model.vocab[6] is 1e+300, must be a number of float32");
  refuses([](json& t) { t["model"]["vocab"][6] = {"", 0.0}; }, "piece 6 has 0 bytes");
  refuses([](json& t) { t["model"]["vocab"] = json::array(); }, "model.vocab has 0 pieces");
  refuses([](json& t) { t["model"]["unk_id"] = 5000; }, "model.unk_id");
  refuses([](json& t) { t["added_tokens"][1]["id"] = 7; }, "added_tokens[1] is </s> with id 7, in model.vocab it is");
  refuses([](json& t) { t["model"]["vocab"][9] = {"<extra_id_7>", 0.0}; }, "sentinels must be the last pieces");
  refuses([](json& t) { t["normalizer"]["normalizers"][0]["precompiled_charsmap"] = "AAA"; },
          "precompiled_charsmap is not base64");
  refuses([](json& t) { t["normalizer"]["normalizers"][0]["precompiled_charsmap"] = "AAA*"; },
          "precompiled_charsmap is not base64 at character 3");
  refuses([](json& t) { t["normalizer"]["normalizers"][0]["precompiled_charsmap"] = "AAAA"; },
          "normalisation table: cut short");
  expect_error(base::ErrorKind::kBadData, {kName}, [] { static_cast<void>(unigram_of_tokenizer_json("{", kName)); });
}

}  // namespace
}  // namespace dragoman::interop
