#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"
#include "nn/rounded_values.h"
#include "nn/weight_packing.h"

namespace dragoman::nn {

using autograd::Variable;
using tensor::Tensor;

/// Selects the initial values of a parameter.
enum class Initializer {
  kZeros,
  kOnes,
  kXavierUniform,    ///< U(-a, a), a = sqrt(6 / (d_in + d_out)) (Glorot & Bengio 2010, eq. 16)
  kNormalEmbedding,  ///< N(0, 1 / D): scaled by sqrt(D), each component of an embedding has variance 1
  kNormal,           ///< N(0, Parameter::deviation^2)
  kForgetOne,        ///< the bias [4 * H] of an LSTM: 1 for the forget gate, which is the second, else 0
  kColumnNorms,      ///< the lengths of the columns of the weight declared before it
};

/// One tensor of the model. `variable` is undefined until ParameterSet::allocate or share_values. A weight matrix may
/// also have copies packed for this machine. Layers pass both to the products, which choose.
struct Parameter {
  std::string path;  ///< "encoder.layers.0.self_attention.query.weight", the key in files
  tensor::Shape shape;
  Initializer initializer = Initializer::kZeros;
  float deviation = 0.0F;         ///< of Initializer::kNormal
  bool is_matrix_weight = false;  ///< used in matrix products, and so packed
  bool is_trained = true;         ///< false: no gradient reaches it, as for the statistics of a batch norm
  bool is_normed = false;         ///< a direction whose columns have a length of their own (ops::weight_norm)
  Tensor column_norms;            ///< [d_out] of a normed weight that is kept only in packed form; undefined otherwise
  kernels::Transpose packed_from =
      kernels::Transpose::kNo;  ///< kYes: stored as [d_out, d_in] (an embedding used as output weight)
  int64_t offset = 0;           ///< first element in the flat buffers
  Variable variable;
  size_t index = 0;                                             ///< number of this parameter in its set
  kernels::Precision precision = kernels::Precision::kFloat32;  ///< of products with the weight if it is not packed
  std::shared_ptr<const WeightPacking> packing;                 ///< null if nothing is packed
  std::shared_ptr<RoundedValues> rounding;                      ///< null unless unpacked products take bfloat16
  std::shared_ptr<const kernels::Int8Weight> int8;              ///< of a device that packs no weights; null for none
  Tensor rounded;  ///< the values in bfloat16, where `rounding` is null and they never change; undefined for none

  /// Returns: the variable, which also has its rounded values if products take them.
  const Variable& bias() {
    if (rounding != nullptr) {
      variable.set_rounded(rounding->part(offset, shape));
    }
    return variable;
  }
  /// Returns: the variable and its copy. Throws: Error if the copy is older than the values; see
  /// WeightPacking::copy_of.
  ops::Weight weight() const {
    if (int8 != nullptr) {
      return {variable, int8.get()};
    }
    return {variable, packing == nullptr ? nullptr : packing->copy_of(index), precision,
            rounding == nullptr ? rounded : rounding->part(offset, shape)};
  }
};

/// A parameter as stored in a file.
struct StoredParameter {
  Tensor values;       ///< float32 or bfloat16, or the int8 values of a quantized matrix weight
  Tensor scales = {};  ///< int8 only, see kernels::QuantisedWeight
};

/// Layers hold parameters by reference-counted pointer, so that layers may share them (tied weights).
using ParameterHandle = std::shared_ptr<Parameter>;

/// Holds all parameters of one model in one flat buffer, in order of declaration. Each parameter begins at a multiple
/// of 64 bytes of float32; the gaps are zero. Optimizer, averaging, hashing and gradient sums work on the flat buffers.
/// Layers and files use the named views. Each replica of a model has a ParameterSet; replicas share the values, but not
/// the gradients.
/// Requires: values are written only through mutable_values(), which marks packed copies as old.
class ParameterSet {
 public:
  /// Declares a parameter. Layers call this in their constructors.
  /// Throws: Error for a path declared twice: "parameters: output.weight is declared twice".
  [[nodiscard]] ParameterHandle declare(std::string path, const tensor::Shape& shape, Initializer initializer);
  /// Declares a weight [d_in, d_out], or [d_out, d_in] with packed_from = kYes. The initial values of kNormal have the
  /// deviation that the layer sets in the parameter afterwards.
  [[nodiscard]] ParameterHandle declare_weight(std::string path, const tensor::Shape& shape, Initializer initializer,
                                               kernels::Transpose packed_from = kernels::Transpose::kNo);

  /// Gives every parameter its part of a new zeroed buffer of float32, or of float64 for checks.
  void allocate(tensor::DType dtype = tensor::DType::kFloat32);
  /// Uses the buffer of a set with the same declarations.
  void share_values(const ParameterSet& other);
  /// Fills the values. Each tensor has a separate random stream, so that a new layer does not change other layers.
  void initialize(uint64_t seed);
  /// Gives every parameter a gradient buffer. From then on parameters require gradients.
  void allocate_gradients();
  /// Discards the gradients. The next backward overwrites them.
  void clear_gradients();
  /// Zeroes the gradients that no backward reached since clear_gradients, so that the flat buffer is complete.
  void complete_gradients();
  /// Packs the matrix weights for inference. After a change of the values it must be called again. Does nothing for
  /// float64 weights. On a device that takes weights as stored, chooses the precision of their products.
  void pack_weights(kernels::Precision precision = kernels::Precision::kFloat32);
  /// Allocates packed copies for training. From then on the products of this set, and of sets that share its packing,
  /// require current copies: call packing()->pack after each change of the values.
  /// Throws: Error, "parameters: float64 weights cannot be packed".
  void allocate_packing(kernels::Precision precision);
  /// Rounds the values for products now, if such products round them and they have changed. Otherwise the next product
  /// does.
  void round_values();
  /// Uses the packed copies of a set whose values are shared.
  void share_packing(const ParameterSet& other);
  /// Returns: the packed copies; null if there are none.
  WeightPacking* packing() const { return packing_.get(); }

  const std::vector<ParameterHandle>& parameters() const { return parameters_; }
  /// Throws: Error if there is no such parameter: "parameters: there is no output.bias".
  [[nodiscard]] const Parameter& find(std::string_view path) const;
  /// Returns: the flat values [total], for reading.
  const Tensor& values() const { return values_->flat; }
  /// Returns: the flat values [total], for writing at once. From this call on, existing packed copies count as old.
  /// Requires: the caller does not keep the reference.
  Tensor& mutable_values();
  Tensor& gradients() { return gradients_; }
  /// Returns: the number of times that the flat values were written.
  uint64_t values_version() const { return values_->version.load(); }
  /// Returns: the number of elements of the flat buffers, gaps included. It is known before they are allocated.
  int64_t flat_size() const { return total_; }
  /// Returns: the number of elements of all parameters, without gaps.
  int64_t count() const;

 private:
  friend class PackedLoading;

  void bind_values();
  void set_packing(std::shared_ptr<WeightPacking> packing);

  std::vector<ParameterHandle> parameters_;
  int64_t total_ = 0;
  std::shared_ptr<ParameterValues> values_ = std::make_shared<ParameterValues>();
  Tensor gradients_;
  std::shared_ptr<WeightPacking> packing_;
};

/// Fills a set for inference, one parameter at a time. A matrix weight is kept only in packed form, in `precision`.
/// Other parameters become float32 variables. If the backend of the current device packs no weights, a matrix weight is
/// kept in int8, or as a float32 variable. Values are rounded at most once: int8 values stay as they are in int8.
/// Requires: nothing uses the flat buffer of the set, as training and saving do, because there is none.
class PackedLoading {
 public:
  /// Requires: `set` outlives this object.
  PackedLoading(ParameterSet& set, kernels::Precision precision);
  /// Sets the values of parameter number `index`, in its shape.
  /// Threads: several threads may set different parameters at once.
  void put(size_t index, const StoredParameter& stored);
  /// Gives the packed copies to the set. Requires: `put` was called for every parameter.
  void finish();

 private:
  ParameterSet& set_;
  kernels::Precision precision_;
  std::shared_ptr<tensor::Allocator> memory_;  // of the device that will compute
  bool packs_;                                 // false: the backend of the device takes weights as stored
  std::vector<std::unique_ptr<ops::PackedWeight>> copies_;
};

}  // namespace dragoman::nn
