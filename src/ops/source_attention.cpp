#include "ops/source_attention.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "ops/elementwise.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

// The sentence of each row.
std::vector<int32_t> sentences_of_rows(const Tensor& offsets, int64_t n_rows, size_t n_sources) {
  const tensor::HostView<int32_t> ends(offsets);
  base::check_argument(ends.size() == n_sources + 1 && ends.back() == n_rows,
                       "source_attention: offsets of {} sentences to row {}, must be of {} to {}", ends.size() - 1,
                       ends.back(), n_sources, n_rows);
  std::vector<int32_t> sentences(static_cast<size_t>(n_rows));
  for (size_t b = 0; b + 1 < ends.size(); ++b) {
    std::fill(sentences.begin() + ends[b], sentences.begin() + ends[b + 1], static_cast<int32_t>(b));
  }
  return sentences;
}

// The parts of each sentence.
std::vector<SourceRows> parts_of(const std::vector<SourceRows>& of, const Tensor& keys, const Tensor& values) {
  std::vector<SourceRows> parts;
  int64_t begin = 0;
  for (const SourceRows& source : of) {
    const int64_t end = begin + source.keys.dim(0);
    parts.push_back({keys.rows(begin, end), values.rows(begin, end)});
    begin = end;
  }
  return parts;
}

}  // namespace

int64_t SourceMemory::longest() const {
  int64_t longest = 0;
  for (const SourceRows& source : rows) {
    longest = std::max(longest, source.keys.dim(0));
  }
  return longest;
}

SourceMemory source_memory(ScoreKind kind, const Variable& keys, const Variable& values, const Tensor& offsets) {
  SourceMemory memory{kind, widened(keys), widened(values), {}};
  const tensor::HostView<int32_t> ends(offsets);
  base::check_argument(ends.back() == keys.dim(0) && keys.dim(0) == values.dim(0),
                       "source_memory: {} keys, {} values, offsets to {}; must be equal", keys.dim(0), values.dim(0),
                       ends.back());
  for (size_t b = 0; b + 1 < ends.size(); ++b) {
    base::check_argument(ends[b] < ends[b + 1], "source_memory: sentence {} has no rows; attention needs one", b);
    memory.rows.push_back(
        {memory.keys.value().rows(ends[b], ends[b + 1]), memory.values.value().rows(ends[b], ends[b + 1])});
  }
  return memory;
}

MemoryGradients::MemoryGradients(const SourceMemory& memory, const Variable& score)
    : memory_(memory), score_weight_(score) {
  const Tensor &keys = memory.keys.value(), &values = memory.values.value();
  keys_ = Tensor::zeros(keys.shape(), keys.dtype());
  values_ = Tensor::zeros(values.shape(), values.dtype());
  rows_ = parts_of(memory.rows, keys_, values_);
  score_ = score.defined() ? Tensor::zeros(score.shape(), score.dtype()) : Tensor();
}

void MemoryGradients::finish() {
  memory_.keys.add_grad(keys_);
  memory_.values.add_grad(values_);
  if (score_weight_.defined()) {
    score_weight_.add_grad(score_);
  }
}

Variable source_attention(const Variable& query, const Tensor& offsets, const SourceMemory& memory,
                          const Variable& score, Tensor* attention) {
  const Variable q = widened(query);
  tensor::check_matrix(q.value(), q.dtype(), "source_attention", "query");
  std::vector<int32_t> sentences = sentences_of_rows(offsets, q.dim(0), memory.rows.size());
  Tensor weights = Tensor::empty({q.dim(0), memory.longest()}, q.dtype());
  Tensor context =
      Tensor::empty({q.dim(0), memory.rows.empty() ? 0 : memory.rows.front().values.dim(1)}, q.dtype());  // [N, C]
  kernels::backend_of(context).source_attention(
      {memory.kind, q.value(), memory.rows, sentences, score.defined() ? score.value() : Tensor(), weights, context});
  if (attention != nullptr) {
    *attention = weights;
  }
  return autograd::record(
      "source_attention", context, {&q, &memory.keys, &memory.values, &score},
      [q, memory, score, weights, sentences = std::move(sentences)](const Tensor& grad_output) {
        Tensor grad_query = Tensor::empty(q.shape(), q.dtype());
        MemoryGradients gradients(memory, score);
        kernels::backend_of(grad_query)
            .source_attention_backward({memory.kind, q.value(), memory.rows, sentences,
                                        score.defined() ? score.value() : Tensor(), weights, grad_output, grad_query,
                                        gradients.rows(), gradients.score()});
        q.add_grad(grad_query);
        gradients.finish();
      });
}

}  // namespace dragoman::ops
