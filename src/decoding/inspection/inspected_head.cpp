#include "decoding/inspection/inspected_head.h"

#include <cmath>

#include "base/error.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// Q K^T, [T, S].
tensor::Tensor products(const tensor::Tensor& query, const tensor::Tensor& key) {
  tensor::Tensor scores = tensor::Tensor::empty({query.dim(0), key.dim(0)});
  tensor::HostEdit<float> edit(scores);
  const tensor::HostRows<float> queries(query), keys(key);
  const auto width = static_cast<size_t>(query.dim(1));
  auto score = edit.span().begin();
  for (int64_t t = 0; t < query.dim(0); ++t) {
    for (int64_t s = 0; s < key.dim(0); ++s) {
      const std::span<const float> q = queries[static_cast<size_t>(t)], k = keys[static_cast<size_t>(s)];
      double sum = 0.0;
      for (size_t i = 0; i < width; ++i) {
        sum += static_cast<double>(q[i]) * static_cast<double>(k[i]);
      }
      *score++ = static_cast<float>(sum);
    }
  }
  return scores;
}

}  // namespace

InspectedHead inspect_head(const Inspection& inspection, std::string_view path, int64_t head) {
  const tensor::Tensor& weights = inspection.weights(path);  // [H, T, S]
  const int64_t n_heads = weights.dim(0);
  base::check_usage(head >= 0 && head < n_heads, "inspect: head {}, but {} has {}; count from 0", head, path, n_heads);
  const auto columns_of = [&](std::string_view name) {
    const tensor::Tensor all = inspection.value(path, name);  // [N, H * Dh]
    const int64_t width = all.dim(1) / n_heads;
    return all.columns(head * width, (head + 1) * width).clone();  // [N, Dh]
  };
  InspectedHead result;
  result.query = columns_of("query");
  result.key = columns_of("key");
  result.value = columns_of("value");
  result.context = columns_of("context");
  result.scores = products(result.query, result.key);
  result.scaled = result.scores.clone();
  const float scale = 1.0F / std::sqrt(static_cast<float>(result.query.dim(1)));
  tensor::HostEdit<float> scaled(result.scaled);
  for (float& score : scaled.span()) {
    score *= scale;
  }
  result.weights = weights.rows(head, head + 1).reshape({weights.dim(1), weights.dim(2)});
  result.causal = path.starts_with("decoder.") && path.ends_with(".self_attention");
  return result;
}

}  // namespace dragoman::decoding
