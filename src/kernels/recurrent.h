#pragma once

#include <span>

#include "base/names.h"
#include "kernels/types.h"

namespace dragoman::kernels {

/// The cell of a recurrent layer. PyTorch's definitions, with row vectors and weights [in, out].
enum class CellKind {
  kGru,   ///< r, z = sigmoid(x W + h U);  n = tanh(x Wn + r * (h Un));  h' = (1 - z) * n + z * h (Cho et al. 2014)
  kLstm,  ///< i, f, o = sigmoid; g = tanh(x W + h U);  c' = f * c + i * g;  h' = o * tanh(c') (Gers et al. 2000)
};

constexpr base::Names<CellKind> names_of(CellKind) {
  return {"cell", {{CellKind::kGru, "gru"}, {CellKind::kLstm, "lstm"}}};
}

/// Returns: G, the number of gates: r, z, n of a GRU; i, f, g, o of an LSTM. They stand side by side in this order.
constexpr int64_t gates_of(CellKind kind) {
  return kind == CellKind::kGru ? 3 : 4;
}

/// Numbers that the backward needs of each unit: r, z, n, h Un + b of a GRU; i, f, g, o of an LSTM.
inline constexpr int64_t kSavedOfCell = 4;

/// One step of n sentences. Inputs and results of the whole layer are ragged rows [N, ...]: those of the k-th sentence
/// of the step are in row rows[k]. All else has a row for each sentence of the step. H = width of the state.
struct RecurrentCellForward {
  CellKind kind;
  const Tensor& gates;        ///< [N, G*H], x W + b
  const Tensor* fed_gates;    ///< [n, G*H], added to those of `gates`; null for none
  const Tensor& state_gates;  ///< [n, G*H], h U + b
  const Tensor& rows;         ///< [n] int32 in host memory
  const Tensor& hidden;       ///< [n, H], h
  const Tensor& cell;         ///< [n, H], c of an LSTM; not read for a GRU
  Tensor& saved;              ///< [n, 4*H], overwritten
  Tensor& output;             ///< [N, H], of which the rows of this step are overwritten with h'
  Tensor& next_hidden;        ///< [m, H], m <= n, overwritten with h' of the first m sentences
  Tensor& next_cell;          ///< [n, H], c' of an LSTM, overwritten
};

/// The backward of one step.
struct RecurrentCellBackward {
  CellKind kind;
  const Tensor& saved;        ///< [n, 4*H]
  const Tensor& rows;         ///< [n] int32 in host memory
  const Tensor& hidden;       ///< [n, H], h; not read for an LSTM
  const Tensor& cell;         ///< [n, H], c of an LSTM
  const Tensor& next_cell;    ///< [n, H], c' of an LSTM
  const Tensor& grad_output;  ///< [N, H], the gradient of h' from the result of the layer
  Tensor& grad_hidden;        ///< [n, H]: of h' from the next step; overwritten with that of h, except through h U
  Tensor& grad_cell;          ///< [n, H]: of c'; overwritten with that of c (LSTM)
  Tensor& grad_gates;         ///< [N, G*H], of which the rows of this step are overwritten
  Tensor& grad_state_gates;   ///< [n, G*H], overwritten
};

/// How a decoder state s scores an encoder state h_j, which is projected to a key k_j when the sentence is read.
enum class ScoreKind {
  kAdditive,        ///< v . tanh(q + k_j), q = s W (Bahdanau et al. 2015)
  kMultiplicative,  ///< s . k_j (Luong et al. 2015, "general")
};

/// The encoder states of one sentence. Rows may be strided.
struct SourceRows {
  Tensor keys;    ///< [S, A]
  Tensor values;  ///< [S, C]
};

/// Attention of n queries, each to all rows of one sentence:  a = softmax(scores),  context = sum_j a_j value_j.
struct SourceAttentionForward {
  ScoreKind kind;
  const Tensor& query;                  ///< [n, A]
  std::span<const SourceRows> sources;  ///< of all sentences; none of them empty
  std::span<const int32_t> sentences;   ///< [n], the sentence of each query
  const Tensor& score_weight;           ///< [A], v; not read for kMultiplicative
  Tensor& weights;                      ///< [n, longest source], overwritten; 0 past a source
  Tensor& context;                      ///< [n, C], overwritten
};

struct SourceAttentionBackward {
  ScoreKind kind;
  const Tensor& query;
  std::span<const SourceRows> sources;
  std::span<const int32_t> sentences;
  const Tensor& score_weight;
  const Tensor& weights;
  const Tensor& grad_context;          ///< [n, C]
  Tensor& grad_query;                  ///< [n, A], overwritten
  std::span<SourceRows> grad_sources;  ///< gradients are added to them
  Tensor& grad_score_weight;           ///< [A], added to; not touched for kMultiplicative
};

}  // namespace dragoman::kernels
