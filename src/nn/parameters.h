#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"
#include "nn/weight_packing.h"

namespace dragoman::nn {

using autograd::Variable;
using tensor::Tensor;

/// How a parameter is filled before training.
enum class Initializer {
  kZeros,
  kOnes,
  kXavierUniform,    ///< U(-a, a), a = sqrt(6 / (d_in + d_out)) (Glorot & Bengio 2010, eq. 16)
  kNormalEmbedding,  ///< N(0, 1 / D): with the embedding scaled by sqrt(D) each component has variance 1
};

/// One tensor of the model. `variable` is undefined until ParameterSet::allocate or share_values. A weight matrix may
/// also have copies packed for this machine; layers hand both to the products and never ask which form is used.
struct Parameter {
  std::string path;  ///< "encoder.layers.0.self_attention.query.weight": what files are keyed by
  tensor::Shape shape;
  Initializer initializer = Initializer::kZeros;
  bool is_matrix_weight = false;  ///< used in matrix products, and so packed
  kernels::Transpose packed_from =
      kernels::Transpose::kNo;  ///< kYes: stored [d_out, d_in] (embeddings used as output weight)
  int64_t offset = 0;           ///< first element in the flat buffers
  Variable variable;
  size_t index = 0;                              ///< number of this parameter in its set
  std::shared_ptr<const WeightPacking> packing;  ///< null when nothing is packed

  /// The variable and its packed copy. Throws Error when the copy is older than the values.
  ops::Weight weight() const { return {variable, packing == nullptr ? nullptr : packing->copy_of(index)}; }
};

/// A parameter as a file holds it.
struct StoredParameter {
  Tensor values;       ///< float32 or bfloat16, or the int8 values of a quantized matrix weight
  Tensor scales = {};  ///< int8 only, see kernels::QuantisedWeight
};

/// Parameters are handed to layers by reference-counted pointer, so that layers may share them (tied weights).
using ParameterHandle = std::shared_ptr<Parameter>;

/// All parameters of one model, in order of declaration, in one flat buffer (each begins at a multiple of 64 bytes;
/// the gaps are zero). Optimizer, averaging, hashing and gradient sums work on the flat buffers; layers and files
/// on the named views. Replicas of a model each have a ParameterSet and share the values, not the gradients.
/// Whoever writes values gets them from mutable_values(), so that packed copies made before are known to be old.
class ParameterSet {
 public:
  /// Layers call this while they are built. Throws Error for a path declared twice.
  [[nodiscard]] ParameterHandle declare(std::string path, const tensor::Shape& shape, Initializer initializer);
  /// `declare` for a [d_in, d_out] weight, or [d_out, d_in] with packed_from = kYes.
  [[nodiscard]] ParameterHandle declare_weight(std::string path, const tensor::Shape& shape, Initializer initializer,
                                               kernels::Transpose packed_from = kernels::Transpose::kNo);

  /// Gives every parameter its part of a new zeroed buffer. float32, or float64 for checks.
  void allocate(tensor::DType dtype = tensor::DType::kFloat32);
  /// Uses the buffer of a set with the same declarations.
  void share_values(const ParameterSet& other);
  /// Fills the values; each tensor draws from its own stream, so adding a layer does not change the others.
  void initialize(uint64_t seed);
  /// Gives every parameter a gradient buffer and asks for gradients.
  void allocate_gradients();
  /// Forgets the gradients: the next backward overwrites them.
  void clear_gradients();
  /// Zeroes the gradients that no backward reached since clear_gradients, so that the flat buffer is whole.
  void complete_gradients();
  /// Packs the matrix weights for inference; call again after the values changed. Nothing for float64 weights.
  void pack_weights(kernels::Precision precision = kernels::Precision::kFloat32);
  /// Room for packed copies for training. The products of this set and of those that share its packing then need
  /// copies that are current: packing()->pack after each change of the values.
  void allocate_packing(kernels::Precision precision);
  /// Uses the packed copies of a set whose values are shared.
  void share_packing(const ParameterSet& other);
  /// Null when there are no packed copies.
  WeightPacking* packing() const { return packing_.get(); }

  const std::vector<ParameterHandle>& parameters() const { return parameters_; }
  /// Throws Error naming the path when there is no such parameter.
  [[nodiscard]] const Parameter& find(std::string_view path) const;
  /// [total] flat values, to be read.
  const Tensor& values() const { return values_->flat; }
  /// [total] flat values, to be written now: packed copies made so far count as old from this call on. Do not keep
  /// the reference.
  Tensor& mutable_values();
  Tensor& gradients() { return gradients_; }
  /// Elements of the flat buffers, gaps counted; known before they are allocated.
  int64_t flat_size() const { return total_; }
  /// Number of trained numbers, gaps not counted.
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

/// Fills a set for inference alone, a parameter at a time: a matrix weight is packed in `precision` and held so only,
/// the others become float32 variables. There is no flat buffer then, and what needs one (training, saving) must not be
/// called. Values are rounded at most once: int8 values go into int8 copies as they are.
class PackedLoading {
 public:
  /// @param set  must outlive this
  PackedLoading(ParameterSet& set, kernels::Precision precision);
  /// Gives parameter number `index` its values, of its shape. Of different parameters by several threads at once.
  void put(size_t index, const StoredParameter& stored);
  /// Hands the packed copies to the set. Needs: every parameter was put.
  void finish();

 private:
  ParameterSet& set_;
  kernels::Precision precision_;
  std::vector<std::unique_ptr<ops::PackedWeight>> copies_;
};

}  // namespace dragoman::nn
