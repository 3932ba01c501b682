#include "interop/model_source.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/manifest.h"
#include "tensor/safetensors_header.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using nlohmann::json;
using tensor::Tensor;

constexpr uint64_t kMaxJsonBytes = uint64_t{16} << 20;

bool has_pickle(const fs::path& folder) {
  return is_there(folder / "pytorch_model.bin") || is_there(folder / "pytorch_model.bin.index.json");
}

// The tensors of each file, by the name of the file.
std::map<std::string, std::set<std::string>> read_index(const fs::path& folder) {
  const std::string name = (folder / kHfIndexName).string();
  const json tree = base::parse_json(read_json(folder, kHfIndexName), name);
  const json& map = base::JsonFields(tree, name).value("weight_map");
  check_data(map.is_object() && !map.empty(), "{}: weight_map must be an object of tensors and their files", name);
  std::map<std::string, std::set<std::string>> files;
  for (const auto& [tensor, file] : map.items()) {
    const std::string shard = file.is_string() ? file.get<std::string>() : "";
    check_data(base::is_file_name(shard) && shard.ends_with(".safetensors"),
               "{}: tensor '{}' is in {}, which is no name of a .safetensors file of the folder", name, tensor,
               base::dump_json(file).substr(0, 200));
    files[shard].insert(tensor);
  }
  return files;
}

// Buffers such as the numbers of positions, whose types dragoman lacks. They are no weights.
bool is_buffer(const tensor::SafetensorsEntry& entry) {
  return entry.dtype == "I64" || entry.dtype == "U8";
}

// A file with the same tensors but the buffers, whose names go to `buffers`.
std::string without_buffers(std::string file, const std::string& name, std::set<std::string>& buffers) {
  const tensor::SafetensorsHeader header = tensor::parse_safetensors_header(file, name);
  if (std::ranges::none_of(header.entries, is_buffer)) {
    return file;
  }
  std::vector<tensor::SafetensorsEntry> kept;
  std::string data;
  for (tensor::SafetensorsEntry entry : header.entries) {
    if (is_buffer(entry)) {
      buffers.insert(entry.name);
      continue;
    }
    const uint64_t bytes = entry.end - entry.begin, begin = data.size();
    data += std::string_view(file).substr(header.data_begin + entry.begin, bytes);
    entry.begin = begin;
    entry.end = begin + bytes;
    kept.push_back(std::move(entry));
  }
  return tensor::safetensors_header_bytes(kept, header.metadata) + data;
}

tensor::NamedTensors read_tensors(const std::string& path, std::set<std::string>& buffers) {
  return tensor::read_safetensors(without_buffers(base::read_file(path), path, buffers), path);
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

std::string read_json(const fs::path& folder, const char* name) {
  return base::read_file(folder / name, kMaxJsonBytes);
}

void refuse_converted_folder(const fs::path& folder) {
  const bool has_weights = is_there(folder / kHfWeightsName) || is_there(folder / kHfIndexName) || has_pickle(folder);
  check_data(
      has_weights || !is_there(folder / "model.bin"),
      "{}: is a folder of CTranslate2 (model.bin), a converted form. Import the folder that it was made from, which "
      "ct2-transformers-converter took as --model",
      folder.string());
}

TensorSource::TensorSource(const fs::path& folder) : file_((folder / kHfWeightsName).string()) {
  if (!is_there(folder / kHfWeightsName) && is_there(folder / kHfIndexName)) {
    file_ = (folder / kHfIndexName).string();
    read_shards(folder);
    return;
  }
  check_data(is_there(folder / kHfWeightsName) || !has_pickle(folder),
             "{}: is missing; pytorch_model.bin is a program and is not read. Load the model with "
             "transformers and save it with save_pretrained",
             file_);
  std::set<std::string> buffers;
  tensors_ = read_tensors(file_, buffers);
}

void TensorSource::read_shards(const fs::path& folder) {
  for (const auto& [shard, names] : read_index(folder)) {
    const std::string path = (folder / shard).string();
    std::set<std::string> buffers;
    tensor::NamedTensors tensors = read_tensors(path, buffers);
    for (const std::string& name : names) {
      check_data(tensors.contains(name) || buffers.contains(name),
                 "{}: tensor '{}' is missing; {} says that it is in this file", path, name, kHfIndexName);
    }
    for (auto& [name, tensor] : tensors) {
      check_data(names.contains(name), "{}: tensor '{}' is not in this file, says {}", path, name, kHfIndexName);
      tensors_.emplace(name, std::move(tensor));
    }
  }
}

Tensor TensorSource::get(const std::string& name, const tensor::Shape& shape) {
  const auto found = tensors_.find(name);
  check_data(found != tensors_.end(), "{}: tensor '{}' is missing; config.json asks for it with shape {}", file_, name,
             shape.to_string());
  const Tensor& seen = found->second;
  check_data(seen.shape() == shape, "{}: tensor '{}' has shape {}, config.json asks for {}", file_, name,
             seen.shape().to_string(), shape.to_string());
  const tensor::DType dtype = seen.dtype();
  check_data(dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kBFloat16 || dtype == tensor::DType::kFloat64,
             "{}: tensor '{}' is {}, must be a floating-point type", file_, name, tensor::dtype_name(dtype));
  used_.insert(name);
  return dtype == tensor::DType::kFloat32 ? seen : seen.to(tensor::DType::kFloat32);
}

Tensor TensorSource::get_shared(const std::vector<std::string>& names, const tensor::Shape& shape) {
  Tensor first;
  for (const std::string& name : names) {
    if (!has(name)) {
      continue;
    }
    const Tensor tensor = get(name, shape);
    check_data(!first.defined() ||
                   std::ranges::equal(tensor::HostView<float>(first).span(), tensor::HostView<float>(tensor).span()),
               "{}: tensor '{}' differs from '{}', config.json says that they are one", file_, name, names.front());
    first = tensor;
  }
  return first.defined() ? first : get(names.front(), shape);  // throws
}

void TensorSource::check_all_used(const char* model) const {
  for (const auto& [name, tensor] : tensors_) {
    check_data(used_.contains(name), "{}: tensor '{}' {} belongs to no part of {} of this config.json", file_, name,
               tensor.shape().to_string(), model);
  }
}

}  // namespace dragoman::interop
