#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention_tiles_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "kernels/cpu/attention/attention_tiles-inl.h"
#include "kernels/product_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
template <class Function>
void with_tiles(ProductKernel kernel, const Function& function) {
  if (kernel == ProductKernel::kBFloat16Amx) {
    HardwareTiles tiles;
    return function(tiles);
  }
  SoftwareTiles tiles;
  function(tiles);
}

HeadRows<const BFloat16> rows_of(const AttentionInputs& inputs, const HeadProblem& p) {
  return {view_of<const BFloat16>(inputs.query).part(p.first_query, p.head * p.d_head),
          view_of<const BFloat16>(inputs.key).part(p.first_key, p.key_head * p.d_head),
          view_of<const BFloat16>(inputs.value).part(p.first_key, p.key_head * p.d_value)};
}

void forward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor& context, float* stats) {
  const TileScratchOwner scratch(inputs, false);
  const auto to = view_of<BFloat16>(context);
  with_tiles(kernel, [&](auto& tiles) HWY_ATTR {
    Heads(inputs, stats).for_each([&](const HeadProblem& p) HWY_ATTR {
      head_forward_in_tiles(tiles, p, rows_of(inputs, p), scratch.get(), to.part(p.first_query, p.head * p.d_value));
    });
  });
}

void backward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, float* stats, const Tensor& grad_context,
                       AttentionGradients& gradients) {
  const TileScratchOwner scratch(inputs, true);
  const auto grad = view_of<const BFloat16>(grad_context);
  const auto query = view_of<BFloat16>(gradients.query), key = view_of<BFloat16>(gradients.key),
             value = view_of<BFloat16>(gradients.value);
  with_tiles(kernel, [&](auto& tiles) HWY_ATTR {
    Heads(inputs, stats, &gradients.distance_bias).for_each([&](const HeadProblem& p) HWY_ATTR {
      const HeadRows<BFloat16> to{query.part(p.first_query, p.head * p.d_head),
                                  key.part(p.first_key, p.key_head * p.d_head),
                                  value.part(p.first_key, p.key_head * p.d_value)};
      head_backward_in_tiles(tiles, p, rows_of(inputs, p), scratch.get(), grad.part(p.first_query, p.head * p.d_value),
                             to);
    });
  });
}
#else
// attends_in_tiles is false here.
void forward_in_tiles(ProductKernel /*kernel*/, const AttentionInputs& /*inputs*/, Tensor& /*context*/,
                      float* /*stats*/) {}
void backward_in_tiles(ProductKernel /*kernel*/, const AttentionInputs& /*inputs*/, float* /*stats*/,
                       const Tensor& /*grad_context*/, AttentionGradients& /*gradients*/) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/attention/attention_tiles.h"
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(forward_in_tiles);
HWY_EXPORT(backward_in_tiles);

// Rows are whole cells apart.
bool has_whole_cells(const Tensor& matrix) {
  return matrix.stride(0) % 2 == 0;
}

}  // namespace

bool attends_in_tiles(const AttentionInputs& inputs) {
  return is_bfloat16(inputs.query) && has_bfloat16_tiles(product_kernel(Precision::kBFloat16)) &&
         inputs.d_head() % kDepthOfTile == 0 && inputs.d_value() % kDepthOfTile == 0 && has_whole_cells(inputs.query) &&
         has_whole_cells(inputs.key) && has_whole_cells(inputs.value);
}

void attention_forward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor& context, Tensor& stats) {
  DRAGOMAN_DISPATCH(forward_in_tiles)(kernel, inputs, context, stats.data<float>());
}

void attention_backward_in_tiles(ProductKernel kernel, const AttentionInputs& inputs, Tensor stats,
                                 const Tensor& grad_context, AttentionGradients& gradients) {
  // Rows must be whole cells apart.
  const Tensor grad = has_whole_cells(grad_context) ? grad_context : grad_context.clone();
  DRAGOMAN_DISPATCH(backward_in_tiles)(kernel, inputs, stats.data<float>(), grad, gradients);
}

}  // namespace dragoman::kernels
#endif
