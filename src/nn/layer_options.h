#pragma once

#include <cstdint>

#include "base/fields.h"
#include "kernels/layer_norm.h"
#include "kernels/rotation.h"

namespace dragoman::nn {

/// The shape of a feed-forward layer.
enum class FeedForwardKind {
  kPlain,  ///< activation(x W1 + b1) W2 + b2 (Vaswani et al. 2017, section 3.3)
  kGated,  ///< (activation(x W_gate) * (x W1)) W2 (Shazeer 2020; SwiGLU with SiLU)
};

constexpr base::Names<FeedForwardKind> names_of(FeedForwardKind) {
  return {"feed_forward", {{FeedForwardKind::kPlain, "plain"}, {FeedForwardKind::kGated, "gated"}}};
}

/// The affine maps and layer norms that have a bias.
enum class Biases {
  kAll,
  kAttentionInput,  ///< queries, keys and values alone, as in Qwen2
  kNone,
};

constexpr base::Names<Biases> names_of(Biases) {
  return {"biases", {{Biases::kAll, "all"}, {Biases::kAttentionInput, "attention-input"}, {Biases::kNone, "none"}}};
}

/// The distribution of weight matrices before the first update.
enum class InitialWeights {
  kXavier,  ///< uniform (Glorot and Bengio 2010); embeddings N(0, 1 / D)
  kGpt2,    ///< N(0, 0.02^2); maps that end in the residual stream N(0, 0.02^2 / 2L) (Radford et al. 2019, section 2.3)
  kT5,      ///< N(0, 1 / d_in); queries without a scale N(0, 1 / (d_in d_key)); words N(0, 1) with scale_output
};

constexpr base::Names<InitialWeights> names_of(InitialWeights) {
  return {"initial_weights",
          {{InitialWeights::kXavier, "xavier"}, {InitialWeights::kGpt2, "gpt2"}, {InitialWeights::kT5, "t5"}}};
}

/// The options of layers beyond those of the paper. The defaults are the paper's. All architectures with these layers
/// have them, and a configuration file leaves out those that are at their default.
struct LayerOptions {
  kernels::NormKind norm = kernels::NormKind::kLayer;
  FeedForwardKind feed_forward = FeedForwardKind::kPlain;
  Biases biases = Biases::kAll;
  int n_kv_heads = 0;
  int64_t d_head = 0;
  int64_t d_key = 0;
  bool qk_norm = false;
  int64_t window = 0;
  bool scale_embedding = true;
  bool scale_attention = true;  ///< products q . k are divided by sqrt(Dk)
  int64_t relative_buckets = 32;
  int64_t relative_distance = 128;
  InitialWeights initial_weights = InitialWeights::kXavier;
  double rope_theta = 10'000.0;  ///< base of the angles (Su et al. 2021, section 3.2.2)
  kernels::RotationScaling rope_scaling = kernels::RotationScaling::kNone;
  double rope_factor = 1.0;
  double rope_low_frequency = 1.0;   ///< llama3: turns within the trained length below which an angle is divided
  double rope_high_frequency = 4.0;  ///< llama3: turns above which it is kept
  int64_t rope_trained_length = 8192;

  static constexpr const char* kTitle = "Shape of the layers";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void LayerOptions::fields(Visit&& visit) {
  using base::Field;
  using O = LayerOptions;
  visit(Field("norm", &O::norm, "Normalisation"));
  visit(Field("feed_forward", &O::feed_forward, "Feed-forward with or without a gate"));
  visit(Field("biases", &O::biases, "Which affine maps and layer norms have a bias"));
  visit(Field("n_kv_heads", &O::n_kv_heads,
              "Heads of keys and values of self-attention, which groups of heads share; 0 = one each", {0, 1024}));
  visit(Field("d_head", &O::d_head, "Width of a head; 0 = d_model / n_heads", {0, 65'536}));
  visit(Field("d_key", &O::d_key, "Width of the queries and keys of a head; 0 = as wide as the head, which is the most",
              {0, 65'536}));
  visit(Field("qk_norm", &O::qk_norm, "RMSNorm on each head of queries and keys of self-attention"));
  visit(Field("window", &O::window, "Latest tokens that causal attention sees; 0 = all", {0, 1 << 24}, "tokens"));
  visit(Field("scale_embedding", &O::scale_embedding, "Embeddings are multiplied by the root of d_model"));
  visit(Field("scale_attention", &O::scale_attention, "Products of queries and keys are divided by the root of d_key"));
  visit(Field("relative_buckets", &O::relative_buckets, "Relative positions: number of buckets, a multiple of 4",
              {4, 4096}));
  visit(Field("relative_distance", &O::relative_distance, "Relative positions: where the last bucket begins",
              {3, 1 << 20}, "tokens"));
  visit(Field("initial_weights", &O::initial_weights, "Distribution of the weights before the first update"));
  visit(Field("rope_theta", &O::rope_theta, "Base of the angles of rotary positions", {1, 1e12}));
  visit(Field("rope_scaling", &O::rope_scaling, "How rotary angles are stretched for long texts").without_flag());
  visit(Field("rope_factor", &O::rope_factor, "By how much", {1e-3, 1e6}).without_flag());
  visit(Field("rope_low_frequency", &O::rope_low_frequency, "llama3: turns below which angles are divided", {1e-3, 1e6})
            .without_flag());
  visit(Field("rope_high_frequency", &O::rope_high_frequency, "llama3: turns above which angles stay", {1e-3, 1e6})
            .without_flag());
  visit(Field("rope_trained_length", &O::rope_trained_length, "llama3: tokens of the texts of training", {1, 1 << 24})
            .without_flag());
}

}  // namespace dragoman::nn
