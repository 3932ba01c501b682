#include <gtest/gtest.h>

#include "models/convolutional/convolutional.h"
#include "models/decoder_only/decoder_only.h"
#include "models/encoder_only/encoder_only.h"
#include "models/recurrent/recurrent.h"
#include "models/transformer/transformer.h"
#include "support/tiny_config.h"

namespace dragoman::models {
namespace {

// Two for each weight that is multiplied with: of one source word, or of one word behind it, each weight is used once.
double of_weights(const Model& model) {
  double sum = 0.0;
  for (const nn::ParameterHandle& parameter : model.parameters().parameters()) {
    sum += parameter->is_matrix_weight ? 2 * static_cast<double>(parameter->shape.size()) : 0.0;
  }
  return sum;
}

// Of a query with one key: 2 Dk for the score, 2 Dh for the value, in each head.
double of_pair(const nn::LayerConfig& layer) {
  return 2.0 * layer.n_heads * static_cast<double>(layer.key_width() + layer.head_width());
}

void check_transformer(const TransformerConfig& config, const char* what) {
  const bool attends = config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention;
  const double pairs = config.encoder_layers * of_pair(config.encoder_layer()) +
                       config.decoder_layers * (attends ? 2 : 1) * of_pair(config.decoder_layer());
  const Transformer model(config);
  EXPECT_DOUBLE_EQ(model.forward_flops(1, 1), of_weights(model) + pairs) << what;
}

TEST(ForwardFlops, OfTransformers) {
  const TransformerConfig base = test_support::tiny_config();
  check_transformer(base, "base");
  const auto check = [&](const char* what, auto change) {
    TransformerConfig config = base;
    change(config);
    check_transformer(config, what);
  };
  check("gated", [](TransformerConfig& c) { c.layer.feed_forward = nn::FeedForwardKind::kGated; });
  check("grouped heads", [](TransformerConfig& c) { c.layer.n_kv_heads = 2; });
  check("narrow keys", [](TransformerConfig& c) { c.layer.d_key = 4; });
  check("wide heads", [](TransformerConfig& c) { c.layer.d_head = 12; });
  check("another decoder", [](TransformerConfig& c) {
    c.encoder_layers = 3;
    c.decoder_d_ff = 48;
    c.decoder_n_heads = 2;
    c.layer.d_key = 6;
  });
  check("ssru", [](TransformerConfig& c) { c.decoder_sublayer = nn::DecoderSublayer::kSsru; });
  check("average attention", [](TransformerConfig& c) {
    c.decoder_sublayer = nn::DecoderSublayer::kAverageAttention;
    c.decoder_d_ff = 48;
  });
}

// A decoder or an encoder alone.
template <typename Config>
Config small_alone() {
  Config config;
  config.vocab_size = 37;
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  return config;
}

TEST(ForwardFlops, OfDecodersAndEncodersAlone) {
  auto decoder = small_alone<DecoderOnlyConfig>();
  decoder.layer.n_kv_heads = 2;
  const DecoderOnly generator(decoder);
  EXPECT_DOUBLE_EQ(generator.forward_flops(0, 1), of_weights(generator) + 2 * of_pair(decoder.layer_config()));
  auto encoder = small_alone<EncoderOnlyConfig>();
  encoder.pooler = Pooler::kNone;  // which the head for words does not read
  encoder.class_pooling = Pooling::kMean;
  const EncoderOnly reader(encoder);
  EXPECT_DOUBLE_EQ(reader.forward_flops(1, 0), of_weights(reader) + 2 * of_pair(encoder.layer_config()));
}

TEST(ForwardFlops, OfRecurrentModels) {
  for (const RecurrentAttention attention :
       {RecurrentAttention::kNone, RecurrentAttention::kBahdanau, RecurrentAttention::kLuong}) {
    for (const int layers : {1, 3}) {
      for (const bool feeds : {false, true}) {
        RecurrentConfig config;
        config.source_vocab_size = config.target_vocab_size = 37;
        config.cell = feeds ? kernels::CellKind::kLstm : kernels::CellKind::kGru;
        config.layers = layers;
        config.d_model = 20;
        config.d_hidden = 24;
        config.attention = attention;
        config.input_feeding = feeds && attention == RecurrentAttention::kLuong;
        const Recurrent model(config);
        const double pair = attention == RecurrentAttention::kNone ? 0.0 : 2 * (24 + 48);  // score, context
        EXPECT_DOUBLE_EQ(model.forward_flops(1, 1), of_weights(model) + pair);
        const double first = model.forward_flops(1, 0), second = model.forward_flops(2, 0);
        EXPECT_GT(2 * first, second) << "the first state is computed once";
      }
    }
  }
}

TEST(ForwardFlops, OfConvolutionalModels) {
  ConvolutionalConfig config;
  config.source_vocab_size = config.target_vocab_size = 37;
  config.encoder_layers = 3;
  config.decoder_layers = 2;
  config.d_model = 20;
  config.d_hidden = 24;
  const Convolutional model(config);
  EXPECT_DOUBLE_EQ(model.forward_flops(1, 1), of_weights(model) + 2 * 4 * 20);  // scores and contexts in two layers
}

}  // namespace
}  // namespace dragoman::models
