#include "interop/marian_export.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "marian_folders.h"
#include "ops/softmax.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_config.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using models::Tying;
using nlohmann::json;
using tensor::Tensor;
using test_support::expect_error;

data::Vocabulary learned(const std::string& words, const fs::path& folder) {
  std::string text;
  for (int line = 0; line < 50; ++line) {
    text += words + "\n";
  }
  write_text(folder / "text", text);
  data::VocabularyOptions options;
  options.size = 40;
  options.normalization = "identity";
  return data::train_vocabulary({folder / "text"}, options).vocabulary;
}

class ModelToExport : public testing::Test {
 protected:
  ModelToExport()
      : source_(learned("the old cat sleeps under a tree", folder_.path())),
        target_(learned("die katze schläft unter dem alten baum", folder_.path())) {}

  // A model with random weights, as dragoman trains them.
  models::ModelFiles files(Tying tying, const std::function<void(models::TransformerConfig&)>& change = {}) {
    models::TransformerConfig config = test_support::tiny_config(source_.size());
    config.target_vocab_size = tying == Tying::kAll ? source_.size() : target_.size();
    config.decoder_layers = 1;
    config.max_positions = 40;
    config.tying = tying;
    if (change) {
      change(config);
    }
    models::Transformer model(config);
    model.parameters().allocate();
    model.parameters().initialize(3);
    models::ModelFiles files{.config = models::to_json(config), .tensors = {}, .vocabularies = {}};
    for (const auto& [name, tensor] : models::named_tensors(model.parameters())) {
      files.tensors[name] = tensor.clone();
    }
    if (tying == Tying::kAll) {
      files.vocabularies = {{"vocabulary.spm", source_.bytes()}};
    } else {
      files.vocabularies = {{"source.spm", source_.bytes()}, {"target.spm", target_.bytes()}};
    }
    return files;
  }

  test_support::TemporaryFolder folder_;
  data::Vocabulary source_;
  data::Vocabulary target_;
};
class EachTying : public ModelToExport, public testing::WithParamInterface<Tying> {};
INSTANTIATE_TEST_SUITE_P(Tyings, EachTying, testing::Values(Tying::kAll, Tying::kTarget, Tying::kNone));

std::vector<float> log_probs(const models::Transformer& model, const std::vector<int32_t>& source,
                             const std::vector<int32_t>& target) {
  const autograd::NoGrad inference;
  const auto hidden = model.forward({models::one_sentence(source), models::one_sentence(target)}, {});
  return ops::log_softmax(model.output().logits(hidden)).value().to_vector<float>();
}

TEST_P(EachTying, ImportedAgainItIsTheSameModel) {
  models::ModelFiles ours = files(GetParam(), [](auto& config) { config.output_bias = true; });
  for (float& value : ours.tensors.at("output.bias").span<float>()) {
    value = 0.25F;
  }
  const fs::path folder = folder_.path() / "marian";
  write_exported_model(export_marian(ours, folder_.path(), {}), folder);
  const ImportedModel back = import_marian(folder);
  const auto before = model_of(ours), after = model_of(back.files);
  const std::vector<int64_t> source_ids = marian_ids(folder, "source"), target_ids = marian_ids(folder, "target");
  const auto before_to_after = [](const data::Vocabulary& from, const data::Vocabulary& to, int32_t id) {
    return id <= data::kEosId ? id : to.id(from.piece(id));
  };
  const auto source_after = data::Vocabulary::from_bytes(back.files.vocabularies.at("source.spm"), "source.spm");
  const auto target_after = data::Vocabulary::from_bytes(back.files.vocabularies.at("target.spm"), "target.spm");
  const data::Vocabulary& target_before = GetParam() == Tying::kAll ? source_ : target_;
  const std::vector<int32_t> source{5, 9, 19, 7, 3}, target{2, 8, 18, 11, 6};
  std::vector<int32_t> source_there, target_there;
  for (const int32_t id : source) {
    source_there.push_back(before_to_after(source_, source_after, id));
  }
  for (const int32_t id : target) {
    target_there.push_back(before_to_after(target_before, target_after, id));
  }
  const std::vector<float> expected = log_probs(*before, source, target);
  const std::vector<float> seen = log_probs(*after, source_there, target_there);
  const auto size_before = static_cast<size_t>(target_before.size()), size_after = size_before + 1;
  ASSERT_EQ(seen.size(), target.size() * size_after);
  for (size_t row = 0; row < target.size(); ++row) {
    for (int32_t id = data::kUnkId; id < target_before.size(); ++id) {
      // our <s> became Marian's <pad>, which is imported as <pad>
      const int32_t there = id == data::kBosId ? data::kPadId : before_to_after(target_before, target_after, id);
      ASSERT_NEAR(seen[row * size_after + static_cast<size_t>(there)],
                  expected[row * size_before + static_cast<size_t>(id)], 1e-4)
          << "row " << row << ", id " << id;
    }
  }
}

TEST_P(EachTying, TheFolderSaysWhatTheModelIs) {
  const ExportedModel exported = export_marian(files(GetParam()), folder_.path(), {6, 0.7, "en", "de"});
  const json config = json::parse(exported.texts.at("config.json"));
  const auto pieces = json::parse(exported.texts.at("vocab.json"));
  EXPECT_EQ(pieces.size(), static_cast<size_t>(source_.size()));
  EXPECT_EQ(pieces.at("</s>"), 0);
  EXPECT_EQ(pieces.at("<unk>"), 1);
  EXPECT_EQ(pieces.at("<pad>"), config["pad_token_id"]);
  EXPECT_EQ(config["decoder_start_token_id"], config["pad_token_id"]);
  EXPECT_EQ(config["share_encoder_decoder_embeddings"], GetParam() == Tying::kAll);
  EXPECT_EQ(config["tie_word_embeddings"], GetParam() != Tying::kNone);
  EXPECT_EQ(exported.texts.contains("target_vocab.json"), GetParam() != Tying::kAll);
  EXPECT_EQ(json::parse(exported.texts.at("tokenizer_config.json"))["separate_vocabs"], GetParam() != Tying::kAll);
  const json search = json::parse(exported.texts.at("generation_config.json"));
  EXPECT_EQ(search["num_beams"], 6);
  EXPECT_EQ(search["length_penalty"], 0.7);
  EXPECT_EQ(search["bad_words_ids"].size(), 3u) << "<unk>, <unused>, <pad>";
  EXPECT_TRUE(exported.notes.empty());
  EXPECT_EQ(exported.texts.at("source.spm"), source_.bytes());
}

TEST_F(ModelToExport, WhatMarianDoesNotHaveIsRefusedByName) {
  const auto refused = [&](const std::vector<std::string>& parts,
                           const std::function<void(models::TransformerConfig&)>& change) {
    expect_error(ErrorKind::kBadData, parts,
                 [&] { static_cast<void>(export_marian(files(Tying::kAll, change), "m", {})); });
  };
  refused({"m/config.json", "norm_order is pre", "post only"},
          [](auto& config) { config.norm_order = nn::NormOrder::kPre; });
  refused({"m/config.json", "positions is learned", "sinusoidal only"},
          [](auto& config) { config.positions = nn::PositionKind::kLearned; });
  refused({"m/config.json", "activation is gelu-tanh", "relu, gelu and silu only"},
          [](auto& config) { config.activation = kernels::Activation::kGeluTanh; });
  refused({"m/config.json", "layer_norm_epsilon", "1e-5 only"},
          [](auto& config) { config.layer_norm_epsilon = 1e-6F; });
  refused({"m/config.json", "feed_forward is gated", "plain only"},
          [](auto& config) { config.layer.feed_forward = nn::FeedForwardKind::kGated; });
  refused({"m/config.json", "scale_attention is false", "true only"},
          [](auto& config) { config.layer.scale_attention = false; });
  refused({"m/config.json", "scale_output is true", "false only"}, [](auto& config) { config.scale_output = true; });
  refused({"m/config.json", "embedding_norm is true", "false only"},
          [](auto& config) { config.embedding_norm = true; });
  refused({"m/config.json", "decoder_sublayer is ssru", "self-attention only"},
          [](auto& config) { config.decoder_sublayer = nn::DecoderSublayer::kSsru; });
  refused({"m/config.json", "tying is embeddings"}, [](auto& config) { config.tying = Tying::kEmbeddings; });
}

TEST_F(ModelToExport, OurLengthPenaltyIsNotTheirsAndANoteSaysSo) {
  const ExportedModel exported = export_marian(files(Tying::kAll), folder_.path(), {});
  ASSERT_EQ(exported.notes.size(), 1u);
  EXPECT_NE(exported.notes.front().find("gnmt"), std::string::npos) << exported.notes.front();
}

TEST_F(ModelToExport, DamagedModelsAreRefused) {
  models::ModelFiles broken = files(Tying::kAll);
  broken.vocabularies = {{"vocabulary.spm", target_.bytes()}};
  if (target_.size() != source_.size()) {
    expect_error(ErrorKind::kBadData, {"pieces"}, [&] { static_cast<void>(export_marian(broken, "m", {})); });
  }
  broken.vocabularies.clear();
  expect_error(ErrorKind::kBadData, {"vocabulary.spm"}, [&] { static_cast<void>(export_marian(broken, "m", {})); });
  broken = files(Tying::kAll);
  broken.tensors.erase("embedding.weight");
  expect_error(ErrorKind::kBadData, {"embedding.weight", "is missing"},
               [&] { static_cast<void>(export_marian(broken, "m", {})); });
}

TEST_F(ModelToExport, AFolderThatIsThereIsLeftAlone) {
  const ExportedModel exported = export_marian(files(Tying::kAll), folder_.path(), {});
  const fs::path there = folder_.path() / "there";
  fs::create_directory(there);
  expect_error(ErrorKind::kUsage, {there.string(), "is there already"}, [&] { write_exported_model(exported, there); });
  EXPECT_TRUE(fs::is_empty(there));
}

// Import, then export: the output equals the input except for the type of the numbers.
class StoredFolders : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, StoredFolders, testing::ValuesIn(kStoredFolders),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredFolders, ExportUndoesImport) {
  const fs::path folder = stored_folder(GetParam());
  const json config = json_of(folder / "config.json");
  const ExportedModel exported = export_marian(import_marian(folder).files, "m", {});
  EXPECT_EQ(exported.texts.at("source.spm"), base::read_file(folder / "source.spm"));
  EXPECT_EQ(exported.texts.at("target.spm"), base::read_file(folder / "target.spm"));
  const bool apart = fs::exists(folder / "target_vocab.json");
  if (!apart) {  // with two vocabularies <pad> has another id
    EXPECT_EQ(json::parse(exported.texts.at("vocab.json")), json_of(folder / "vocab.json"));
  }
  const std::string name = (folder / "model.safetensors").string();
  const tensor::NamedTensors stored = tensor::read_safetensors(base::read_file(name), name);
  for (const auto& [path, tensor] : stored) {
    const bool embedding = path.find("embed_tokens") != std::string::npos || path.find("shared") != std::string::npos;
    if (path == "final_logits_bias" || (embedding && (apart || !config["scale_embedding"].get<bool>()))) {
      continue;
    }
    ASSERT_TRUE(exported.tensors.contains(path)) << path;
    EXPECT_TRUE(test_support::close(exported.tensors.at(path), tensor.to(tensor::DType::kFloat32), 1e-12)) << path;
  }
  if (!apart) {
    EXPECT_TRUE(test_support::close(exported.tensors.at("final_logits_bias"),
                                    stored.at("final_logits_bias").to(tensor::DType::kFloat32), 1e-12));
  }
}

}  // namespace
}  // namespace dragoman::interop
