#include "models/show_attention.h"

#include "tensor/transfer.h"

namespace dragoman::models {

void show_attention(std::string_view path, const tensor::Tensor& attention, const tensor::Tensor& offsets,
                    const ops::SourceMemory& memory, const nn::ForwardContext& context) {
  if (context.observer == nullptr) {
    return;
  }
  const tensor::HostView<int32_t> ends(offsets);
  for (size_t b = 0; b + 1 < ends.size(); ++b) {
    const int64_t length = ends[b + 1] - ends[b], source = memory.rows[b].keys.dim(0);
    const tensor::Tensor rows = attention.rows(ends[b], ends[b + 1]).columns(0, source).clone();  // [T, S]
    context.observer->observe(path, static_cast<int64_t>(b),
                              rows.to(tensor::DType::kFloat32).reshape({1, length, source}));
  }
}

}  // namespace dragoman::models
