#include "kernels/reference/source_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
namespace {

double score(ScoreKind kind, const double* query, const double* key, const Tensor& score_weight, int64_t width) {
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) {
    sum += kind == ScoreKind::kAdditive ? score_weight.data<double>()[c] * std::tanh(query[c] + key[c])
                                        : query[c] * key[c];
  }
  return sum;
}

void softmax(double* scores, int64_t count) {
  const double largest = *std::max_element(scores, scores + count);
  double sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    sum += scores[j] = std::exp(scores[j] - largest);
  }
  for (int64_t j = 0; j < count; ++j) {
    scores[j] /= sum;
  }
}

// Gradients of the scores from those of the context; those of the values are added.
std::vector<double> score_gradients(const SourceAttentionBackward& in, int64_t n, const SourceRows& source,
                                    SourceRows& grad_source) {
  const int64_t count = source.keys.dim(0);
  const double *weights = row_of<double>(in.weights, n), *grad_context = row_of<double>(in.grad_context, n);
  std::vector<double> grads(static_cast<size_t>(count));
  double mean = 0;
  for (int64_t j = 0; j < count; ++j) {
    double& grad = grads[static_cast<size_t>(j)];
    for (int64_t c = 0; c < in.grad_context.dim(1); ++c) {
      grad += grad_context[c] * row_of<double>(source.values, j)[c];
      row_of<double>(grad_source.values, j)[c] += weights[j] * grad_context[c];
    }
    mean += weights[j] * grad;
  }
  for (int64_t j = 0; j < count; ++j) {
    grads[static_cast<size_t>(j)] = weights[j] * (grads[static_cast<size_t>(j)] - mean);
  }
  return grads;
}

}  // namespace

void source_attention(const SourceAttentionForward& in) {
  for (int64_t n = 0; n < in.query.dim(0); ++n) {
    const SourceRows& source = in.sources[static_cast<size_t>(in.sentences[static_cast<size_t>(n)])];
    double *weights = row_of<double>(in.weights, n), *context = row_of<double>(in.context, n);
    const int64_t count = source.keys.dim(0);
    std::fill_n(weights, in.weights.dim(1), 0.0);
    std::fill_n(context, in.context.dim(1), 0.0);
    for (int64_t j = 0; j < count; ++j) {
      weights[j] =
          score(in.kind, row_of<double>(in.query, n), row_of<double>(source.keys, j), in.score_weight, in.query.dim(1));
    }
    softmax(weights, count);
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t c = 0; c < in.context.dim(1); ++c) {
        context[c] += weights[j] * row_of<double>(source.values, j)[c];
      }
    }
  }
}

void source_attention_backward(const SourceAttentionBackward& in) {
  for (int64_t n = 0; n < in.query.dim(0); ++n) {
    const auto sentence = static_cast<size_t>(in.sentences[static_cast<size_t>(n)]);
    const SourceRows& source = in.sources[sentence];
    SourceRows& grad_source = in.grad_sources[sentence];
    const std::vector<double> grads = score_gradients(in, n, source, grad_source);
    const double* query = row_of<double>(in.query, n);
    double* grad_query = row_of<double>(in.grad_query, n);
    std::fill_n(grad_query, in.query.dim(1), 0.0);
    for (int64_t j = 0; j < source.keys.dim(0); ++j) {
      const double grad = grads[static_cast<size_t>(j)];
      const double* key = row_of<double>(source.keys, j);
      for (int64_t c = 0; c < in.query.dim(1); ++c) {
        if (in.kind == ScoreKind::kAdditive) {
          const double y = std::tanh(query[c] + key[c]);
          const double before = grad * in.score_weight.data<double>()[c] * (1 - y * y);
          in.grad_score_weight.data<double>()[c] += grad * y;
          grad_query[c] += before;
          row_of<double>(grad_source.keys, j)[c] += before;
        } else {
          grad_query[c] += grad * key[c];
          row_of<double>(grad_source.keys, j)[c] += grad * query[c];
        }
      }
    }
  }
}

}  // namespace dragoman::kernels::reference
