#pragma once

#include <string>

#include "nn/parameters.h"

namespace dragoman::nn {

/// y = x W + b, x [N, d_in], W [d_in, d_out], b [d_out]. Parameters PATH.weight, PATH.bias.
class Linear {
 public:
  Linear(ParameterSet& parameters, const std::string& path, int64_t d_in, int64_t d_out);
  /// @return [N, d_out]
  Variable forward(const Variable& input) const;

 private:
  ParameterHandle weight_;
  ParameterHandle bias_;
};

}  // namespace dragoman::nn
