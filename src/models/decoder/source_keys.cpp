#include "models/decoder/source_keys.h"

#include <algorithm>
#include <cmath>

#include "kernels/backends/backend_of.h"
#include "ops/elementwise.h"
#include "tensor/transfer.h"

namespace dragoman::models {

using autograd::Variable;
using tensor::Tensor;

Tensor scaled_query(const Variable& query, const nn::MultiHeadAttention& attention) {
  if (attention.scale() == 0.0F) {
    return query.value();
  }
  const double root = std::sqrt(static_cast<double>(query.dim(1)) / attention.n_heads());
  const Tensor& value = query.value();
  return ops::scale(Variable(value.is_contiguous() ? value : value.clone()), attention.scale() * root).value();
}

Variable CachedCrossKeyValues::attend(const Variable& input, const nn::MultiHeadAttention& attention,
                                      const nn::ForwardContext&) {
  const Variable query = attention.project_query(input);  // [R, H * Dh]
  if (sources_.in_cache()) {
    Tensor heads = room_for_heads(input, query);  // [R, H * Dh]
    const auto [lengths, begins, numbers] = sources_.tables_->source();
    const kernels::CachedHistories histories{sources_.cache_->rows_of(layer_), lengths, begins, numbers,
                                             sources_.cache_->n_heads()};
    kernels::backend_of(query.value())
        .attention_over_cache(scaled_query(query, attention), histories, attention.n_heads(), heads,
                              sources_.weights_of(layer_));
    return Variable(heads);
  }
  Tensor heads = Tensor::empty(query.shape());  // [R, H * Dh]
  const std::span<const kernels::SharedRows> keys = sources_.rows_of(layer_);
  kernels::backend_of(heads).attention_shared(scaled_query(query, attention), keys, attention.n_heads(), heads,
                                              sources_.weights_of(layer_));
  return Variable(heads);
}

Tensor room_for_heads(const Variable& input, const Variable& query) {
  return Tensor::empty(query.shape(), input.rounded().defined() ? tensor::DType::kBFloat16 : query.dtype());
}

SourceKeys::SourceKeys(std::vector<const nn::MultiHeadAttention*> attentions, tensor::DType dtype,
                       const StepTables* tables)
    : attentions_(std::move(attentions)), dtype_(dtype), tables_(tables) {
  for (size_t layer = 0; layer < attentions_.size(); ++layer) {
    layers_.emplace_back(*this, layer);
  }
}

void SourceKeys::add(const Variable& memory, std::span<const int32_t> offsets, std::span<const int32_t> slots) {
  if (tables_ != nullptr && kernels::backend_of(memory.value()).reads_tables()) {
    return add_to_cache(memory, offsets, slots);
  }
  for (const nn::MultiHeadAttention* of_layer : attentions_) {
    const nn::MultiHeadAttention& attention = *of_layer;
    const auto projected = attention.project_keys_and_values(memory);
    const Tensor &keys = projected.keys.value(), &values = projected.values.value();  // [Ns, H * Dh]
    for (size_t sentence = 0; sentence < slots.size(); ++sentence) {
      const auto slot = static_cast<size_t>(slots[sentence]);
      slots_.resize(std::max(slots_.size(), slot + 1));
      const int32_t begin = offsets[sentence];
      const int32_t end = offsets[sentence + 1];
      slots_[slot].push_back(kernels::backend_of(keys).pack_shared_keys(keys.rows(begin, end), values.rows(begin, end),
                                                                        attention.n_heads(), dtype_));
    }
  }
}

// The same for a backend that reads tables.
void SourceKeys::add_to_cache(const Variable& memory, std::span<const int32_t> offsets,
                              std::span<const int32_t> slots) {
  std::vector<int32_t> rows;
  for (size_t layer = 0; layer < attentions_.size(); ++layer) {
    const nn::MultiHeadAttention& attention = *attentions_[layer];
    const auto projected = attention.project_keys_and_values(memory);
    const Tensor &keys = projected.keys.value(), &values = projected.values.value();  // [Ns, H * Dh]
    if (cache_ == nullptr) {
      cache_ = std::make_unique<KeyValueCache>(attentions_.size(), keys.dim(1), attention.n_heads(), dtype_);
    }
    for (size_t sentence = 0; layer == 0 && sentence < slots.size(); ++sentence) {
      const auto slot = static_cast<size_t>(slots[sentence]);
      kept_.resize(std::max(kept_.size(), slot + 1));
      Kept& kept = kept_[slot];
      kept.table.clear();
      for (int32_t row = offsets[sentence]; row < offsets[sentence + 1]; ++row) {
        kept.table.push_back(cache_->take_row(kept.rows, -1));
      }
      rows.insert(rows.end(), kept.table.begin(), kept.table.end());
    }
    cache_->write(layer, tensor::host_tensor(rows), keys, values);
  }
}

void SourceKeys::remove(int32_t slot) {
  if (static_cast<size_t>(slot) < kept_.size()) {
    cache_->release_all(kept_[static_cast<size_t>(slot)].rows);
    kept_[static_cast<size_t>(slot)].table.clear();
  }
  if (static_cast<size_t>(slot) < slots_.size()) {
    slots_[static_cast<size_t>(slot)].clear();
  }
}

void SourceKeys::begin_row(int32_t slot) {
  if (groups_.empty() || groups_.back().slot != slot) {
    groups_.push_back({slot, 0});
  }
  ++groups_.back().rows;
}

std::span<const kernels::SharedRows> SourceKeys::rows_of(size_t layer) {
  shared_rows_.clear();
  for (const Group& group : groups_) {
    shared_rows_.push_back({&slots_[static_cast<size_t>(group.slot)][layer], group.rows});
  }
  return shared_rows_;
}

size_t SourceKeys::layer_number(int layer) const {
  return layer == kLastLayer ? attentions_.size() - 1 : static_cast<size_t>(layer);
}

void SourceKeys::want_weights(std::span<const int> layers) {
  weights_.clear();
  for (const int layer : layers) {
    weights_.try_emplace(layer_number(layer));
  }
}

Tensor SourceKeys::weights(int layer) const {
  const auto kept = weights_.find(layer_number(layer));
  return kept == weights_.end() ? Tensor() : kept->second;
}

int64_t SourceKeys::length_of(int32_t slot) const {
  const auto index = static_cast<size_t>(slot);
  return in_cache() ? static_cast<int64_t>(kept_[index].table.size()) : slots_[index].front().length;
}

// Where the weights of this layer go, for as many sources as the rows have. Null: nowhere.
Tensor* SourceKeys::weights_of(size_t layer) {
  const auto wanted = weights_.find(layer);
  if (wanted == weights_.end()) {
    return nullptr;
  }
  int64_t rows = 0, longest = 0;
  for (const Group& group : groups_) {
    rows += group.rows;
    longest = std::max(longest, length_of(group.slot));
  }
  wanted->second = Tensor::empty({in_cache() ? tables_->padded_rows() : rows, longest});
  return &wanted->second;
}

}  // namespace dragoman::models
