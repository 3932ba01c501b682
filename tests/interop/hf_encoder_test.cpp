// Imported encoders compared with the results of transformers for these folders (tests/golden/make_hf_encoders.py), and
// folders that are broken, hostile or of models that dragoman lacks.
#include "interop/hf_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "data/encoder_input.h"
#include "data/labels.h"
#include "decoding/text_encoder.h"
#include "decoding/text_labeler.h"
#include "interop/hf_import.h"
#include "language_model_folders.h"
#include "models/encoder_only/encoder_only.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using models::EncoderOnly;
using nlohmann::json;
using tensor::Tensor;
using test_support::expect_error;

fs::path encoder_folder(const std::string& name) {
  return fs::path(DRAGOMAN_ENCODER_FOLDERS) / name;
}

HfEncoderLayout layout_of(const fs::path& folder) {
  const std::string type = json_of_file(folder / "config.json").value("model_type", "");
  return type == "roberta"      ? HfEncoderLayout::kRoberta
         : type == "distilbert" ? HfEncoderLayout::kDistilBert
                                : HfEncoderLayout::kBert;
}

ImportedLanguageModel import_any(const fs::path& folder) {
  return import_encoder(folder, layout_of(folder));
}

std::shared_ptr<EncoderOnly> encoder_of(const models::ModelFiles& files) {
  auto model = std::make_shared<EncoderOnly>(models::encoder_only_config_from_json(files.config, "config.json"));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), "model.safetensors");
  model->parameters().pack_weights();
  return model;
}

void expect_near(const Tensor& seen, const Tensor& expected, float tolerance, const std::string& what) {
  const tensor::HostView<float> a(seen), b(expected);
  ASSERT_EQ(a.span().size(), b.span().size()) << what;
  for (size_t i = 0; i < a.span().size(); ++i) {
    ASSERT_NEAR(a.span()[i], b.span()[i], tolerance) << what << " at " << i;
  }
}

class StoredEncoder : public testing::TestWithParam<std::string> {
 protected:
  StoredEncoder()
      : folder_(encoder_folder(GetParam())),
        imported_(import_any(folder_)),
        inputs_(json_of_file(folder_ / "expected.json")),
        expected_(tensor::read_safetensors(base::read_file(folder_ / "expected.safetensors"), "expected.safetensors")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("tokenizer.json"), "tokenizer.json")),
        model_(encoder_of(imported_.files)) {}

  models::TokenRows rows_of(size_t number) const {
    models::TokenRows rows = models::one_sentence(inputs_[number]["ids"].get<std::vector<int32_t>>());
    rows.segments = tensor::host_tensor(inputs_[number]["segments"].get<std::vector<int32_t>>());
    return rows;
  }
  const Tensor& expected(const char* name, size_t number) const {
    return expected_.at(std::string(name) + "." + std::to_string(number));
  }

  fs::path folder_;
  ImportedLanguageModel imported_;
  json inputs_;
  tensor::NamedTensors expected_;
  data::Vocabulary vocabulary_;
  std::shared_ptr<EncoderOnly> model_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredEncoder,
                         testing::Values("bert_words", "bert_classes", "bert_tags", "bert_bare", "roberta_words",
                                         "roberta_classes", "distilbert_words", "distilbert_classes"),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredEncoder, RowsPoolerAndLogitsEqualThoseOfTransformers) {
  const autograd::NoGrad inference;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const models::TokenRows rows = rows_of(i);
    const auto hidden = model_->encode(rows, {});
    expect_near(hidden.value(), expected("hidden", i), 1e-4F, "hidden");
    if (expected_.contains("pooled." + std::to_string(i))) {
      expect_near(model_->pooled(hidden, rows).value(), expected("pooled", i), 1e-4F, "pooled");
    }
    if (model_->encoder_config().head != models::EncoderHead::kNone) {
      models::ModelInput input;
      input.source = rows;
      const auto out = model_->forward(input, {});
      expect_near(model_->output().logits(out).value(), expected("logits", i), 1e-4F, "logits");
    }
  }
}

TEST_P(StoredEncoder, ClassesOfTextsAndPairsAreThoseOfTransformers) {
  if (model_->encoder_config().head != models::EncoderHead::kClasses) {
    return;
  }
  const decoding::TextLabeler labeler(model_, vocabulary_,
                                      data::Labels::from_json(imported_.files.labels, "labels.json"));
  EXPECT_EQ(labeler.labels().name(2), "LABEL_2");
  std::vector<data::TextOrPair> texts;
  for (const json& input : inputs_) {
    texts.push_back({input["text"].get<std::string>(), std::nullopt});
    if (input.contains("pair")) {
      texts.back().second = input["pair"].get<std::string>();
    }
  }
  const decoding::TextClasses classes = labeler.classify(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const tensor::HostView<float> logits(expected("logits", i));
    double sum = 0.0;
    for (const float logit : logits.span()) {
      sum += std::exp(static_cast<double>(logit));
    }
    for (size_t label = 0; label < 3; ++label) {
      EXPECT_NEAR(classes.of(i)[label], std::exp(static_cast<double>(logits.span()[label])) / sum, 1e-5);
    }
  }
}

TEST_P(StoredEncoder, TextHasTheIdsOfItsTokenizer) {
  const data::TextFrame& frame = vocabulary_.frame();
  for (const json& input : inputs_) {
    std::vector<int32_t> ids = {frame.first};
    const auto append = [&](const std::string& text) {
      const std::vector<int32_t> of_text = vocabulary_.encode(text);
      ids.insert(ids.end(), of_text.begin(), of_text.end());
    };
    append(input["text"].get<std::string>());
    if (input.contains("pair")) {
      ids.insert(ids.end(), static_cast<size_t>(frame.separators), frame.last);
      append(input["pair"].get<std::string>());
    }
    ids.push_back(frame.last);
    EXPECT_EQ(ids, input["ids"].get<std::vector<int32_t>>());
  }
}

TEST_P(StoredEncoder, EmbeddingsAreTheMeanAloneAndInABatch) {
  const decoding::TextEncoder encoder(model_, vocabulary_);
  std::vector<std::string> texts;
  for (size_t i = 0; i + 1 < inputs_.size(); ++i) {  // the last is a pair
    texts.push_back(inputs_[i]["text"].get<std::string>());
  }
  const decoding::Embeddings together = encoder.embed(texts, {.batch_tokens = 64, .workers = 2});
  for (size_t i = 0; i < texts.size(); ++i) {
    const decoding::Embeddings alone = encoder.embed(std::span(texts).subspan(i, 1));
    EXPECT_TRUE(std::ranges::equal(alone.of(0), together.of(i)));
    const tensor::HostView<float> mean(expected("mean", i));
    double length = 0.0;
    for (const float value : mean.span()) {
      length += static_cast<double>(value) * static_cast<double>(value);
    }
    const double divisor = model_->encoder_config().unit_length ? std::sqrt(length) : 1.0;
    for (size_t at = 0; at < mean.span().size(); ++at) {
      EXPECT_NEAR(alone.of(0)[at], static_cast<double>(mean.span()[at]) / divisor, 1e-5);
    }
  }
}

TEST_P(StoredEncoder, ExportedAndImportedAgainItIsTheSameModel) {
  const test_support::TemporaryFolder place;
  const fs::path out = place.path() / "out";
  const ExportedModel exported = export_encoder(imported_.files, "m", layout_of(folder_));
  EXPECT_TRUE(exported.notes.empty());
  write_exported_model(exported, out);
  const ImportedLanguageModel again = import_any(out);
  EXPECT_EQ(again.files.config, imported_.files.config);
  EXPECT_EQ(again.files.labels, imported_.files.labels);
  EXPECT_EQ(again.files.vocabularies, imported_.files.vocabularies);
  ASSERT_EQ(again.files.tensors.size(), imported_.files.tensors.size());
  for (const auto& [name, tensor] : imported_.files.tensors) {
    EXPECT_TRUE(std::ranges::equal(tensor::HostView<float>(again.files.tensors.at(name)).span(),
                                   tensor::HostView<float>(tensor).span()))
        << name;
  }
}

// The names and shapes of transformers, as its own folder has them.
TEST_P(StoredEncoder, TheExportedFolderHasTheTensorsOfTransformers) {
  if (GetParam() == "bert_words") {  // in the names of the oldest files
    return;
  }
  const ExportedModel exported = export_encoder(imported_.files, "m", layout_of(folder_));
  const auto theirs = tensor::read_safetensors(base::read_file(folder_ / "model.safetensors"), "model.safetensors");
  for (const auto& [name, tensor] : theirs) {
    ASSERT_TRUE(exported.tensors.contains(name)) << name;
    EXPECT_EQ(exported.tensors.at(name).shape(), tensor.shape()) << name;
  }
  EXPECT_EQ(exported.tensors.size(), theirs.size());
  const json ours = json::parse(exported.texts.at("config.json")), original = json_of_file(folder_ / "config.json");
  for (const char* key : {"architectures", "model_type", "vocab_size", "max_position_embeddings", "pad_token_id"}) {
    EXPECT_EQ(ours.value(key, json()), original.value(key, json())) << key;
  }
}

TEST(EncoderExport, WhatALayoutLacksIsNamed) {
  const models::ModelFiles files = import_any(encoder_folder("bert_classes")).files;
  const auto refused = [&](const std::function<void(models::EncoderOnlyConfig&)>& change, HfEncoderLayout layout,
                           const std::vector<std::string>& parts) {
    models::ModelFiles other = files;
    models::EncoderOnlyConfig config = models::encoder_only_config_from_json(files.config, "config.json");
    change(config);
    other.config = models::to_json(config);
    models::EncoderOnly model(config);
    model.parameters().allocate();
    model.parameters().initialize(1);
    other.tensors = models::named_tensors(model.parameters());
    expect_error(ErrorKind::kBadData, parts, [&] { static_cast<void>(export_encoder(other, "m", layout)); });
  };
  const auto bert = HfEncoderLayout::kBert;
  refused([](auto& c) { c.norm_order = nn::NormOrder::kPre; }, bert,
          {"m/config.json", "norm_order is pre", "BERT has post"});
  refused([](auto& c) { c.positions = nn::PositionKind::kRotary; }, bert, {"positions is rope", "learned"});
  refused([](auto& c) { c.layer.norm = kernels::NormKind::kRms; }, bert, {"norm is rms"});
  refused([](auto& c) { c.layer.feed_forward = nn::FeedForwardKind::kGated; }, bert, {"feed_forward is gated"});
  refused([](auto& c) { c.layer.biases = nn::Biases::kNone; }, bert, {"biases is none"});
  refused([](auto& c) { c.layer.n_kv_heads = 1; }, bert, {"n_kv_heads is 1"});
  refused([](auto& c) { c.embedding_norm = false; }, bert, {"embedding_norm is false"});
  refused([](auto& c) { c.segments = 0; }, bert, {"segments is 0"});
  refused([](auto& c) { c.class_pooling = models::Pooling::kMean; }, bert, {"class_pooling is mean", "pooler"});
  refused([](auto& c) { c.pooler = models::Pooler::kRelu; }, bert, {"pooler is relu", "tanh"});
  refused([](auto&) {}, HfEncoderLayout::kRoberta, {"segments is 2", "RoBERTa"});
  refused([](auto& c) { c.segments = 1; }, HfEncoderLayout::kRoberta, {"tokenizer.json", "padding", "hf-bert"});
  refused([](auto& c) { c.segments = 0; }, HfEncoderLayout::kDistilBert, {"pooler is tanh", "DistilBERT", "relu"});
  expect_error(ErrorKind::kBadData, {"architecture is decoder-only", "encoder-only"}, [&] {
    static_cast<void>(
        export_encoder(import_gpt2(fs::path(DRAGOMAN_LANGUAGE_MODEL_FOLDERS) / "gpt2_untied").files, "m", bert));
  });
}

TEST(EncoderExport, APoolerThatAHeadDoesNotUseIsLeftOutAndSinusoidsBecomeATable) {
  models::ModelFiles files = import_any(encoder_folder("bert_tags")).files;
  models::EncoderOnlyConfig config = models::encoder_only_config_from_json(files.config, "config.json");
  config.pooler = models::Pooler::kTanh;
  config.positions = nn::PositionKind::kSinusoidal;
  config.pooling = models::Pooling::kFirst;
  models::EncoderOnly model(config);
  model.parameters().allocate();
  model.parameters().initialize(1);
  files.tensors = models::named_tensors(model.parameters());
  files.config = models::to_json(config);
  const ExportedModel exported = export_encoder(files, "m", HfEncoderLayout::kBert);
  ASSERT_EQ(exported.notes.size(), 1U);
  EXPECT_NE(exported.notes[0].find("the pooler is left out"), std::string::npos);
  EXPECT_FALSE(exported.tensors.contains("bert.pooler.dense.weight"));
  EXPECT_NE(exported.texts.at("modules.json").find("1_Pooling"), std::string::npos) << "vectors are the first row";
  const test_support::TemporaryFolder place;
  write_exported_model(exported, place.path() / "out");
  const ImportedLanguageModel again = import_any(place.path() / "out");
  const std::shared_ptr<EncoderOnly> found = encoder_of(again.files), original = encoder_of(files);
  EXPECT_EQ(found->encoder_config().pooling, models::Pooling::kFirst);
  const models::TokenRows rows = models::one_sentence(std::vector<int32_t>{2, 7, 8, 9, 3});
  const autograd::NoGrad inference;
  expect_near(found->encode(rows, {}).value(), original->encode(rows, {}).value(), 1e-6F, "hidden");
}

// Windows as the tokenizers package makes them: a vector is the mean of those of the windows.
TEST(TextEncoder, LongTextsMayBeReadInWindows) {
  const ImportedLanguageModel imported = import_any(encoder_folder("bert_bare"));
  const auto vocabulary =
      data::Vocabulary::from_bytes(imported.files.vocabularies.at("tokenizer.json"), "tokenizer.json");
  const decoding::TextEncoder encoder(encoder_of(imported.files), vocabulary);
  const char* const words[] = {"the", "cat", "house", "mouse", "river"};
  const auto text_of = [&](int begin, int end) {
    std::string text;
    for (int word = begin; word < end; ++word) {
      text += std::string(words[word * word % 5]) + " ";
    }
    return text;
  };
  std::vector<std::string> texts = {text_of(0, 70), "the cat"};
  const size_t pieces = vocabulary.encode(texts[0]).size();
  const auto windows = data::encoder_windows(vocabulary, {texts[0], std::nullopt}, 40, 10);
  ASSERT_GT(windows.size(), 1U);
  std::vector<int32_t> joined;
  for (const data::EncoderInput& window : windows) {
    EXPECT_LE(window.ids.size(), 40U);
    EXPECT_FALSE(window.is_cut);
    const size_t shared = joined.empty() ? 0 : 10;
    for (size_t at = 0; at < shared; ++at) {
      EXPECT_EQ(window.ids[1 + at], joined[joined.size() - shared + at]);
    }
    joined.insert(joined.end(), window.ids.begin() + 1 + static_cast<std::ptrdiff_t>(shared), window.ids.end() - 1);
  }
  EXPECT_EQ(joined, vocabulary.encode(texts[0]));
  EXPECT_EQ(joined.size(), pieces);
  const decoding::Embeddings cut = encoder.embed(texts), whole = encoder.embed(texts, {.stride = 10});
  EXPECT_EQ(cut.cut, 1);
  EXPECT_EQ(whole.cut, 0);
  EXPECT_FALSE(std::ranges::equal(cut.of(0), whole.of(0)));
  EXPECT_TRUE(std::ranges::equal(cut.of(1), whole.of(1))) << "short texts stay as they are";
  const decoding::Embeddings alone = encoder.embed(std::span(texts).first(1), {.batch_tokens = 41, .stride = 10});
  EXPECT_TRUE(std::ranges::equal(alone.of(0), whole.of(0)));
  expect_error(ErrorKind::kUsage, {"stride is 38, must be below 38"},
               [&] { static_cast<void>(encoder.embed(texts, {.stride = 38})); });
}

TEST(TextEncoder, TextsLongerThanTheModelLoseTheirEnd) {
  const ImportedLanguageModel imported = import_any(encoder_folder("bert_bare"));
  const decoding::TextEncoder encoder(
      encoder_of(imported.files),
      data::Vocabulary::from_bytes(imported.files.vocabularies.at("tokenizer.json"), "tokenizer.json"));
  std::string most, more;
  for (int word = 0; word < 38; ++word) {  // 40 positions, of which two are around the text
    most += "the ";
  }
  more = most + "the the";
  const std::vector<std::string> texts = {most, more, ""};
  const decoding::Embeddings embeddings = encoder.embed(texts);
  EXPECT_EQ(embeddings.cut, 1);
  EXPECT_TRUE(std::ranges::equal(embeddings.of(0), embeddings.of(1)));
}

class BrokenEncoder : public testing::Test {
 protected:
  void copy(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(folder())) {
      fs::remove_all(entry.path());
    }
    fs::copy(encoder_folder(name), folder(), fs::copy_options::recursive);
  }
  const fs::path& folder() const { return folder_.path(); }

  void change_json(const fs::path& name, const std::function<void(json&)>& change) const {
    json tree = json_of_file(folder() / name);
    change(tree);
    write_file(folder() / name, base::dump_json(tree));
  }
  void expect_refused(const std::vector<std::string>& parts) const {
    expect_error(ErrorKind::kBadData, parts, [&] { static_cast<void>(import_any(folder())); });
  }
  void expect_config_refused(const char* key, const json& value, const std::vector<std::string>& parts) const {
    copy("bert_classes");
    change_json("config.json", [&](json& tree) { tree[key] = value; });
    expect_refused(parts);
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(BrokenEncoder, OtherModelsAreRefusedByKeyAndValue) {
  expect_config_refused("position_embedding_type", "relative_key", {"config.json", "relative_key", "absolute"});
  expect_config_refused("is_decoder", true, {"is_decoder is true"});
  expect_config_refused("hidden_act", "mish", {"hidden_act", "mish"});
  expect_config_refused("hidden_size", 24, {"shape"});
  expect_config_refused("hidden_size", 15, {"d_model is 15"});
  expect_config_refused("vocab_size", 10, {"its tokenizer has", "vocab_size of config.json is 10"});
  expect_config_refused("id2label", {{"0", "a"}}, {"classifier", "shape"});
  expect_config_refused("memory", 1, {"memory", "does not know this key"});
  expect_config_refused("max_position_embeddings", 41, {"position_embeddings", "shape"});
}

TEST_F(BrokenEncoder, FilesThatLackOrAreTooManyAreNamed) {
  copy("bert_words");
  fs::remove(folder() / "vocab.txt");
  expect_refused({"tokenizer.json: is missing", "save_pretrained"});
  copy("roberta_words");
  fs::remove(folder() / "tokenizer.json");
  expect_refused({"tokenizer.json: is missing"});
  copy("bert_bare");
  fs::remove(folder() / "model.safetensors");
  expect_refused({"model.safetensors"});
}

TEST_F(BrokenEncoder, SentenceFoldersSayHowTextsArePooled) {
  copy("bert_bare");
  EXPECT_TRUE(encoder_of(import_any(folder()).files)->encoder_config().unit_length);
  change_json("1_Pooling/config.json", [](json& tree) {
    tree["pooling_mode_cls_token"] = true;
    tree["pooling_mode_mean_tokens"] = false;
  });
  EXPECT_EQ(encoder_of(import_any(folder()).files)->encoder_config().pooling, models::Pooling::kFirst);
  change_json("1_Pooling/config.json", [](json& tree) { tree["pooling_mode_max_tokens"] = true; });
  expect_refused({"1_Pooling", "neither the mean"});
  change_json("modules.json", [](json& tree) { tree[1]["path"] = "../secret"; });
  expect_refused({"modules.json", "../secret"});
  change_json("modules.json", [](json& tree) {
    tree[1]["path"] = "2_Dense";
    tree[1]["type"] = "sentence_transformers.models.Dense";
  });
  expect_refused({"modules.json", "Dense"});
}

}  // namespace
}  // namespace dragoman::interop
