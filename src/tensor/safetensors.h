#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/safetensors_header.h"
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

/// Reads the tensors of a safetensors file one after the other, as it comes, so that it is never in memory as a whole.
/// Checks what read_safetensors checks and throws as it does.
class SafetensorsStream {
 public:
  /// Fills its argument with the next bytes of the file, or throws.
  using Read = std::function<void(std::span<char>)>;

  /// Reads the header.
  SafetensorsStream(uint64_t file_size, Read read, std::string file_name, FiniteCheck finite = FiniteCheck::kYes);

  /// What the file holds, in its order.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  /// The next tensor and its name, in the current arena; nothing after the last.
  std::optional<std::pair<std::string, Tensor>> next();

 private:
  Read read_;
  std::string file_name_;
  FiniteCheck finite_;
  std::vector<SafetensorsEntry> entries_;
  size_t next_ = 0;
};

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
