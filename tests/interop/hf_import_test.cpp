// Imported decoder-only models compared with the results of transformers for these folders
// (tests/golden/make_hf_language_models.py), and folders that are broken, hostile or of models that dragoman lacks.
#include "interop/hf_import.h"

#include <gtest/gtest.h>

#include <functional>

#include "data/chat/chat_template.h"
#include "decoding/generator.h"
#include "interop/hf_config.h"
#include "interop/model_source.h"
#include "language_model_folders.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using nlohmann::json;
using tensor::Tensor;
using test_support::expect_error;

ImportedLanguageModel import_folder(const fs::path& folder) {
  const bool is_gpt2 = json_of_file(folder / "config.json").value("model_type", "") == "gpt2";
  return is_gpt2 ? import_gpt2(folder) : import_llama(folder);
}

TEST(ModelSource, FoldersOfCTranslate2AreRefused) {
  const test_support::TemporaryFolder place;
  EXPECT_NO_THROW(refuse_converted_folder(place.path()));
  base::write_file_atomic(place.path() / "model.bin", "weights");
  expect_error(ErrorKind::kBadData,
               {"is a folder of CTranslate2 (model.bin)", "Import the folder that it was made from"},
               [&] { refuse_converted_folder(place.path()); });
  base::write_file_atomic(place.path() / "model.safetensors", "weights");
  EXPECT_NO_THROW(refuse_converted_folder(place.path()));
}

class StoredLanguageModel : public testing::TestWithParam<std::string> {
 protected:
  StoredLanguageModel()
      : folder_(language_model_folder(GetParam())),
        imported_(import_folder(folder_)),
        expected_(json_of_file(folder_ / "expected.json")),
        vocabulary_(data::Vocabulary::from_bytes(imported_.files.vocabularies.at("tokenizer.json"), "tokenizer.json")),
        model_(language_model_of(imported_.files)) {}

  fs::path folder_;
  ImportedLanguageModel imported_;
  json expected_;
  data::Vocabulary vocabulary_;
  std::shared_ptr<models::DecoderOnly> model_;
};
INSTANTIATE_TEST_SUITE_P(All, StoredLanguageModel, testing::ValuesIn(kLanguageModels),
                         [](const auto& folder) { return folder.param; });

TEST_P(StoredLanguageModel, LogitsEqualThoseOfTransformers) {
  const std::string name = (folder_ / "expected.safetensors").string();
  const Tensor expected = tensor::read_safetensors(base::read_file(name), name).at("logits");
  const Tensor seen = logits_of(*model_, expected_["ids"].get<std::vector<int32_t>>());
  ASSERT_EQ(seen.shape(), expected.shape());
  for (size_t i = 0; i < static_cast<size_t>(seen.size()); ++i) {
    ASSERT_NEAR(seen.span<float>()[i], expected.span<float>()[i], 1e-4) << i;
  }
}

TEST_P(StoredLanguageModel, TextHasTheIdsOfItsTokenizer) {
  std::vector<int32_t> ids = vocabulary_.encode(expected_["text"].get<std::string>());
  if (vocabulary_.adds_bos()) {
    ids.insert(ids.begin(), vocabulary_.special().bos);
  }
  EXPECT_EQ(ids, expected_["ids"].get<std::vector<int32_t>>());
}

TEST_P(StoredLanguageModel, GreedySearchWritesTheSame) {
  const decoding::Generator generator(model_, vocabulary_);
  decoding::GenerationOptions options;
  options.max_tokens = 24;
  options.search.sampling = {};
  std::vector<decoding::GenerationRequest> requests;
  for (const json& prompt : expected_["prompts"]) {
    requests.push_back({.prompt = prompt.get<std::string>()});
  }
  const std::vector<decoding::Continuation> seen = generator.generate(requests, options);
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].ids, expected_["greedy"][i].get<std::vector<int32_t>>()) << i;
  }
}

TEST_P(StoredLanguageModel, EndsOfTextComeFromTheFolder) {
  const json eos = json_of_file(folder_ / "generation_config.json")["eos_token_id"];
  EXPECT_EQ(json(vocabulary_.special().eos), eos.is_array() ? eos : json::array({eos}));
}

class BrokenLanguageModel : public testing::Test {
 protected:
  void copy(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(folder())) {
      fs::remove_all(entry.path());
    }
    for (const auto& entry : fs::directory_iterator(language_model_folder(name))) {
      fs::copy_file(entry.path(), folder() / entry.path().filename());
    }
  }

  const fs::path& folder() const { return folder_.path(); }

  void change_json(const char* name, const std::function<void(json&)>& change) const {
    json tree = json_of_file(folder() / name);
    change(tree);
    write_file(folder() / name, base::dump_json(tree));
  }

  void change_tensors(const std::function<void(tensor::NamedTensors&)>& change) const {
    const fs::path path = folder() / "model.safetensors";
    tensor::NamedTensors tensors = tensor::read_safetensors(base::read_file(path), path.string());
    change(tensors);
    write_file(path, tensor::make_safetensors(tensors, {}, tensor::FiniteCheck::kNo).bytes());
  }

  void expect_refused(const std::vector<std::string>& parts) const {
    expect_error(ErrorKind::kBadData, parts, [&] { static_cast<void>(import_folder(folder())); });
  }

  // config.json with one key changed must be refused with the key and its value.
  void expect_config_refused(const std::string& model, const char* key, const json& value,
                             const std::vector<std::string>& parts) const {
    copy(model);
    change_json("config.json", [&](json& tree) { tree[key] = value; });
    std::vector<std::string> all = parts;
    all.insert(all.end(), {"config.json", key});
    expect_refused(all);
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(BrokenLanguageModel, KeysThatAreNotKnownAreRefusedByName) {
  expect_config_refused("gpt2_untied", "use_more_memory", true, {"is true", "does not know this key"});
  expect_config_refused("llama", "quantization_config", {{"bits", 4}}, {"\"bits\":4"});
  expect_config_refused("llama", "sliding_window", 8, {"8"});
  expect_config_refused("qwen3", "auto_map", {{"a", "b"}}, {"does not know this key"});
  copy("llama");
  change_json("config.json", [](json& tree) {
    tree["quantization_config"] = nullptr;  // says nothing
    tree["use_cache"] = false;              // harmless
    tree["id2label"] = {{"0", "a"}};
  });
  EXPECT_NO_THROW(import_folder(folder()));
}

TEST_F(BrokenLanguageModel, ModelsThatDragomanLacksAreRefusedByKeyAndValue) {
  expect_config_refused("gpt2_untied", "scale_attn_weights", false, {"is false", "true only"});
  expect_config_refused("gpt2_untied", "scale_attn_by_inverse_layer_idx", true, {"false only"});
  expect_config_refused("gpt2_untied", "reorder_and_upcast_attn", true, {"false only"});
  expect_config_refused("gpt2_untied", "add_cross_attention", true, {"false only"});
  expect_config_refused("gpt2_untied", "activation_function", "quick_gelu", {"\"quick_gelu\"", "gelu_new"});
  expect_config_refused("llama", "model_type", "gemma", {"\"gemma\"", "llama, mistral, qwen2 or qwen3"});
  expect_config_refused("qwen3", "layer_types", {"full_attention", "sliding_attention"}, {"in all 2 layers"});
  expect_config_refused("llama", "rope_parameters", {{"rope_type", "yarn"}, {"rope_theta", 1e4}}, {"\"yarn\""});
  expect_config_refused("llama", "rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e4}, {"beta_fast", 2}},
                        {"beta_fast"});
  expect_config_refused("llama", "rope_parameters", {{"rope_type", "linear"}}, {"rope_parameters.factor"});
  expect_config_refused("llama", "rope_scaling", {{"type", "linear"}, {"factor", 2.0}}, {"rope_scaling"});
}

TEST_F(BrokenLanguageModel, SizesOutOfRangeAreRefusedBeforeAnythingIsAllocated) {
  expect_config_refused("gpt2_untied", "n_embd", 1 << 30, {"1073741824"});
  expect_config_refused("gpt2_untied", "n_layer", 0, {"from 1 to 512"});
  expect_config_refused("gpt2_untied", "n_positions", int64_t{1} << 40, {"1099511627776"});
  expect_config_refused("llama", "hidden_size", -4, {"-4"});
  expect_config_refused("llama", "vocab_size", 1.5, {"1.5"});
  expect_config_refused("llama", "num_attention_heads", "4", {"\"4\""});
  expect_config_refused("llama", "head_dim", 1 << 20, {"from 2 to 1024"});
  expect_config_refused("llama", "rms_norm_eps", 7, {"7"});
  expect_config_refused("llama", "eos_token_id", "end", {"\"end\""});
  expect_config_refused("mistral", "num_key_value_heads", 3, {"3"});
  copy("llama");
  change_json("config.json", [](json& tree) {
    tree["head_dim"] = 1024;
    tree["max_position_embeddings"] = 1 << 20;
  });
  expect_refused({"max_position_embeddings", "at most 262144"});
}

TEST_F(BrokenLanguageModel, BadJsonIsRefusedWithFileAndPlace) {
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors.index.json", "tokenizer.json"}) {
    for (const std::string& text : {std::string("{\"a\": "), "{\"a\": " + std::string(100'000, '['), std::string("")}) {
      copy("mistral");
      write_file(folder() / name, text);
      expect_error(ErrorKind::kBadData, {name}, [&] { static_cast<void>(import_llama(folder())); });
    }
  }
}

TEST_F(BrokenLanguageModel, MissingUnknownAndMisshapenTensorsAreNamed) {
  const std::string up = "model.layers.1.mlp.up_proj.weight";
  copy("llama");
  change_tensors([&](auto& tensors) { tensors.erase(up); });
  expect_refused({"model.safetensors", up, "is missing"});
  copy("llama");
  change_tensors([&](auto& tensors) { tensors[up] = Tensor::zeros({32, 56}); });
  expect_refused({up, "[32, 56]", "[56, 32]"});
  copy("llama");
  change_tensors([&](auto& tensors) { tensors[up] = Tensor::zeros({56, 32}, tensor::DType::kInt8); });
  expect_refused({up, "int8"});
  copy("llama");
  change_tensors([](auto& tensors) { tensors["score.weight"] = Tensor::zeros({2, 32}); });
  expect_refused({"score.weight", "belongs to no part"});
  copy("llama");
  change_tensors([](auto& tensors) { tensors["lm_head.weight"] = Tensor::zeros({331, 32}); });
  expect_refused({"lm_head.weight"});
  copy("llama");
  change_tensors([&](auto& tensors) { tensors.at(up).template data<float>()[3] = NAN; });
  expect_refused({"model.safetensors", up, "element 3"});
  copy("llama");
  change_tensors([](auto& tensors) {
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = Tensor::zeros({4});  // of older files
  });
  EXPECT_NO_THROW(import_folder(folder()));
}

TEST_F(BrokenLanguageModel, WeightsOfPickleAreNotReadAndTheWayOutIsNamed) {
  copy("llama");
  fs::rename(folder() / "model.safetensors", folder() / "pytorch_model.bin");
  expect_refused({"model.safetensors", "pytorch_model.bin is a program", "save_pretrained"});
}

TEST_F(BrokenLanguageModel, AnIndexThatDoesNotFitItsFilesIsRefused) {
  constexpr const char* kIndex = "model.safetensors.index.json";
  const std::string norm = "model.norm.weight";
  for (const json& place :
       {json("../model.safetensors"), json("/etc/passwd"), json("a/b.safetensors"), json(7), json("x.bin")}) {
    copy("mistral");
    change_json(kIndex, [&](json& tree) { tree["weight_map"][norm] = place; });
    expect_refused({kIndex, norm, "no name of a .safetensors file"});
  }
  copy("mistral");
  change_json(kIndex, [&](json& tree) { tree["weight_map"][norm] = "model-00001-of-00003.safetensors"; });
  expect_refused({norm});
  copy("mistral");
  change_json(kIndex, [&](json& tree) { tree["weight_map"].erase(norm); });
  expect_refused({norm, "is not in this file"});
  copy("mistral");
  change_json(kIndex, [](json& tree) { tree["weight_map"] = json::object(); });
  expect_refused({kIndex, "weight_map"});
  copy("mistral");
  fs::remove(folder() / "model-00002-of-00003.safetensors");
  expect_refused({"model-00002-of-00003.safetensors", "cannot open"});
}

TEST_F(BrokenLanguageModel, TokenizersThatDoNotFitAreRefused) {
  copy("llama");
  fs::remove(folder() / "tokenizer.json");
  expect_refused({"tokenizer.json", "is missing", "save_pretrained"});
  write_file(folder() / "tokenizer.model", "\x0A");
  expect_refused({"tokenizer.model: is cut short"});
  copy("gpt2_untied");
  fs::remove(folder() / "merges.txt");
  expect_refused({"tokenizer.json", "is missing"});
  copy("llama");
  change_json("config.json", [](json& tree) { tree["vocab_size"] = 300; });
  expect_refused({"pieces", "vocab_size of config.json is 300"});
}

TEST_F(BrokenLanguageModel, IdsBeyondThePiecesAreLeftOutAndNoted) {
  copy("llama");
  change_json("generation_config.json", [](json& tree) { tree["eos_token_id"] = {50'256, 3}; });
  const ImportedLanguageModel imported = import_folder(folder());
  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_NE(imported.notes.front().find("50256"), std::string::npos) << imported.notes.front();
}

TEST(HfConfig, RotaryPositionsAreReadAsBothVersionsWriteThem) {
  const json common = {{"model_type", "llama"},        {"vocab_size", 300},      {"hidden_size", 32},
                       {"intermediate_size", 48},      {"num_hidden_layers", 2}, {"num_attention_heads", 4},
                       {"max_position_embeddings", 64}};
  const json scaling = {
      {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 32}};
  json older = common, newer = common;
  older["rope_theta"] = 5e5;
  older["rope_scaling"] = scaling;
  older["rope_scaling"]["type"] = "llama3";
  newer["rope_parameters"] = scaling;
  newer["rope_parameters"]["rope_type"] = "llama3";
  newer["rope_parameters"]["rope_theta"] = 5e5;
  const std::string config = models::to_json(llama_config_from_json(older.dump(), "config.json").model);
  EXPECT_EQ(config, models::to_json(llama_config_from_json(newer.dump(), "config.json").model));
  EXPECT_NE(config.find("llama3"), std::string::npos) << config;
}

TEST_F(BrokenLanguageModel, ChatTemplatesAreKeptAndThoseBeyondTheSubsetNoted) {
  copy("llama");
  ImportedLanguageModel imported = import_folder(folder());
  EXPECT_EQ(imported.files.chat, "");
  write_file(
      folder() / "tokenizer_config.json",
      R"({"bos_token": {"content": "<b>"}, "eos_token": "<e>", "chat_template": [{"name": "rag", "template": "x"},)"
      R"( {"name": "default", "template": "{{ bos_token }}{{ messages[0].content }}"}]})");
  write_file(folder() / "special_tokens_map.json", R"({"eos_token": "<other>", "pad_token": "<p>"})");
  imported = import_folder(folder());
  EXPECT_TRUE(imported.notes.empty());
  const data::ChatFile chat = data::chat_file_from_json(imported.files.chat, "chat.json");
  EXPECT_EQ(chat.source, "{{ bos_token }}{{ messages[0].content }}");
  EXPECT_EQ(chat.tokens,
            (std::map<std::string, std::string>{{"bos_token", "<b>"}, {"eos_token", "<e>"}, {"pad_token", "<p>"}}));
  const std::vector<data::ChatMessage> messages = {{"user", "hello"}};
  EXPECT_EQ(data::ChatTemplate(chat, "chat.json").text_of(messages), "<b>hello");
  write_file(folder() / "chat_template.jinja", "a\n{% macro x() %}{% endmacro %}");  // stands before the other
  imported = import_folder(folder());
  EXPECT_EQ(data::chat_file_from_json(imported.files.chat, "chat.json").source, "a\n{% macro x() %}{% endmacro %}");
  ASSERT_EQ(imported.notes.size(), 1U);
  EXPECT_NE(imported.notes[0].find("chat_template.jinja: line 2: tag \"macro\" is not supported"), std::string::npos)
      << imported.notes[0];
}

TEST_F(BrokenLanguageModel, BrokenChatTemplatesAreRefused) {
  copy("llama");
  const auto expect_config_text_refused = [&](const std::string& config, const std::vector<std::string>& parts) {
    write_file(folder() / "tokenizer_config.json", config);
    expect_refused(parts);
  };
  expect_config_text_refused("[]", {"tokenizer_config.json: must be a JSON object"});
  expect_config_text_refused("{", {"tokenizer_config.json"});
  expect_config_text_refused(R"({"chat_template": 3})", {"chat_template must be a text or a list of named templates"});
  expect_config_text_refused(R"({"chat_template": [{"name": "rag", "template": "x"}]})", {"no template with the name"});
  expect_config_text_refused(R"({"chat_template": [3]})", {"chat_template[0]"});
  write_file(folder() / "tokenizer_config.json", "{}");
  write_file(folder() / "chat_template.jinja", "a\xFF");
  expect_refused({"chat_template.jinja: is not UTF-8"});
  write_file(folder() / "chat_template.jinja", std::string(300'000, 'a'));
  expect_refused({"chat_template.jinja"});
}

}  // namespace
}  // namespace dragoman::interop
