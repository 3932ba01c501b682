#include "models/quantised_model.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <map>

#include "base/error.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

using base::check_data;
using nn::StoredParameter;
using tensor::DType;
using tensor::NamedTensors;
using tensor::Tensor;

constexpr const char* kDamaged = "the file is damaged or hostile";

std::string scales_name(const std::string& path) {
  return path + std::string(kScalesSuffix);
}

// Columns of W in y = x W.
int64_t columns_of(const nn::Parameter& parameter) {
  return parameter.shape[parameter.packed_from == kernels::Transpose::kYes ? 0 : 1];
}

void check_int8_values(const nn::Parameter& parameter, const StoredParameter& stored, std::string_view file_name) {
  const std::string scales = scales_name(parameter.path);
  check_data(stored.scales.defined(), "{}: tensor '{}' is int8 and has no '{}'; {}", file_name, parameter.path, scales,
             kDamaged);
  check_data(stored.scales.dtype() == DType::kFloat32 && stored.scales.shape() == tensor::Shape{columns_of(parameter)},
             "{}: tensor '{}' is {} {}, must be float32 [{}]; {}", file_name, scales,
             tensor::dtype_name(stored.scales.dtype()), stored.scales.shape(), columns_of(parameter), kDamaged);
  const tensor::HostView<float> worths(stored.scales);
  const auto negative = std::ranges::find_if(worths, [](float worth) { return worth < 0.0F; });
  check_data(negative == worths.end(), "{}: tensor '{}': element {} is {}, must not be negative; {}", file_name, scales,
             negative - worths.begin(), negative == worths.end() ? 0.0F : *negative, kDamaged);
  const tensor::HostView<int8_t> values(stored.values);
  const auto lowest = std::ranges::find(values, int8_t{-128});
  check_data(lowest == values.end(), "{}: tensor '{}': element {} is -128, must be from -127 to 127; {}", file_name,
             parameter.path, lowest - values.begin(), kDamaged);
}

void check_values(const nn::Parameter& parameter, const Tensor& values, std::string_view file_name) {
  check_tensor_shape(parameter, values, file_name);
  const DType dtype = values.dtype();
  check_data(
      dtype == DType::kFloat32 || (parameter.is_matrix_weight && (dtype == DType::kInt8 || dtype == DType::kBFloat16)),
      "{}: tensor '{}' is {}, must be {}; {}", file_name, parameter.path, tensor::dtype_name(dtype),
      parameter.is_matrix_weight ? "float32, bfloat16 or int8" : "float32", kOtherModel);
}

// Packs parameters beside its caller, who reads more meanwhile: the largest of a model takes as long as many small
// ones.
class PackingLine {
 public:
  explicit PackingLine(nn::PackedLoading& packed) : packed_(packed) {}

  void add(size_t index, StoredParameter stored) {
    batch_.bytes += static_cast<size_t>(stored.values.size()) * tensor::dtype_bytes(stored.values.dtype());
    batch_.parameters.emplace_back(index, std::move(stored));
    if (batch_.bytes >= kBatchBytes) {
      start();
    }
  }

  // Throws what packing threw.
  void finish() {
    start();
    while (!line_.empty()) {
      wait_for_first();
    }
  }

 private:
  static constexpr size_t kBatchBytes = size_t{1} << 20;
  static constexpr size_t kMostBytesBehind = size_t{32} << 20;  // of batches that wait for the one that is packed

  struct Batch {
    std::vector<std::pair<size_t, StoredParameter>> parameters;  // with their numbers
    size_t bytes = 0;
  };
  struct Started {
    std::shared_future<void> packed;
    size_t bytes;
  };

  // Batches are packed one after the other. Waits while many are not, so that memory stays bounded.
  void start() {
    while (!line_.empty() && (is_done() || bytes_ - line_.front().bytes > kMostBytesBehind)) {
      wait_for_first();
    }
    const size_t bytes = batch_.bytes;
    std::shared_future<void> before = line_.empty() ? std::shared_future<void>() : line_.back().packed;
    auto pack = [this, before = std::move(before), batch = std::exchange(batch_, {})]() mutable {
      if (before.valid()) {
        std::exchange(before, {}).get();  // throws what packing that threw
      }
      for (auto& [index, stored] : batch.parameters) {
        packed_.put(index, std::exchange(stored, {}));
      }
    };
    line_.push_back({std::async(std::launch::async | std::launch::deferred, std::move(pack)).share(), bytes});
    bytes_ += bytes;
  }

  bool is_done() const { return line_.front().packed.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

  void wait_for_first() {
    line_.front().packed.get();
    bytes_ -= line_.front().bytes;
    line_.pop_front();
  }

  nn::PackedLoading& packed_;
  Batch batch_;               // not started yet
  std::deque<Started> line_;  // the first is being packed
  size_t bytes_ = 0;          // of those in the line
};

// Puts the tensors of a file together to parameters and packs these.
class Loading {
 public:
  Loading(nn::ParameterSet& parameters, kernels::Precision precision, std::string_view file_name)
      : parameters_(parameters.parameters()),
        packed_(parameters, precision),
        file_name_(file_name),
        found_(parameters_.size()) {
    for (const nn::ParameterHandle& parameter : parameters_) {
      indices_[parameter->path] = parameter->index;
      indices_[scales_name(parameter->path)] = parameter->index;
    }
  }

  void take(const std::string& name, Tensor tensor) {
    const auto index = indices_.find(name);
    const bool is_scales = index != indices_.end() && parameters_[index->second]->path != name;
    check_data(index != indices_.end() && !(is_scales && found_[index->second].is_packed),
               "{}: tensor '{}' belongs to no part of the model; {}", file_name_, name, kOtherModel);
    Found& found = found_[index->second];
    if (is_scales) {
      found.stored.scales = std::move(tensor);
    } else {
      check_values(*parameters_[index->second], tensor, file_name_);
      found.stored.values = std::move(tensor);
    }
    pack_if_complete(index->second);
  }

  void finish() {
    for (size_t i = 0; i < found_.size(); ++i) {
      const std::string& path = parameters_[i]->path;
      const StoredParameter& stored = found_[i].stored;
      check_data(found_[i].is_packed || stored.values.defined(), "{}: tensor '{}' is missing; {}", file_name_, path,
                 kOtherModel);
      check_data(found_[i].is_packed, "{}: tensor '{}' is int8 and has no '{}'; {}", file_name_, path,
                 scales_name(path), kDamaged);
    }
    line_.finish();
    packed_.finish();
  }

 private:
  struct Found {
    StoredParameter stored;
    bool is_packed = false;  // or about to be; then `stored` is empty
  };

  void pack_if_complete(size_t index) {
    Found& found = found_[index];
    const bool is_int8 = found.stored.values.defined() && found.stored.values.dtype() == DType::kInt8;
    if (!found.stored.values.defined() || (is_int8 && !found.stored.scales.defined())) {
      return;
    }
    const nn::Parameter& parameter = *parameters_[index];
    check_data(is_int8 || !found.stored.scales.defined(), "{}: tensor '{}' belongs to no part of the model; {}",
               file_name_, scales_name(parameter.path), kOtherModel);
    if (is_int8) {
      check_int8_values(parameter, found.stored, file_name_);
    }
    found.is_packed = true;
    line_.add(index, std::exchange(found.stored, {}));
  }

  const std::vector<nn::ParameterHandle>& parameters_;
  nn::PackedLoading packed_;
  std::string_view file_name_;
  std::vector<Found> found_;               // of each parameter
  std::map<std::string, size_t> indices_;  // of parameters, by the names of their tensors
  PackingLine line_{packed_};              // last: ends before the rest goes
};

bool holds(const NamedTensors& tensors, DType dtype) {
  return std::ranges::any_of(tensors, [&](const auto& named) { return named.second.dtype() == dtype; });
}

}  // namespace

kernels::Precision stored_precision(const NamedTensors& tensors) {
  return holds(tensors, DType::kInt8)       ? kernels::Precision::kInt8
         : holds(tensors, DType::kBFloat16) ? kernels::Precision::kBFloat16
                                            : kernels::Precision::kFloat32;
}

kernels::Precision stored_precision(const std::vector<tensor::SafetensorsEntry>& entries) {
  const auto any = [&](std::string_view dtype) {
    return std::ranges::any_of(entries, [&](const auto& entry) { return entry.dtype == dtype; });
  };
  return any("I8")     ? kernels::Precision::kInt8
         : any("BF16") ? kernels::Precision::kBFloat16
                       : kernels::Precision::kFloat32;
}

NamedTensors rounded_tensors(const NamedTensors& tensors, const nn::ParameterSet& declared,
                             kernels::Precision precision) {
  NamedTensors rounded = tensors;
  for (const nn::ParameterHandle& parameter : declared.parameters()) {
    Tensor& weight = rounded.at(parameter->path);
    if (!parameter->is_matrix_weight || precision == kernels::Precision::kFloat32) {
      continue;
    }
    if (precision == kernels::Precision::kBFloat16) {
      weight = weight.to(DType::kBFloat16);
      continue;
    }
    const kernels::QuantisedWeight quantised = kernels::quantise(weight, parameter->packed_from);
    weight = quantised.values;
    rounded[scales_name(parameter->path)] = quantised.scales;
  }
  return rounded;
}

void load_for_inference(const NextTensor& next, nn::ParameterSet& parameters, kernels::Precision precision,
                        std::string_view file_name) {
  Loading loading(parameters, precision, file_name);
  while (auto named = next()) {
    loading.take(named->first, std::move(named->second));
  }
  loading.finish();
}

}  // namespace dragoman::models
