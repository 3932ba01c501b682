#pragma once

#include <string>

#include "nn/context.h"
#include "nn/layer_config.h"
#include "nn/norm.h"

namespace dragoman::nn {

/// Computes the residual connection around a sub-layer, with dropout and layer norm, in post-norm or pre-norm order.
/// Source: Vaswani et al. 2017, sections 3.1 and 5.4 (post-norm); Wang et al. 2019 (pre-norm).
class Residual {
 public:
  Residual(ParameterSet& parameters, const std::string& path, const LayerConfig& config);

  /// Returns: what the sub-layer reads, [N, D].
  Variable read(const Variable& x, const ForwardContext& context = {}) const {
    return order_ == NormOrder::kPre ? norm_.forward(x, context) : x;
  }
  /// @param x  [N, D];  @param sublayer  maps [N, D] to [N, D]; in pre-norm its input is normalised
  /// @return [N, D]
  template <typename Sublayer>
  Variable forward(const Variable& x, Sublayer sublayer, const ForwardContext& context) const {
    const kernels::Dropout dropout = context.dropout(dropout_, site_);
    const Variable input = read(x, context);  // [N, D]
    const Variable change = sublayer(input);  // [N, D]
    const Variable result =
        order_ == NormOrder::kPre ? add(x, change, dropout) : add_and_norm(x, change, dropout, context);
    context.show(path_, "input", x.value());
    context.show(path_, "read", input.value());
    context.show(path_, "change", change.value());
    context.show(path_, "result", result.value());
    return result;
  }

 private:
  Variable add(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout) const;
  Variable add_and_norm(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout,
                        const ForwardContext& context) const;

  std::string path_;
  NormOrder order_;
  Norm norm_;
  float dropout_;
  uint32_t site_;
};

}  // namespace dragoman::nn
