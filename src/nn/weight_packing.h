#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ops/packed_weight.h"

namespace dragoman::nn {

/// The flat buffer of a model's weights, shared by its replicas, and how often it was written.
struct ParameterValues {
  tensor::Tensor flat;  ///< [total]
  std::atomic<uint64_t> version = 0;
};

/// What a packed copy is made of.
struct WeightSource {
  tensor::Tensor values;   ///< [Din, Dout], or [Dout, Din] for Transpose::kYes; any shape unless it is a matrix weight
  std::string path;        ///< for errors: "embedding.weight"
  bool is_matrix = false;  ///< used in matrix products
  kernels::Transpose stored = kernels::Transpose::kNo;
};

/// Packed copies of all weight matrices of a model. The replicas of a model share one: each copy is made once after
/// the weights have changed, by all workers together. Copies know the version of the values they were made of, so
/// that an old one is never used.
class WeightPacking {
 public:
  /// Room for the copies of those weights that are matrices; nothing is packed yet.
  /// @param weights  one a parameter, views of `values`
  WeightPacking(std::vector<WeightSource> weights, std::shared_ptr<const ParameterValues> values,
                kernels::Precision precision, bool with_backward);

  /// Packed copies that stand for weights of which nothing else is kept: inference alone. They never grow old.
  /// @param copies  one a parameter, null for those that are no matrix weights
  WeightPacking(std::vector<std::unique_ptr<ops::PackedWeight>> copies, kernels::Precision precision);

  /// Packs the share of worker `rank` of `workers`, about equal work for each; asks for no memory. All workers pack at
  /// once, while nobody writes values. After the last of them the copies are current.
  void pack(int rank, int workers);
  /// False when the values were written since the copies were made.
  [[nodiscard]] bool current() const { return packed_version_.load() == values_->version.load(); }
  kernels::Precision precision() const { return precision_; }

  /// The copy of parameter number `index`; null if it is no matrix weight.
  /// Throws Error when it is older than the values: "parameters: the packed copy of embedding.weight is older than its
  /// values; pack the weights after changing them".
  [[nodiscard]] const ops::PackedWeight* copy_of(size_t index) const;

 private:
  struct Copy {
    WeightSource source;
    std::unique_ptr<ops::PackedWeight> packed;  // null unless it is a matrix weight
  };

  std::shared_ptr<const ParameterValues> values_;
  kernels::Precision precision_;
  std::vector<Copy> copies_;  // one a parameter
  int64_t total_ = 0;         // numbers in all panels
  std::atomic<uint64_t> packed_version_;
  std::atomic<int> shares_ = 0;  // packed since the values were written
};

}  // namespace dragoman::nn
