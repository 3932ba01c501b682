#include "nn/residual.h"

#include "ops/residual.h"

namespace dragoman::nn {

Residual::Residual(ParameterSet& parameters, const std::string& path, const LayerConfig& config)
    : path_(path),
      order_(config.norm_order),
      norm_(parameters, path + ".norm", config),
      dropout_(config.dropout),
      site_(dropout_site(path + ".residual")) {}

Variable Residual::add(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout) const {
  return ops::residual_dropout(x, sublayer, dropout);  // [N, D]
}

Variable Residual::add_and_norm(const Variable& x, const Variable& sublayer, const kernels::Dropout& dropout,
                                const ForwardContext& context) const {
  return norm_.forward_sum(x, sublayer, dropout, context);  // [N, D]
}

}  // namespace dragoman::nn
