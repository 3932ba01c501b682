#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/linear.h"

namespace dragoman::nn {

class MultiHeadAttention;

/// Where the keys and values that a query row attends to come from. Training and scoring look at whole packed
/// sequences (PackedMemory); decoding looks at a cache. The layers above are the same code for both.
class AttentionMemory {
 public:
  virtual ~AttentionMemory() = default;
  /// @param input  [N, D] what the queries are projected from, with the projections of `attention`
  /// @return context [N, H * Dh]: softmax(Q K^T / sqrt(Dh)) V
  virtual Variable attend(const Variable& input, const MultiHeadAttention& attention,
                          const ForwardContext& context) = 0;
};

/// MultiHead(Q, K, V) = Concat(head_1 .. head_H) W^O, head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)
/// (paper, section 3.2.2). Parameters PATH.{query,key,value,output}.{weight,bias}; the H projections of one kind are
/// the columns of one matrix. Departs from the paper: projections have a bias.
class MultiHeadAttention {
 public:
  MultiHeadAttention(ParameterSet& parameters, const std::string& path, const LayerConfig& config);
  /// @param x [N, D];  @return [N, D]
  Variable forward(const Variable& x, AttentionMemory& memory, const ForwardContext& context) const;

  /// The projections a memory needs: [N, D] -> [N, H * Dh]. Those of one input are computed together.
  Variable project_query(const Variable& input) const { return query_.forward(input); }
  Variable project_key(const Variable& input) const { return key_.forward(input); }
  Variable project_value(const Variable& input) const { return value_.forward(input); }
  struct KeysAndValues {
    Variable keys, values;
  };
  KeysAndValues project_keys_and_values(const Variable& input) const;
  struct Projections {
    Variable queries, keys, values;
  };
  Projections project_all(const Variable& input) const;
  int n_heads() const { return n_heads_; }
  float weight_dropout() const { return dropout_; }
  uint32_t site() const { return site_; }
  const std::string& path() const { return path_; }

 private:
  Linear query_;
  Linear key_;
  Linear value_;
  Linear output_;
  int n_heads_;
  float dropout_;
  std::string path_;
  uint32_t site_;
};

/// Keys and values projected from packed rows: the input itself (self-attention) or the encoder's output
/// (cross-attention). Attention never crosses the border of a sentence.
class PackedMemory : public AttentionMemory {
 public:
  /// Self-attention over the queries' own rows; causal: a row sees itself and earlier rows.
  PackedMemory(const PackedRows& rows, bool causal) : query_rows_(rows), key_rows_(rows), causal_(causal) {}
  /// Cross-attention: sentence b of the queries sees all rows of sentence b of `memory` [Ns, D].
  PackedMemory(const PackedRows& query_rows, const PackedRows& memory_rows, Variable memory)
      : query_rows_(query_rows), key_rows_(memory_rows), memory_(std::move(memory)) {}

  Variable attend(const Variable& input, const MultiHeadAttention& attention, const ForwardContext& context) override;

 private:
  MultiHeadAttention::Projections project(const Variable& input, const MultiHeadAttention& attention) const;
  void observe(const Variable& query, const Variable& key, const MultiHeadAttention& attention,
               ForwardObserver& observer) const;

  PackedRows query_rows_;
  PackedRows key_rows_;
  Variable memory_;  // undefined in self-attention
  bool causal_ = false;
};

}  // namespace dragoman::nn
