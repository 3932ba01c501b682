// Imported M2M-100, NLLB-200 and mBART-50 models compared with the results of transformers for these folders
// (tests/golden/make_hf_m2m100.py), and folders that are refused.
#include "interop/hf_m2m100.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "data/vocabulary/piece_list.h"
#include "decoding/translator.h"
#include "exported_twice.h"
#include "interop/hf_mbart.h"
#include "marian_folders.h"
#include "models/languages.h"
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
fs::path many_folder(const std::string& name) {
  const char* const other = std::getenv("DRAGOMAN_M2M100_FOLDERS");
  return fs::path(other != nullptr ? other : DRAGOMAN_M2M100_FOLDERS) / name;
}

// de of __de__.
std::string code_of(const std::string& token) {
  return token.starts_with("__") ? token.substr(2, token.size() - 4) : token;
}

class StoredM2m100 : public testing::TestWithParam<std::string> {
 protected:
  StoredM2m100()
      : folder_(many_folder(GetParam())),
        imported_(GetParam() == "mbart" ? import_mbart(folder_) : import_m2m100(folder_)),
        expected_(json_of(folder_ / "expected.json")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("vocabulary.spm"), "vocabulary.spm")) {
    ids_ = {1, 3, 2, 2};  // of <pad>, <unk>, <s>, </s>
    ids_.push_back(0);    // their <s>
    for (int64_t id = 4; static_cast<int64_t>(ids_.size()) < vocabulary_.size(); ++id) {
      ids_.push_back(id);
    }
  }

  void expect_search(int beam_size, const char* search) const {
    const decoding::SearchOptions options = transformers_search(beam_size, expected_["max_length"]);
    std::vector<decoding::TranslationRequest> requests;
    for (const json& row : expected_["lines"]) {
      requests.push_back({.text = row["line"].get<std::string>(), .languages = tokens_of(row)});
    }
    const auto seen =
        decoding::Translator(model_of(imported_.files), vocabulary_, vocabulary_).translate_requests(requests, options);
    for (size_t line = 0; line < seen.size(); ++line) {
      const json& row = expected_["lines"][line];
      EXPECT_EQ(mapped(seen[line].ids, ids_), row[search].get<std::vector<int64_t>>()) << row["line"];
      EXPECT_FALSE(seen[line].text.starts_with(">>")) << seen[line].text;
    }
  }

  decoding::LanguageTokens tokens_of(const json& row) const {
    const auto languages = models::languages_from_json(imported_.files.languages, "languages.json");
    return decoding::choose_languages(languages, {code_of(row["source"]), code_of(row["target"])},
                                      {vocabulary_, vocabulary_})
        .tokens;
  }

  fs::path folder_;
  ImportedModel imported_;
  json expected_;
  data::Vocabulary vocabulary_;
  std::vector<int64_t> ids_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredM2m100, testing::Values("m2m100", "nllb", "mbart"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredM2m100, LinesBeginWithTheCodeOfTheirLanguage) {
  for (const json& row : expected_["lines"]) {
    const auto line = row["line"].get<std::string>();
    const auto ids = decoding::encode_source(vocabulary_, line, tokens_of(row));
    EXPECT_EQ(mapped(ids, ids_), row["ids"].get<std::vector<int64_t>>()) << line;
    EXPECT_EQ(data::encode_source(vocabulary_, data::language_piece(code_of(row["source"])) + " " + line), ids);
  }
}

TEST_P(StoredM2m100, LogitsEqualThoseOfTransformers) {
  expect_logits_of_lines(*model_of(imported_.files), folder_, expected_["lines"], ids_);
}

// The code that a translation begins with counts nothing in a score, as the token that transformers forces.
TEST_P(StoredM2m100, GreedyAndBeamSearchWriteTheSame) {
  expect_search(1, "greedy");
  expect_search(4, "beam");
}

TEST_P(StoredM2m100, AnExportedFolderIsTheSameModel) {
  const test_support::TemporaryFolder place;
  const fs::path folder = place.path() / "hf";
  const bool is_mbart = GetParam() == "mbart";
  write_exported_model(is_mbart ? export_mbart(imported_.files, "m", search_of(imported_))
                                : export_m2m100(imported_.files, "m", search_of(imported_)),
                       folder);
  expect_same_model(is_mbart ? import_mbart(folder) : import_m2m100(folder), imported_);
  EXPECT_EQ(fs::exists(folder / "vocab.json"), GetParam() == "m2m100");
  EXPECT_EQ(base::read_file(folder / "sentencepiece.bpe.model"), base::read_file(folder_ / "sentencepiece.bpe.model"));
  EXPECT_EQ(json_of(folder / "tokenizer_config.json")["additional_special_tokens"],
            json_of(folder_ / "special_tokens_map.json")["additional_special_tokens"]);
}

TEST(HfMbart, AModelThatWasTrainedFurtherKeepsItsStart) {
  const test_support::TemporaryFolder place;
  const fs::path folder = place.path() / "mbart";
  ImportedModel imported = import_mbart(many_folder("mbart"));
  train_start(imported.files);
  write_exported_model(export_mbart(imported.files, "m", search_of(imported)), folder);
  const json config = json_of(folder / "config.json");
  EXPECT_EQ(config["decoder_start_token_id"].get<int>(), config["vocab_size"].get<int>() - 1);
  expect_same_model(import_mbart(folder), imported);
}

TEST(HfMbart, AnOnlyTargetIsForced) {
  const test_support::TemporaryFolder place;
  const fs::path folder = place.path() / "mbart";
  ImportedModel imported = import_mbart(many_folder("mbart"));
  imported.files.languages =
      R"({"sources": {"de": "de_DE", "en": "en_XX", "fr": "fr_XX"}, "targets": {"en": "en_XX"}})";
  write_exported_model(export_mbart(imported.files, "m", search_of(imported)), folder);
  const auto languages = models::languages_from_json(import_mbart(folder).files.languages, "languages.json");
  EXPECT_EQ(models::codes_of(languages.targets), std::vector<std::string>{"en"});
  imported.files.languages = R"({"sources": {"de": "de_DE"}, "targets": {"it": "it_IT"}})";
  expect_error(base::ErrorKind::kBadData, {"m/languages.json: target \"it_IT\" is no language of the vocabulary"},
               [&] { static_cast<void>(export_mbart(imported.files, "m", {})); });
}

TEST(HfM2m100, WhatTheLayoutLacksIsNotExported) {
  const ImportedModel imported = import_m2m100(many_folder("nllb"));
  const auto refuses = [&](const char* tensor, size_t place, const std::string& message) {
    models::ModelFiles files = imported.files;
    tensor::Tensor changed = files.tensors.at(tensor).clone();
    tensor::HostEdit<float>(changed).span()[place] += 0.5F;
    files.tensors[tensor] = changed;
    expect_error(base::ErrorKind::kBadData, {message}, [&] { static_cast<void>(export_m2m100(files, "m", {})); });
  };
  refuses("decoder.embedding.positions", 3, "decoder.embedding.positions are not those of fairseq");
  refuses("output.bias", 7, "output.bias[7] is 0.5, M2M-100 has no output bias");
  refuses("embedding.weight", size_t{data::kBosId} * 16, "embedding.weight has other rows for <s> and </s>");
  expect_error(base::ErrorKind::kBadData, {"m/config.json: embedding_norm is false, mBART-50 has true only"},
               [&] { static_cast<void>(export_mbart(imported.files, "m", {})); });
  models::ModelFiles files = imported.files;
  std::string& spm = files.vocabularies.at("vocabulary.spm");
  for (size_t at = spm.find(">>"); at != std::string::npos; at = spm.find(">>")) {
    spm.replace(at, 2, "xx");
  }
  expect_error(base::ErrorKind::kBadData, {"m/vocabulary.spm: has no pieces of languages such as >>fr<<"},
               [&] { static_cast<void>(export_m2m100(files, "m", {})); });
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

TEST(HfM2m100, CommonCodesFindTheLanguages) {
  const auto find = [](const char* folder, const char* asked) {
    const auto imported =
        std::string(folder) == "mbart" ? import_mbart(many_folder(folder)) : import_m2m100(many_folder(folder));
    const auto languages = models::languages_from_json(imported.files.languages, "languages.json");
    const models::ModelLanguage* const found = models::find_language(asked, languages.targets);
    return found == nullptr ? std::string() : found->code + " " + found->own;
  };
  for (const char* asked : {"de", "DE", "deu_Latn", "de-AT", "ger"}) {
    EXPECT_EQ(find("nllb", asked), "de deu_Latn") << asked;
    EXPECT_EQ(find("m2m100", asked), "de de") << asked;
    EXPECT_EQ(find("mbart", asked), "de de_DE") << asked;
  }
  EXPECT_EQ(find("nllb", "it"), "");
}

TEST(HfMbart, WhatIsNotUnderstoodIsRefusedByName) {
  const std::string text = base::read_file(many_folder("mbart") / "config.json");
  const auto refuses = [&](const char* key, const json& value, const std::string& message) {
    json config = base::parse_json(text, "config.json");
    config[key] = value;
    expect_error(base::ErrorKind::kBadData, {message},
                 [&] { static_cast<void>(mbart_config_from_json(config.dump(), "config.json")); });
  };
  refuses("model_type", "bart", "model_type is \"bart\", must be mbart");
  refuses("decoder_start_token_id", nullptr, "decoder_start_token_id is missing, as in an mBART of 25 languages");
  refuses("decoder_start_token_id", 250020, "decoder_start_token_id is 250020, that of an mBART-50 is 2");
  refuses("normalize_before", false, "normalize_before is false");
  refuses("static_position_embeddings", true, "static_position_embeddings is true");
  refuses("prefix_length", 7, "prefix_length is 7; dragoman does not know this key");
}

TEST(HfMbart, AForcedLanguageIsTheOnlyTarget) {
  const test_support::TemporaryFolder place;
  const fs::path folder = place.path() / "mbart";
  fs::copy(many_folder("mbart"), folder, fs::copy_options::recursive);
  const json row = json_of(folder / "expected.json")["lines"][0];
  const int64_t id = row["ids"][0];  // of the language of the source
  write_text(folder / "generation_config.json", json{{"forced_bos_token_id", id}}.dump());
  const auto languages = models::languages_from_json(import_mbart(folder).files.languages, "languages.json");
  ASSERT_EQ(languages.targets.size(), 1U);
  EXPECT_EQ(languages.targets.front().own, row["source"].get<std::string>());
  EXPECT_EQ(languages.sources.size(), 3U);
  write_text(folder / "generation_config.json", json{{"forced_bos_token_id", 5}}.dump());
  expect_error(base::ErrorKind::kBadData, {"forced_bos_token_id is 5, which is no language"},
               [&] { static_cast<void>(import_mbart(folder)); });
}

TEST(HfMbart, DamagedFoldersAreRefused) {
  const test_support::TemporaryFolder place;
  const fs::path folder = place.path() / "mbart";
  fs::copy(many_folder("mbart"), folder, fs::copy_options::recursive);
  const auto refuses = [&](const std::string& message) {
    expect_error(base::ErrorKind::kBadData, {message}, [&] { static_cast<void>(import_mbart(folder)); });
  };
  const json config = json_of(folder / "config.json");
  json fewer = config;
  fewer["max_position_embeddings"] = config["max_position_embeddings"].get<int>() - 1;
  write_text(folder / "config.json", fewer.dump());
  refuses("embed_positions.weight");
  fewer = config;
  fewer["decoder_layers"] = 1;
  write_text(folder / "config.json", fewer.dump());
  refuses("model.decoder.layers.1");
  write_text(folder / "config.json", config.dump());
  write_text(folder / "sentencepiece.bpe.model", "no model");
  refuses("sentencepiece.bpe.model");
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
