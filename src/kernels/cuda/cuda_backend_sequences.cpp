#include <algorithm>
#include <vector>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/sequences.h"
#include "kernels/cuda/source_attention.h"
#include "kernels/text_vectors.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr auto kLeast = static_cast<float>(kLeastLength);

// A matrix, or nothing for an undefined tensor.
Matrix<float> matrix_or_none(const Tensor& tensor) {
  return tensor.defined() ? matrix_of<float>(tensor) : Matrix<float>();
}

std::vector<SourceOfSentence> sources_of(std::span<const SourceRows> sources) {
  std::vector<SourceOfSentence> result;
  for (const SourceRows& source : sources) {
    result.push_back(
        {matrix_of<float>(source.keys), matrix_of<float>(source.values), static_cast<int32_t>(source.keys.dim(0))});
  }
  return result;
}

std::vector<SourceRow> rows_of(std::span<const SourceRows> sources) {
  std::vector<SourceRow> rows;
  for (size_t sentence = 0; sentence < sources.size(); ++sentence) {
    for (int32_t row = 0; row < sources[sentence].keys.dim(0); ++row) {
      rows.push_back({static_cast<int32_t>(sentence), row});
    }
  }
  return rows;
}

// Queries sorted by sentence, in their order.
struct QueriesOfSentences {
  QueriesOfSentences(std::span<const int32_t> sentences, size_t count) : order(sentences.size()), starts(count + 1) {
    for (const int32_t sentence : sentences) {
      ++starts[static_cast<size_t>(sentence) + 1];
    }
    for (size_t sentence = 0; sentence < count; ++sentence) {
      starts[sentence + 1] += starts[sentence];
    }
    std::vector<int32_t> next = starts;
    for (size_t query = 0; query < sentences.size(); ++query) {
      order[static_cast<size_t>(next[static_cast<size_t>(sentences[query])]++)] = static_cast<int32_t>(query);
    }
  }

  std::vector<int32_t> order, starts;
};

// The inputs of attention to encoder states, in the memory of the device.
class SourceInputs {
 public:
  /// @param in  kernels::SourceAttentionForward or SourceAttentionBackward
  template <typename Attention>
  explicit SourceInputs(const Attention& in)
      : sources_(std::span<const SourceOfSentence>(sources_of(in.sources))), sentences_(in.sentences) {
    const bool is_additive = in.kind == ScoreKind::kAdditive;
    attention_ = {is_additive,
                  matrix_of<float>(in.query),
                  sources_.data(),
                  sentences_.data(),
                  is_additive ? elements_of<float>(in.score_weight) : nullptr,
                  matrix_of<float>(in.weights),
                  in.query.dim(0),
                  in.query.dim(1),
                  0,
                  in.weights.dim(1)};
  }
  SourceAttention with_values(int64_t d_value) const {
    SourceAttention attention = attention_;
    attention.d_value = d_value;
    return attention;
  }

 private:
  DeviceArray<SourceOfSentence> sources_;
  DeviceArray<int32_t> sentences_;
  SourceAttention attention_;
};

}  // namespace

void CudaBackend::recurrent_cell(const RecurrentCellForward& step) const {
  const OnDevice<int32_t> rows(step.rows);
  cuda::recurrent_cell({step.kind == CellKind::kGru, matrix_of<float>(step.gates),
                        step.fed_gates == nullptr ? Matrix<float>() : matrix_of<float>(*step.fed_gates),
                        matrix_of<float>(step.state_gates), rows.data(), matrix_of<float>(step.hidden),
                        matrix_or_none(step.cell), matrix_of<float>(step.saved), matrix_of<float>(step.output),
                        matrix_of<float>(step.next_hidden), matrix_or_none(step.next_cell), step.rows.dim(0),
                        step.next_hidden.dim(0), step.output.dim(1)});
}

void CudaBackend::recurrent_cell_backward(const RecurrentCellBackward& step) const {
  const OnDevice<int32_t> rows(step.rows);
  cuda::recurrent_cell_backward({step.kind == CellKind::kGru, matrix_of<float>(step.saved), rows.data(),
                                 matrix_or_none(step.hidden), matrix_or_none(step.cell), matrix_or_none(step.next_cell),
                                 matrix_of<float>(step.grad_output), matrix_of<float>(step.grad_hidden),
                                 matrix_or_none(step.grad_cell), matrix_of<float>(step.grad_gates),
                                 matrix_of<float>(step.grad_state_gates), step.rows.dim(0), step.grad_output.dim(1)});
}

void CudaBackend::source_attention(const SourceAttentionForward& attention) const {
  const SourceInputs inputs(attention);
  cuda::source_attention(inputs.with_values(attention.context.dim(1)), matrix_of<float>(attention.context));
}

void CudaBackend::source_attention_backward(const SourceAttentionBackward& in) const {
  const SourceInputs inputs(in);
  const SourceAttention attention = inputs.with_values(in.grad_context.dim(1));
  const std::vector<SourceOfSentence> grads = sources_of(in.grad_sources);
  const std::vector<SourceRow> rows = rows_of(in.sources);
  const QueriesOfSentences queries(in.sentences, in.sources.size());
  const DeviceArray<SourceOfSentence> grad_sources{std::span<const SourceOfSentence>(grads)};
  const DeviceArray<SourceRow> row_list{std::span<const SourceRow>(rows)};
  const DeviceArray<int32_t> order{std::span<const int32_t>(queries.order)};
  const DeviceArray<int32_t> starts{std::span<const int32_t>(queries.starts)};
  const DeviceArray<float> score_grads(attention.queries * attention.longest);
  const DeviceArray<float> parts(attention.is_additive ? attention.queries * attention.d_key : 0);
  const Matrix<float> weight_parts{parts.data(), attention.d_key};
  cuda::source_attention_backward(attention, {matrix_of<float>(in.grad_context),
                                              matrix_of<float>(in.grad_query),
                                              grad_sources.data(),
                                              row_list.data(),
                                              static_cast<int64_t>(rows.size()),
                                              order.data(),
                                              starts.data(),
                                              {score_grads.data(), attention.longest},
                                              weight_parts});
  if (attention.is_additive) {
    const Extent extent{attention.queries, attention.d_key};
    const DeviceArray<float> scratch(column_sum_scratch(extent, 1));
    sum_rows({parts.data(), attention.d_key, false}, extent, scratch.data(), elements_of<float>(in.grad_score_weight));
  }
}

void CudaBackend::scan(const ScanForward& in) const {
  const DeviceArray<int32_t> offsets(in.offsets);
  cuda::scan({matrix_of<float>(in.keep), matrix_of<float>(in.x), matrix_or_none(in.initial), matrix_of<float>(in.y),
              offsets.data(), static_cast<int64_t>(in.offsets.size()) - 1, in.x.dim(1)});
}

void CudaBackend::scan_backward(const ScanBackward& in) const {
  const DeviceArray<int32_t> offsets(in.offsets);
  cuda::scan_backward(
      {matrix_of<float>(in.keep), matrix_of<float>(in.x), matrix_or_none(in.initial), matrix_of<float>(in.y),
       offsets.data(), static_cast<int64_t>(in.offsets.size()) - 1, in.x.dim(1)},
      {matrix_of<float>(in.grad_y), matrix_of<float>(in.grad_keep), matrix_of<float>(in.grad_x)});
}

void CudaBackend::column_sums(const Tensor& x, const Tensor& y, Tensor& sums) const {
  column_products(matrix_of<float>(x), matrix_of<float>(y), extent_of(x), elements_of<double>(sums));
}

void CudaBackend::map_columns(const ColumnMap& map) const {
  cuda::map_columns(
      {matrix_or_none(map.x), matrix_of<float>(map.z), map.x.defined() ? elements_of<float>(map.a) : nullptr,
       elements_of<float>(map.b), elements_of<float>(map.mean), elements_of<float>(map.c), matrix_of<float>(map.y)},
      extent_of(map.z));
}

void CudaBackend::mean_of_texts(const Tensor& x, std::span<const int32_t> offsets, Tensor& means) const {
  const DeviceArray<int32_t> ends(offsets);
  cuda::mean_of_texts({matrix_of<float>(x), matrix_of<float>(means), ends.data(), means.dim(0), x.dim(1)});
}

void CudaBackend::mean_of_texts_backward(const Tensor& grad_means, std::span<const int32_t> offsets,
                                         Tensor& grad_x) const {
  const DeviceArray<int32_t> ends(offsets);
  cuda::mean_of_texts_backward(
      {matrix_of<float>(grad_x), matrix_of<float>(grad_means), ends.data(), grad_means.dim(0), grad_x.dim(1)});
}

void CudaBackend::unit_rows(const Tensor& x, Tensor& y) const {
  cuda::unit_rows(matrix_of<float>(x), kLeast, matrix_of<float>(y), extent_of(x));
}

void CudaBackend::unit_rows_backward(const Tensor& x, const Tensor& grad_y, Tensor& grad_x) const {
  cuda::unit_rows_backward(matrix_of<float>(x), matrix_of<float>(grad_y), kLeast, matrix_of<float>(grad_x),
                           extent_of(x));
}

}  // namespace dragoman::kernels::cuda
