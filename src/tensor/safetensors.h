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

/// The tensors of a file, by name.
using NamedTensors = std::map<std::string, Tensor>;

/// Whether values are checked to be finite. A safetensors file may contain NaN; a model must not.
enum class FiniteCheck { kYes, kNo };

/// Reads all tensors of a safetensors file held in memory, copied into the current arena.
/// dtypes: F32, BF16, I8, I32, BOOL, F64; F16 is widened to float32. At most 4 axes. BOOL bytes must be 0 or 1.
/// Throws: Error(kBadData) as parse_safetensors_header, and "m/model.safetensors: tensor 'a.weight': element 17 is nan,
/// all values must be finite; ...".
NamedTensors read_safetensors(std::string_view file, std::string_view file_name,
                              FiniteCheck finite = FiniteCheck::kYes);

/// Reads a file in a contiguous int8 tensor as read_safetensors. All results except F16 are views of its memory.
NamedTensors view_safetensors(const Tensor& file, std::string_view file_name, FiniteCheck finite = FiniteCheck::kYes);

/// A reader of a safetensors file, one tensor after another, so that the whole file is never in memory.
/// Checks and throws as read_safetensors.
class SafetensorsStream {
 public:
  /// A function that fills its argument with the next bytes of the file, or throws.
  using Read = std::function<void(std::span<char>)>;

  /// Reads the header.
  SafetensorsStream(uint64_t file_size, Read read, std::string file_name, FiniteCheck finite = FiniteCheck::kYes);

  /// Returns the entries in the order of the file.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  /// Returns the next tensor, in the current arena, and its name. Empty after the last tensor.
  std::optional<std::pair<std::string, Tensor>> next();

 private:
  Read read_;
  std::string file_name_;
  FiniteCheck finite_;
  std::vector<SafetensorsEntry> entries_;
  size_t next_ = 0;
};

/// The parts of a safetensors file: the header and the tensors, whose memory is not copied. FolderWriter::add(name,
/// parts) writes it.
struct SafetensorsImage {
  std::string header;
  std::vector<Tensor> tensors;  ///< contiguous, in file order
  /// Returns the pieces of the file, which point into this object.
  std::vector<std::string_view> parts() const;
  /// Returns a copy of the whole file.
  std::string bytes() const;
};

/// Returns the parts of a file with these tensors. As in the reference writer they are sorted by element size, largest
/// first, and then by name, so that every tensor is aligned to its elements. Strided views are copied, others shared.
/// Throws: Error(kRuntime) if a value is not finite, "safetensors: tensor 'a.weight': element 17 is nan, ...", or a
/// tensor is empty or undefined.
SafetensorsImage make_safetensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {},
                                  FiniteCheck finite = FiniteCheck::kYes);

/// Returns the index of the first element that is NaN or infinite, or -1 if all are finite, as integers always are.
int64_t first_non_finite(const Tensor& tensor);

}  // namespace dragoman::tensor
