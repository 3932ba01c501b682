#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decoding/inspection/inspection.h"

namespace dragoman::decoding {

/// Selects a part of a parameter.
struct ParameterRegion {
  std::string path;                ///< of the parameter: "encoder.layers.0.self_attention.query.weight"
  std::vector<int32_t> rows = {};  ///< of a matrix, in this order; empty: all
  int64_t first_column = 0;        ///< of a matrix; a vector counts as one row
  int64_t end_column = 0;          ///< 0: to the last
};

/// Returns: the values of a parameter as the products of the model use them, float32: [rows, columns] of a matrix,
/// [columns] of a vector. A weight that is kept only in packed form is read as the product of unit vectors with it.
/// Throws: Error(kUsage): "inspect: output.bias is no parameter of this model; ...", "inspect: rows[1] is 9, but
///         embedding.weight has 4 rows; count from 0", "inspect: 32000 rows of embedding.weight are 16384000 numbers,
///         at most 4194304 can be looked into; name fewer rows".
tensor::Tensor inspect_parameter(const Inspection& inspection, const ParameterRegion& region);

}  // namespace dragoman::decoding
