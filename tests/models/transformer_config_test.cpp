#include "models/transformer/transformer_config.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/transformer/transformer.h"
#include "support/error_of.h"

namespace dragoman::models {
namespace {

using test_support::error_of;

TransformerConfig small_config() {
  TransformerConfig config;
  config.source_vocab_size = config.target_vocab_size = 100;
  return config;
}

std::string replace(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(TransformerConfig, BaseHasThePapersNumberOfParameters) {
  TransformerConfig config;  // the defaults are the paper's base model
  config.source_vocab_size = config.target_vocab_size = 37'000;
  const Transformer base(config);
  EXPECT_NEAR(static_cast<double>(base.parameters().count()), 63.1e6, 0.05e6);

  TransformerConfig big = config;
  big.d_model = 1024;
  big.d_ff = 4096;
  big.n_heads = 16;
  EXPECT_NEAR(static_cast<double>(Transformer(big).parameters().count()), 214e6, 0.6e6);
}

TEST(TransformerConfig, JsonRoundTripKeepsEveryField) {
  TransformerConfig config = small_config();
  config.encoder_layers = 12;
  config.decoder_layers = 2;
  config.decoder_d_ff = 1024;
  config.decoder_n_heads = 4;
  config.output_bias = true;
  config.norm_order = nn::NormOrder::kPre;
  config.activation = kernels::Activation::kSilu;
  config.positions = nn::PositionKind::kLearned;
  config.tying = Tying::kTarget;
  config.attention_dropout = 0.05F;
  config.source_word_dropout = 0.1F;
  config.target_word_dropout = 0.2F;
  const std::string text = to_json(config);
  EXPECT_EQ(to_json(transformer_config_from_json(text, "config.json")), text);
}

TEST(TransformerConfig, FilesFromBeforeWordDropoutAreRead) {
  TransformerConfig config = small_config();
  const std::string text = to_json(config);
  const std::string old =
      replace(replace(text, "  \"source_word_dropout\": 0.0,\n", ""), "  \"target_word_dropout\": 0.0,\n", "");
  ASSERT_EQ(old.find("word_dropout"), std::string::npos) << old;
  EXPECT_EQ(to_json(transformer_config_from_json(old, "config.json")), text);
}

TEST(TransformerConfig, FilesFromBeforeOutputBiasAndDecoderShapesAreRead) {
  const std::string text = to_json(small_config());
  std::string old = text;
  for (const char* line : {"  \"decoder_d_ff\": 0,\n", "  \"decoder_n_heads\": 0,\n", "  \"output_bias\": false,\n"}) {
    old = replace(old, line, "");
  }
  EXPECT_EQ(to_json(transformer_config_from_json(old, "config.json")), text);
}

TEST(TransformerConfig, TheDecoderTakesTheShapeOfTheEncoderUnlessToldOtherwise) {
  TransformerConfig config = small_config();
  EXPECT_EQ(config.decoder_layer().d_ff, config.encoder_layer().d_ff);
  EXPECT_EQ(config.decoder_layer().n_heads, config.encoder_layer().n_heads);
  config.decoder_d_ff = 96;
  config.decoder_n_heads = 2;
  EXPECT_EQ(config.encoder_layer().d_ff, 2048);
  EXPECT_EQ(config.encoder_layer().n_heads, 8);
  const Transformer model(config);
  EXPECT_EQ(model.parameters().find("decoder.layers.0.feed_forward.inner.weight").shape, (tensor::Shape{512, 96}));
  EXPECT_EQ(model.decoder_layers()[0].cross_attention().n_heads(), 2);
}

TEST(TransformerConfig, UnknownKeySuggestsTheNearestOne) {
  const std::string text = replace(to_json(small_config()), "\"d_model\"", "\"d_modle\"");
  EXPECT_EQ(error_of([&] { transformer_config_from_json(text, "config.json"); }),
            "config.json: unknown key \"d_modle\"; did you mean \"d_model\"?");
}

TEST(TransformerConfig, WrongValuesAreRefusedWithTheRule) {
  const std::string good = to_json(small_config());
  const auto message = [&](const char* from, const char* to) {
    return error_of([&] { transformer_config_from_json(replace(good, from, to), "config.json"); });
  };
  EXPECT_EQ(message("\"n_heads\": 8", "\"n_heads\": 7"),
            "config.json: d_model is 512, must be a multiple of n_heads (7)");
  EXPECT_EQ(message("\"d_ff\": 2048", "\"d_ff\": -1"), "config.json: d_ff is -1, must be 1 to 262144");
  EXPECT_EQ(message("\"d_ff\": 2048", "\"d_ff\": 2048.5"), "config.json: d_ff must be an integer, is 2048.5");
  EXPECT_EQ(message("\"d_ff\": 2048", "\"d_ff\": 1e30"), "config.json: d_ff must be an integer, is 1e+30");
  EXPECT_EQ(message("\"d_ff\": 2048", "\"d_ff\": 9223372036854775807"),
            "config.json: d_ff must be an integer, is 9223372036854775807");
  EXPECT_EQ(message("\"post\"", "\"middle\""), "config.json: norm_order is \"middle\", must be one of post, pre");
  EXPECT_EQ(message("\"output_bias\": false", "\"output_bias\": 1"),
            "config.json: output_bias must be true or false, is 1");
  EXPECT_EQ(message("\"decoder_n_heads\": 0", "\"decoder_n_heads\": 7"),
            "config.json: d_model is 512, must be a multiple of decoder_n_heads (7)");
  EXPECT_NE(message("\"dropout\": 0.1", "\"dropout\": \"much\""), "no error");
  EXPECT_NE(message("\"source_vocab_size\": 100", "\"source_vocab_size\": 90"), "no error")
      << "tying all needs equal vocabularies";
}

}  // namespace
}  // namespace dragoman::models
