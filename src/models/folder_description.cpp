#include "models/folder_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/published_folder.h"
#include "models/model_folder.h"
#include "models/quantised_model.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

using nlohmann::json;
using tensor::NamedTensors;
using tensor::Tensor;

// sqrt(sum x^2) and max |x|, in float64.
struct Norms {
  double l2 = 0.0;
  double largest = 0.0;
};

Norms norms_of(const Tensor& tensor) {
  const tensor::HostView<double> wide(tensor.to(tensor::DType::kFloat64));
  Norms norms;
  for (const double value : wide) {
    norms.l2 += value * value;
    norms.largest = std::max(norms.largest, std::abs(value));
  }
  norms.l2 = std::sqrt(norms.l2);
  return norms;
}

json tensor_rows(const NamedTensors& tensors) {
  json rows = json::array();
  for (const auto& [name, tensor] : tensors) {
    const auto dims = tensor.shape().dims();
    json row = {{"name", name},
                {"dtype", tensor::dtype_name(tensor.dtype())},
                {"shape", std::vector<int64_t>(dims.begin(), dims.end())}};
    if (tensor.dtype() != tensor::DType::kInt8 && tensor.dtype() != tensor::DType::kBool) {
      const Norms norms = norms_of(tensor);
      row["l2_norm"] = norms.l2;
      row["largest"] = norms.largest;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json file_rows(const base::Manifest& manifest) {
  json rows = json::array();
  for (const auto& [name, record] : manifest.files) {
    rows.push_back({{"name", name}, {"bytes", record.size}, {"sha256", record.sha256}});
  }
  return rows;
}

int64_t count_elements(const NamedTensors& tensors) {
  int64_t count = 0;
  for (const auto& [name, tensor] : tensors) {
    count += name.ends_with(kScalesSuffix) ? 0 : tensor.size();  // they are no parameters of the model
  }
  return count;
}

json describe(const base::CheckedFolder& folder, Verify verify) {
  if (verify == Verify::kYes) {
    folder.verify();
  }
  const ModelFiles model = read_model_files(folder);
  json tree = {{"folder", folder.path().string()},
               {"config", base::with_decimals(base::parse_json(model.config, folder.path_of(kConfigName)))},
               {"tensors", tensor_rows(model.tensors)},
               {"files", file_rows(folder.manifest())},
               {"parameters", count_elements(model.tensors)},
               {"precision", kernels::name_of(stored_precision(model.tensors))},
               {"verified", verify == Verify::kYes}};
  if (!model.decoding.empty()) {
    tree["decoding"] = base::parse_json(model.decoding, folder.path_of(kDecodingName));
  }
  if (!model.languages.empty()) {
    tree["languages"] = base::parse_json(model.languages, folder.path_of(kLanguagesName));
  }
  if (!model.labels.empty()) {
    tree["labels"] = base::parse_json(model.labels, folder.path_of(kLabelsName));
  }
  return tree;
}

std::string with_separators(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

size_t widest_name(const json& rows) {
  size_t width = 4;
  for (const json& row : rows) {
    width = std::max(width, row["name"].get_ref<const std::string&>().size());
  }
  return width;
}

std::string tensor_lines(const json& rows) {
  const size_t width = widest_name(rows);
  std::string text = fmt::format("  {:<{}}  {:<8}  {:>16}  {:>12}  {:>12}\n", "name", width, "dtype", "shape",
                                 "L2 norm", "largest |x|");
  for (const json& row : rows) {
    const std::string shape = base::dump_json(row["shape"]);
    text += fmt::format("  {:<{}}  {:<8}  {:>16}", row["name"].get_ref<const std::string&>(), width,
                        row["dtype"].get_ref<const std::string&>(), shape);
    text += row.contains("l2_norm")
                ? fmt::format("  {:>12.6g}  {:>12.6g}\n", row["l2_norm"].get<double>(), row["largest"].get<double>())
                : std::string("\n");
  }
  return text;
}

std::string file_lines(const json& rows) {
  const size_t width = widest_name(rows);
  std::string text;
  for (const json& row : rows) {
    text += fmt::format("  {:<{}}  {:>16} bytes  sha256 {}\n", row["name"].get_ref<const std::string&>(), width,
                        with_separators(row["bytes"].get<int64_t>()), row["sha256"].get_ref<const std::string&>());
  }
  return text;
}

std::string config_lines(const json& config) {
  std::string text;
  for (const auto& [key, value] : config.items()) {
    text += fmt::format("  {:<20}  {}\n", key, base::dump_json(value));
  }
  return text;
}

// A part that not every folder has.
std::string optional_part(const json& tree, const char* name) {
  return tree.contains(name) ? fmt::format("\n{}\n{}", name, config_lines(tree[name])) : "";
}

std::string as_text(const json& tree) {
  const std::string optional_parts =
      optional_part(tree, "decoding") + optional_part(tree, "languages") + optional_part(tree, "labels");
  return fmt::format("{}\n\nconfiguration\n{}{}\ntensors\n{}\nfiles\n{}\n{} parameters in {} tensors of {}; {}\n",
                     tree["folder"].get_ref<const std::string&>(), config_lines(tree["config"]), optional_parts,
                     tensor_lines(tree["tensors"]), file_lines(tree["files"]),
                     with_separators(tree["parameters"].get<int64_t>()), tree["tensors"].size(),
                     tree["precision"].get_ref<const std::string&>(),
                     tree["verified"].get<bool>() ? "every file matches the manifest"
                                                  : "--verify compares every file with the manifest");
}

}  // namespace

FolderDescription describe_folder(const std::filesystem::path& folder, Verify verify) {
  json tree;
  base::read_published(folder, [&](const base::CheckedFolder& files) { tree = describe(files, verify); });
  return {.text = as_text(tree), .json = base::dump_json(tree, 2) + "\n"};
}

}  // namespace dragoman::models
