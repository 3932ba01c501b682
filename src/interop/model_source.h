#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tensor/safetensors.h"

namespace dragoman::interop {

/// Files of every model folder of Hugging Face transformers.
inline constexpr const char* kHfConfigName = "config.json";
inline constexpr const char* kHfGenerationName = "generation_config.json";  // not in every one
inline constexpr const char* kHfWeightsName = "model.safetensors";
inline constexpr const char* kHfIndexName =
    "model.safetensors.index.json";  // in place of it, if there are several files
inline constexpr const char* kHfTokenizerName = "tokenizer.json";
inline constexpr const char* kHfTokenizerConfigName = "tokenizer_config.json";

/// Returns true if a file or folder of this path exists.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

/// Returns the text of a JSON file of at most 16 MiB. Throws: as base::read_file.
[[nodiscard]] std::string read_json(const std::filesystem::path& folder, const char* name);

/// Refuses a folder of CTranslate2: its weights are quantised or joined, and its config.json no longer says of which
/// model. Throws: Error(kBadData) "m: is a folder of CTranslate2 (model.bin), a converted form. Import the folder that
/// it was made from, ...".
void refuse_converted_folder(const std::filesystem::path& folder);

/// The tensors of a model folder, read by name: those of model.safetensors, or of the files that
/// model.safetensors.index.json lists. `check_all_used` refuses a tensor that was never read. Tensors of I64 and U8
/// are buffers and left out.
class TensorSource {
 public:
  /// Reads all files.
  /// Throws: Error(kBadData), as tensor::read_safetensors; for a folder with pytorch_model.bin only,
  /// "m/model.safetensors: is missing; pytorch_model.bin is a program and is not read. ..."; and for an index that does
  /// not fit its files, "m/model.safetensors.index.json: tensor 'a.weight' is in "../x", which is no name of a file of
  /// the folder".
  explicit TensorSource(const std::filesystem::path& folder);

  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }
  /// Returns the file for errors.
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Returns a tensor as float32. Throws: Error(kBadData) if the tensor is missing, has another shape or no
  /// floating-point type.
  [[nodiscard]] tensor::Tensor get(const std::string& name, const tensor::Shape& shape);
  /// Returns a tensor with several names. Throws: as `get`; Error(kBadData) if those that exist differ.
  [[nodiscard]] tensor::Tensor get_shared(const std::vector<std::string>& names, const tensor::Shape& shape);
  /// Marks a tensor that the model does not need as read. The tensor may be missing.
  void skip(const std::string& name) { used_.insert(name); }

  /// Throws: Error(kBadData) for a tensor that was not read. @param model  for errors: "a MarianMT model"
  void check_all_used(const char* model) const;

 private:
  void read_shards(const std::filesystem::path& folder);

  std::string file_;
  tensor::NamedTensors tensors_;
  std::set<std::string> used_;
};

}  // namespace dragoman::interop
