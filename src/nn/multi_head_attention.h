#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/linear.h"
#include "nn/relative_positions.h"

namespace dragoman::nn {

class MultiHeadAttention;

/// Supplies the keys and values that the query rows attend to. Training and scoring project them from whole sentences
/// (RaggedKeyValues). Decoding reads them from a cache. The layers above are the same code for both.
class KeyValueSource {
 public:
  virtual ~KeyValueSource() = default;
  /// Returns: the context [N, H * Dh], softmax(Q K^T / sqrt(Dk)) V.
  /// @param input  [N, D]; the queries are projected from it with the weights of `attention`
  virtual Variable attend(const Variable& input, const MultiHeadAttention& attention,
                          const ForwardContext& context) = 0;
};

/// Computes MultiHead(Q, K, V) = Concat(head_1 .. head_H) W^O, head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V).
/// The parameters are PATH.{query,key,value,output}.{weight,bias}. The H projections of one kind are the columns of
/// one matrix. Unlike in the paper, projections have a bias. Options (LayerOptions): fewer heads of keys and values,
/// Hkv, each for a group of H / Hkv query heads (Ainslie et al. 2023); queries and keys that are narrower than values,
/// d_k < d_v (Vaswani et al. 2017, table 3, rows B), which zeros fill up; RMSNorm on each head of queries and keys with
/// the gains PATH.{query,key}_norm.gain [Dk] (Henry et al. 2020); rotation of queries and keys by their positions (Su
/// et al. 2021); numbers added to the products by relative position (Raffel et al. 2020). Source: Vaswani et al. 2017,
/// section 3.2.2.
class MultiHeadAttention {
 public:
  /// Throws: Error unless n_heads divides d_model: "decoder.layers.0.self_attention: d_model 6 is not a multiple of
  /// n_heads 4".
  MultiHeadAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, KeyValueSource& key_values, const ForwardContext& context) const;

  /// The projections that a KeyValueSource needs: queries [N, H * Dh], keys and values [N, Hkv * Dh]. Columns of a head
  /// of queries and keys past Dk are 0. Several projections of one input are computed together.
  Variable project_query(const Variable& input) const { return widened(query_.forward(input), n_heads_); }
  Variable project_key(const Variable& input) const { return widened(key_.forward(input), n_kv_heads_); }
  Variable project_value(const Variable& input) const { return value_.forward(input); }
  struct KeysAndValues {
    Variable keys, values;
  };
  KeysAndValues project_keys_and_values(const Variable& input) const;
  struct Projections {
    Variable queries, keys, values;
  };
  /// Self-attention. @param positions  [N] int32, by which queries and keys are rotated where the layer rotates
  /// @param context  whose observer is shown queries and keys as they were before norm and rotation
  Projections project_all(const Variable& input, const Tensor& positions, const ForwardContext& context = {}) const;
  int n_heads() const { return n_heads_; }
  int n_kv_heads() const { return n_kv_heads_; }
  int64_t window() const { return window_; }
  /// Returns: the factor of the products of queries and keys; 0 = 1 / sqrt(Dh), of keys as wide as heads.
  float scale() const { return scale_; }
  /// Returns: null for none.
  const RelativePositions* relative() const { return relative_.get(); }
  float weight_dropout() const { return dropout_; }
  uint32_t site() const { return site_; }
  const std::string& path() const { return path_; }

 private:
  Variable widened(const Variable& projected, int heads) const;

  Linear query_;
  Linear key_;
  Linear value_;
  Linear output_;
  int n_heads_;
  int n_kv_heads_;
  int64_t head_width_;
  int64_t window_;
  ParameterHandle query_norm_;  // [Dk]; null without QK-norm
  ParameterHandle key_norm_;
  float epsilon_;
  Tensor rotation_;  // undefined = none
  float scale_;
  std::shared_ptr<const RelativePositions> relative_;
  float dropout_;
  std::string path_;
  uint32_t site_;
};

/// The keys that a query sees in self-attention.
enum class Attend {
  kWholeSentence,
  kCausal,  ///< its own row and earlier rows of its sentence
};

/// Projects keys and values from ragged rows: from the input itself (self-attention) or from the encoder's output
/// (cross-attention). Attention never crosses the border of a sentence.
class RaggedKeyValues : public KeyValueSource {
 public:
  /// Self-attention over the rows of the queries.
  RaggedKeyValues(const RaggedRows& rows, Attend attend) : query_rows_(rows), key_rows_(rows), attend_(attend) {}
  /// Cross-attention: sentence b of the queries sees all rows of sentence b of `encoded` [Ns, D].
  RaggedKeyValues(const RaggedRows& query_rows, const RaggedRows& encoded_rows, Variable encoded)
      : query_rows_(query_rows), key_rows_(encoded_rows), encoded_(std::move(encoded)) {}

  Variable attend(const Variable& input, const MultiHeadAttention& attention, const ForwardContext& context) override;

 private:
  MultiHeadAttention::Projections project(const Variable& input, const MultiHeadAttention& attention,
                                          const ForwardContext& context) const;
  kernels::AttentionOptions options(const MultiHeadAttention& attention) const;
  static ops::RelativeBias bias(const MultiHeadAttention& attention);
  void observe(const Variable& query, const Variable& key, const MultiHeadAttention& attention,
               ForwardObserver& observer) const;

  RaggedRows query_rows_;
  RaggedRows key_rows_;
  Variable encoded_;  // undefined in self-attention
  Attend attend_ = Attend::kWholeSentence;
};

}  // namespace dragoman::nn
