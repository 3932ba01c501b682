#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::tensor {

/// Tensors by name, as they stand in a file.
using NamedTensors = std::map<std::string, Tensor>;

/// Whether values are looked at: a safetensors file may hold NaN, a model must not.
enum class FiniteCheck { kYes, kNo };

/// Reads all tensors of a safetensors file held in memory, copied into the current arena.
/// dtypes: F32, BF16, I8, I32, BOOL, F64; F16 is widened to float32. At most 4 axes. BOOL bytes must be 0 or 1.
/// Throws Error(kBadData) as parse_safetensors_header, and "m/model.safetensors: tensor 'a.weight': element 17 is nan,
/// all values must be finite; ...".
NamedTensors read_safetensors(std::string_view file, std::string_view file_name,
                              FiniteCheck finite = FiniteCheck::kYes);

/// The same of a file held in a contiguous int8 tensor: the tensors are views of its memory, but for F16.
NamedTensors view_safetensors(const Tensor& file, std::string_view file_name, FiniteCheck finite = FiniteCheck::kYes);

/// A safetensors file laid out but not copied: the header and the memory of the tensors, which it keeps alive.
/// Fits FolderWriter::add(name, parts).
struct SafetensorsImage {
  std::string header;
  std::vector<Tensor> tensors;  ///< contiguous, in file order
  /// The file as pieces; they point into this object.
  std::vector<std::string_view> parts() const;
  /// The file in one piece.
  std::string bytes() const;
};

/// Lays out tensors as the reference writer does: by element size, largest first, then by name, so that every tensor
/// is aligned to its element. Strided views are copied, others shared.
/// Throws Error(kRuntime): a value is not finite ("safetensors: tensor 'a.weight': element 17 is nan, ..."), a tensor
/// is empty or undefined.
SafetensorsImage make_safetensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {},
                                  FiniteCheck finite = FiniteCheck::kYes);

/// Index of the first element that is NaN or infinite, -1 if all are finite (always, for integers).
int64_t first_non_finite(const Tensor& tensor);

}  // namespace dragoman::tensor
