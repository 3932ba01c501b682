#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/dropout.h"

namespace dragoman::kernels::reference {
namespace {

using Row = std::vector<double>;

// The keys of one (query row, head): what the row may attend to and where its numbers are.
struct Place {
  int64_t query_row;
  int64_t query;  // the row within its sentence
  int64_t head;
  int64_t key_head;
  int64_t first_key;
  int64_t n_keys;         // S of the sentence
  int64_t begin_visible;  // of the keys of the sentence, those that window and causal border leave
  int64_t end_visible;
};

// Calls visit(Place) for every sentence, query row and head, in this order.
template <typename Visit>
void for_each_place(const AttentionInputs& inputs, Visit visit) {
  const auto queries = inputs.bounds.query_offsets.span<int32_t>();
  const auto keys = inputs.bounds.key_offsets.span<int32_t>();
  for (size_t sentence = 0; sentence + 1 < queries.size(); ++sentence) {
    const int64_t n_keys = keys[sentence + 1] - keys[sentence];
    for (int64_t t = 0; t < queries[sentence + 1] - queries[sentence]; ++t) {
      for (int64_t head = 0; head < inputs.n_heads(); ++head) {
        visit(Place{queries[sentence] + t, t, head, head / inputs.group(), keys[sentence], n_keys,
                    inputs.options.window > 0 ? std::max<int64_t>(t + 1 - inputs.options.window, 0) : 0,
                    inputs.options.causal ? std::min(t + 1, n_keys) : n_keys});
      }
    }
  }
}

const double* head_row(const Tensor& matrix, int64_t row, int64_t head, int64_t n_heads) {
  return matrix.data<double>() + row * matrix.stride(0) + head * (matrix.dim(1) / n_heads);
}

double* head_row(Tensor& matrix, int64_t row, int64_t head, int64_t n_heads) {
  return matrix.data<double>() + row * matrix.stride(0) + head * (matrix.dim(1) / n_heads);
}

double dot(const double* left, const double* right, int64_t size) {
  double sum = 0;
  for (int64_t index = 0; index < size; ++index) {
    sum += left[index] * right[index];
  }
  return sum;
}

bool may_attend(const AttentionInputs& inputs, const Place& place, int64_t s) {
  return place.begin_visible <= s && s < place.end_visible &&
         (!inputs.bounds.key_mask.defined() || inputs.bounds.key_mask.data<bool>()[place.first_key + s]);
}

double score_scale(const AttentionInputs& inputs) {
  return inputs.options.scale > 0 ? static_cast<double>(inputs.options.scale)
                                  : 1.0 / std::sqrt(static_cast<double>(inputs.d_head()));
}

// The element of the distance bias, or of its gradient, of a query row and key s of its sentence.
int64_t bias_element(const AttentionInputs& inputs, const Place& place, int64_t s) {
  return (2 * place.head + 1) * inputs.reach() + place.query - s;
}

// softmax(q K^T / sqrt(Dh)) of one row
Row weights_of(const AttentionInputs& inputs, const Place& place) {
  Row weights(static_cast<size_t>(place.n_keys), 0.0);
  const double* query = head_row(inputs.query, place.query_row, place.head, inputs.n_heads());
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t s = 0; s < place.n_keys; ++s) {
    const double* key = head_row(inputs.key, place.first_key + s, place.key_head, inputs.n_kv_heads());
    weights[static_cast<size_t>(s)] = dot(query, key, inputs.d_head()) * score_scale(inputs);
    if (inputs.distance_bias.defined()) {
      weights[static_cast<size_t>(s)] += inputs.distance_bias.data<double>()[bias_element(inputs, place, s)];
    }
    largest = may_attend(inputs, place, s) ? std::max(largest, weights[static_cast<size_t>(s)]) : largest;
  }
  double sum = 0;
  for (int64_t s = 0; s < place.n_keys; ++s) {
    double& weight = weights[static_cast<size_t>(s)];
    weight = may_attend(inputs, place, s) ? std::exp(weight - largest) : 0.0;
    sum += weight;
  }
  for (double& weight : weights) {
    weight = sum > 0 ? weight / sum : 0.0;
  }
  return weights;
}

Row dropout_scales(const AttentionInputs& inputs, const Place& place) {
  Row scales(static_cast<size_t>(place.n_keys), 1.0);
  const Dropout dropout = weight_dropout(inputs.options);
  const int64_t row = place.query_row * inputs.n_heads() + place.head;
  for (int64_t s = 0; s < place.n_keys && dropout.probability > 0; ++s) {
    scales[static_cast<size_t>(s)] = dropout_factor(dropout, row, s);
  }
  return scales;
}

}  // namespace

void attention_forward(const AttentionInputs& inputs, Tensor& context) {
  context.zero();
  for_each_place(inputs, [&](const Place& place) {
    const int64_t n_heads = inputs.n_heads();
    const Row weights = weights_of(inputs, place);
    const Row scales = dropout_scales(inputs, place);
    double* output = head_row(context, place.query_row, place.head, n_heads);
    for (int64_t s = 0; s < place.n_keys; ++s) {
      const double* value = head_row(inputs.value, place.first_key + s, place.key_head, inputs.n_kv_heads());
      for (int64_t d = 0; d < inputs.d_value(); ++d) {
        output[d] += weights[static_cast<size_t>(s)] * scales[static_cast<size_t>(s)] * value[d];
      }
    }
  });
}

void attention_backward(const AttentionInputs& inputs, const Tensor& grad_context, AttentionGradients& gradients) {
  gradients.query.zero();
  gradients.key.zero();
  gradients.value.zero();
  if (inputs.distance_bias.defined()) {
    gradients.distance_bias.zero();
  }
  for_each_place(inputs, [&](const Place& place) {
    const int64_t n_heads = inputs.n_heads();
    const Row weights = weights_of(inputs, place);
    const Row scales = dropout_scales(inputs, place);
    const double* grad_output = head_row(grad_context, place.query_row, place.head, n_heads);
    Row grad_weights(weights.size());  // before dropout
    double mean = 0;                   // sum_s weight * grad_weight, from the denominator of the softmax
    for (size_t s = 0; s < weights.size(); ++s) {
      const int64_t row = place.first_key + static_cast<int64_t>(s);
      const double* value = head_row(inputs.value, row, place.key_head, inputs.n_kv_heads());
      double* grad_value = head_row(gradients.value, row, place.key_head, inputs.n_kv_heads());
      for (int64_t d = 0; d < inputs.d_value(); ++d) {
        grad_value[d] += weights[s] * scales[s] * grad_output[d];  // undoes output = sum_s weight * scale * value
      }
      grad_weights[s] = scales[s] * dot(grad_output, value, inputs.d_value());  // likewise
      mean += weights[s] * grad_weights[s];
    }
    const double* query = head_row(inputs.query, place.query_row, place.head, n_heads);
    double* grad_query = head_row(gradients.query, place.query_row, place.head, n_heads);
    for (size_t s = 0; s < weights.size(); ++s) {
      const int64_t row = place.first_key + static_cast<int64_t>(s);
      const double* key = head_row(inputs.key, row, place.key_head, inputs.n_kv_heads());
      double* grad_key = head_row(gradients.key, row, place.key_head, inputs.n_kv_heads());
      const double grad_biased = weights[s] * (grad_weights[s] - mean);  // undoes weights_of
      if (inputs.distance_bias.defined()) {
        gradients.distance_bias.data<double>()[bias_element(inputs, place, static_cast<int64_t>(s))] += grad_biased;
      }
      const double grad_score = grad_biased * score_scale(inputs);
      for (int64_t d = 0; d < inputs.d_head(); ++d) {
        grad_query[d] += grad_score * key[d];  // undoes score = query . key
        grad_key[d] += grad_score * query[d];
      }
    }
  });
}

void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights) {
  const int64_t n_queries = weights.dim(1), n_keys = weights.dim(2);
  const int64_t first_query = inputs.bounds.query_offsets.data<int32_t>()[0];
  for_each_place(inputs, [&](const Place& place) {
    std::ranges::copy(weights_of(inputs, place),
                      weights.data<double>() + (place.head * n_queries + place.query_row - first_query) * n_keys);
  });
}

}  // namespace dragoman::kernels::reference
