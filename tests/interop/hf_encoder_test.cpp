// Imported encoders compared with the results of transformers for these folders (tests/golden/make_hf_encoders.py), and
// folders that are broken, hostile or of models that dragoman lacks.
#include "interop/hf_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "data/labels.h"
#include "decoding/text_encoder.h"
#include "decoding/text_labeler.h"
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

ImportedLanguageModel import_any(const fs::path& folder) {
  const std::string type = json_of_file(folder / "config.json").value("model_type", "");
  return import_encoder(folder, type == "roberta"      ? HfEncoderLayout::kRoberta
                                : type == "distilbert" ? HfEncoderLayout::kDistilBert
                                                       : HfEncoderLayout::kBert);
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
