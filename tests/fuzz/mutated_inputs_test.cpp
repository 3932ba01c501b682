// Readers of files and text on inputs that were valid and are no longer: they throw base::Error or read, nothing else.
// DRAGOMAN_FUZZ_INPUTS says how many inputs each gets (2,000); input i is the same in every run. Best under
// scripts/test.sh --sanitize.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "base/error.h"
#include "base/manifest.h"
#include "base/random.h"
#include "base/utf8.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "decoding/search/search_defaults.h"
#include "decoding/shortlist.h"
#include "decoding/text_splitter.h"
#include "decoding/tiny_vocabulary.h"
#include "interop/hf_config.h"
#include "interop/marian_vocabulary.h"
#include "models/transformer/transformer_config.h"
#include "support/random_tensors.h"

namespace dragoman {
namespace {

uint64_t inputs() {
  const char* asked = std::getenv("DRAGOMAN_FUZZ_INPUTS");
  return asked == nullptr ? 2000 : std::strtoull(asked, nullptr, 10);
}

const std::vector<std::string> kNasty = {"-1",
                                         "1e999",
                                         "18446744073709551616",
                                         "null",
                                         "[[[[",
                                         "\"",
                                         "\\u0000",
                                         "{}",
                                         "\xFF",
                                         "\xF4\x90\x80\x80",
                                         "\xE2\x96\x81",
                                         std::string(1, '\0'),
                                         "\n",
                                         ","};

// Some bytes changed, removed, repeated or put in.
std::string mutated(std::string bytes, base::Random& random) {
  for (uint64_t times = 1 + random.below(4); times-- > 0 && !bytes.empty();) {
    const size_t at = random.below(bytes.size());
    const size_t count = std::min<size_t>(1 + random.below(random.below(8) == 0 ? 200 : 6), bytes.size() - at);
    switch (random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 2:
        bytes.erase(at, count);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, count));
        break;
      case 4:
        bytes.insert(at, kNasty[random.below(kNasty.size())]);
        break;
      default:
        bytes.resize(random.below(16) == 0 ? at : bytes.size());
    }
  }
  return bytes;
}

// @return how many of the mutated inputs were read without an error
uint64_t run(const std::string& what, const std::vector<std::string>& seeds,
             const std::function<void(const std::string&)>& read) {
  uint64_t readable = 0;
  for (uint64_t i = 0; i < inputs(); ++i) {
    base::Random random(i);
    const std::string input = mutated(seeds[i % seeds.size()], random);
    try {
      read(input);
      ++readable;
    } catch (const base::Error&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ", input " << i << " of " << input.size() << " bytes: " << error.what();
      return readable;
    }
  }
  EXPECT_LT(readable, inputs()) << what << ": no input was refused";
  return readable;
}

std::vector<std::string> safetensors_seeds() {
  std::vector<std::string> seeds;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    seeds.push_back(tensor::make_safetensors(test_support::random_tensors(seed), {{"format", "dragoman"}}).bytes());
  }
  return seeds;
}

TEST(MutatedInputs, Safetensors) {
  EXPECT_GT(run("safetensors", safetensors_seeds(),
                [](const std::string& file) {
                  size_t held = 0;
                  for (const auto& [name, tensor] : tensor::read_safetensors(file, "m")) {
                    held += test_support::bytes_of(tensor).size();
                  }
                  EXPECT_LE(held, 2 * file.size()) << "more than the file holds, F16 widened";
                }),
            0U);
}

TEST(MutatedInputs, Configurations) {
  run("config.json", {models::to_json(models::TransformerConfig{})},
      [](const std::string& text) { models::transformer_config_from_json(text, "config.json").check(); });
  run("decoding.json", {decoding::search_defaults_json({})},
      [](const std::string& text) { decoding::search_defaults_from_json(text, "decoding.json").check(); });
  base::Manifest manifest;
  manifest.files["config.json"] = {412, std::string(64, 'a')};
  run("manifest.json", {base::to_text(manifest)},
      [](const std::string& text) { base::manifest_from_text(text, "manifest.json"); });
}

TEST(MutatedInputs, Shortlists) {
  const decoding::Shortlist list(20, {5, 9}, {{}, {}, {}, {}, {4, 19}, {7}, {}});
  run("shortlist.safetensors", {list.to_bytes()}, [&](const std::string& bytes) {
    const auto read = decoding::Shortlist::from_bytes(bytes, "shortlist.safetensors", list.pieces());
    EXPECT_LE(read.allowed(std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6}, {}).size(), 20U);
  });
}

TEST(MutatedInputs, VocabularyMap) {
  const std::string config_text =
      R"({"model_type":"marian","vocab_size":8,"decoder_vocab_size":8,"d_model":16,"encoder_layers":1,"decoder_layers":1,)"
      R"("encoder_attention_heads":2,"decoder_attention_heads":2,"encoder_ffn_dim":16,"decoder_ffn_dim":16,)"
      R"("pad_token_id":7,"eos_token_id":0,"decoder_start_token_id":7,"max_position_embeddings":32,)"
      R"("activation_function":"swish","scale_embedding":true})";
  run("config.json of MarianMT", {config_text},
      [](const std::string& text) { static_cast<void>(interop::marian_config_from_json(text, "config.json")); });
  const interop::MarianConfig config = interop::marian_config_from_json(config_text, "config.json");
  const std::string map = R"({"</s>":0,"<unk>":1,"the":2,"\u2581a":3,"\u2581dog":4,"s":5,"\ud83d\ude00":6,"<pad>":7})";
  EXPECT_EQ(interop::marian_vocabulary_from_json(map, "vocab.json", 8, config).pieces.size(), 9U);
  run("vocab.json", {map}, [&](const std::string& text) {
    const auto vocabulary = interop::marian_vocabulary_from_json(text, "vocab.json", 8, config);
    EXPECT_EQ(vocabulary.pieces.size(), vocabulary.marian_ids.size());
  });
}

TEST(MutatedInputs, ConfigurationsOfLanguageModels) {
  const std::string gpt2 =
      R"({"model_type":"gpt2","vocab_size":300,"n_positions":64,"n_embd":32,"n_layer":2,"n_head":4,"n_inner":null,)"
      R"("activation_function":"gelu_new","layer_norm_epsilon":1e-05,"tie_word_embeddings":true,"eos_token_id":256,)"
      R"("scale_attn_weights":true,"use_cache":true})";
  const std::string llama =
      R"({"model_type":"qwen3","vocab_size":300,"hidden_size":32,"intermediate_size":48,"num_hidden_layers":2,)"
      R"("num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"max_position_embeddings":128,)"
      R"("rope_parameters":{"rope_type":"llama3","rope_theta":500000.0,"factor":8.0,"low_freq_factor":1.0,)"
      R"("high_freq_factor":4.0,"original_max_position_embeddings":32},"layer_types":["full_attention",)"
      R"("full_attention"],"sliding_window":null,"use_sliding_window":false,"eos_token_id":[1,2],"rms_norm_eps":1e-06})";
  run("config.json of GPT-2", {gpt2},
      [](const std::string& text) { interop::gpt2_config_from_json(text, "config.json").model.check(); });
  run("config.json of a Llama", {llama},
      [](const std::string& text) { interop::llama_config_from_json(text, "config.json").model.check(); });
}

TEST(MutatedInputs, SubwordModels) {
  const std::string plain = decoding::vocabulary().bytes();
  std::vector<std::string> pieces = {"<pad>", "<unk>", "<s>", "</s>", "the", "cat"};
  run("source.spm", {plain, data::with_piece_list(plain, pieces, "source.spm")}, [](const std::string& spm) {
    data::check_sentencepiece_model(spm, "source.spm");
    data::read_piece_list(spm, "source.spm");
  });
}

TEST(MutatedInputs, Text) {
  const data::Vocabulary& vocabulary = decoding::vocabulary();
  const std::string text = "the red cat, the \xF0\x9F\x98\x80 dog.\r\n\xE2\x80\xA8 and \xC3\xA9 the mouse sleeps\n";
  uint64_t parts_seen = 0;
  for (uint64_t i = 0; i < inputs(); ++i) {
    base::Random random(i);
    for (const std::string& line : base::split_lines(mutated(text + text, random))) {
      const std::string repaired = base::repair_utf8(line);
      ASSERT_TRUE(base::is_valid_utf8(repaired)) << "input " << i;
      for (const std::string& part : decoding::split_long_text(vocabulary, repaired, 8)) {
        ASSERT_LE(data::encode_source(vocabulary, part).size(), 8U) << "input " << i;
        ++parts_seen;
      }
      for (const int32_t id : vocabulary.encode(repaired)) {
        ASSERT_TRUE(id >= 0 && id < vocabulary.size()) << "input " << i;
      }
    }
  }
  EXPECT_GT(parts_seen, inputs());
}

}  // namespace
}  // namespace dragoman
