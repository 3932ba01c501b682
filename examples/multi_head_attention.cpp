// Multi-head attention alone (Vaswani et al. 2017, section 3.2.2), with a padding mask.
//
//   MultiHead(Q, K, V) = Concat(head_1 .. head_6) W^O,   head_i = softmax(Q_i K_i^T / sqrt(50)) V_i
//
// 64 sentences; 12 queries attend to 10 keys in each; width 300 in 6 heads of 50. The sentences have 1 to 10 keys that
// count; a mask hides the rest. Prints the weights of one head: a row sums to 1, a hidden key gets 0.
// Then the same without any padding, which is how dragoman itself works.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dragoman/base/random.h"
#include "dragoman/nn/multi_head_attention.h"
#include "dragoman/ops/attention.h"

namespace {

using dragoman::autograd::NoGrad;
using dragoman::autograd::Variable;
using dragoman::base::Random;
using dragoman::tensor::DType;
using dragoman::tensor::Tensor;
namespace kernels = dragoman::kernels;
namespace nn = dragoman::nn;
namespace ops = dragoman::ops;

constexpr int64_t kSentences = 64, kQueries = 12, kKeys = 10, kWidth = 300;
constexpr int kHeads = 6;

Tensor random_tensor(const dragoman::tensor::Shape& shape, uint64_t stream) {
  Tensor tensor = Tensor::empty(shape);
  Random random(1, stream);
  for (float& element : tensor.span<float>()) {
    element = static_cast<float>(random.normal());
  }
  return tensor;
}

// Where each sentence begins among the rows of all: 0, length 0, length 0 + length 1, ...
Tensor offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> offsets = {0};
  for (const int64_t length : lengths) {
    offsets.push_back(offsets.back() + static_cast<int32_t>(length));
  }
  return Tensor::from(offsets, {static_cast<int64_t>(offsets.size())});
}

// Keys and values as rows, and which of them each sentence may see. The layer asks it to attend.
class Memory : public nn::KeyValueSource {
 public:
  Memory(Tensor key, Tensor value, kernels::AttentionBounds bounds)
      : key_(std::move(key)), value_(std::move(value)), bounds_(std::move(bounds)) {}

  Variable attend(const Variable& input, const nn::MultiHeadAttention& layer, const nn::ForwardContext&) override {
    query_ = layer.project_query(input);                 // [Nq, 300]  Q W^Q
    projected_key_ = layer.project_key(key_);            // [Nk, 300]  K W^K
    const Variable value = layer.project_value(value_);  // [Nk, 300]  V W^V
    return ops::attention(query_, projected_key_, value, bounds_, {.n_heads = kHeads});
  }

  // The weights of sentence 0, when all sentences are padded to 10 keys: [6, 12, 10].
  Tensor weights_of_first() const {
    const kernels::AttentionBounds first{offsets_of({kQueries}), offsets_of({kKeys}), bounds_.key_mask.rows(0, kKeys)};
    return ops::attention_weights(query_.value().rows(0, kQueries), projected_key_.value().rows(0, kKeys), first,
                                  {.n_heads = kHeads});
  }

 private:
  Variable key_, value_;
  kernels::AttentionBounds bounds_;
  Variable query_, projected_key_;
};

// The rows of a padded [64 * 10, 300] tensor that count.
Tensor without_padding(const Tensor& padded, const std::vector<int64_t>& lengths) {
  const Tensor offsets = offsets_of(lengths);
  Tensor ragged = Tensor::empty({offsets.span<int32_t>().back(), kWidth});
  for (int64_t b = 0; b < kSentences; ++b) {
    const int32_t* begin = offsets.data<int32_t>() + b;
    ragged.rows(begin[0], begin[1]).copy_from(padded.rows(b * kKeys, b * kKeys + lengths[size_t(b)]));
  }
  return ragged;
}

void print_weights(const Tensor& weights, int64_t head, int64_t n_valid) {
  fmt::print("sentence 0 has {} of {} keys; weights of head {}, a row for each query:\n", n_valid, kKeys, head);
  for (int64_t query = 0; query < kQueries; ++query) {
    const float* row = weights.data<float>() + (head * kQueries + query) * kKeys;
    double sum = 0.0;
    for (int64_t key = 0; key < kKeys; ++key) {
      fmt::print(" {:.3f}", row[key]);
      sum += row[key];
    }
    fmt::print("   sum {:.6f}\n", sum);
  }
}

}  // namespace

int main() {
  const NoGrad inference;  // nothing is recorded for gradients

  // The layer: four projections of [300, 300].
  nn::ParameterSet parameters;
  const nn::MultiHeadAttention attention(parameters, "attention", {.d_model = kWidth, .n_heads = kHeads});
  parameters.allocate();
  parameters.initialize(1);

  // The input, and which keys count.
  const Tensor query = random_tensor({kSentences, kQueries, kWidth}, 1);
  const Tensor key = random_tensor({kSentences, kKeys, kWidth}, 2).reshape({kSentences * kKeys, kWidth});
  const Tensor value = random_tensor({kSentences, kKeys, kWidth}, 3).reshape({kSentences * kKeys, kWidth});
  std::vector<int64_t> lengths;
  Tensor mask = Tensor::zeros({kSentences * kKeys}, DType::kBool);  // true = may be attended to
  Random random(1, 9);
  for (int64_t b = 0; b < kSentences; ++b) {
    lengths.push_back(1 + static_cast<int64_t>(random.below(kKeys)));
    std::fill_n(mask.data<bool>() + b * kKeys, lengths.back(), true);
  }

  // Padded: every sentence has 10 keys, the mask says which ones count.
  const Variable rows(query.reshape({kSentences * kQueries, kWidth}));
  const Tensor query_offsets = offsets_of(std::vector<int64_t>(kSentences, kQueries));
  Memory padded(key, value, {query_offsets, offsets_of(std::vector<int64_t>(kSentences, kKeys)), mask});
  const Tensor output = attention.forward(rows, padded, {}).value().reshape({kSentences, kQueries, kWidth});
  fmt::print("query {}, key and value [64, 10, 300], {} heads -> output {}\n", query.shape().to_string(), kHeads,
             output.shape().to_string());
  print_weights(padded.weights_of_first(), 0, lengths[0]);

  // Ragged: only the keys that count exist.
  Memory ragged(without_padding(key, lengths), without_padding(value, lengths),
                {query_offsets, offsets_of(lengths), {}});
  const Tensor same = attention.forward(rows, ragged, {}).value();
  float difference = 0.0F;
  for (int64_t i = 0; i < same.size(); ++i) {
    difference = std::max(difference, std::abs(same.data<float>()[i] - output.data<float>()[i]));
  }
  fmt::print("without padding: {} instead of {} key rows, largest difference {:.1e}\n",
             offsets_of(lengths).span<int32_t>().back(), kSentences * kKeys, difference);
  return 0;
}
