#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ops/packed_weight.h"

namespace dragoman::nn {

/// The flat buffer of the weights of a model, shared by its replicas.
struct ParameterValues {
  tensor::Tensor flat;                ///< [total]
  std::atomic<uint64_t> version = 0;  ///< number of times that the values were written
};

/// The weight that a packed copy is made from.
struct WeightSource {
  tensor::Tensor values;   ///< [Din, Dout], or [Dout, Din] for Transpose::kYes; any shape if it is no matrix weight
  std::string path;        ///< for errors: "embedding.weight"
  bool is_matrix = false;  ///< used in matrix products
  kernels::Transpose stored = kernels::Transpose::kNo;
};

/// The products that the packed copies serve.
enum class PackedFor {
  kInference,  ///< y = x W
  kTraining,   ///< y = x W and dx = dy W^T
};

/// Holds packed copies of all weight matrices of a model. All replicas of a model share them. After a change of the
/// weights, all workers together pack each copy once. The version of the values is kept with the copies, so that old
/// copies are never used.
class WeightPacking {
 public:
  /// Allocates the copies of the weights that are matrices. Nothing is packed yet.
  /// @param weights  one for each parameter, views of `values`
  WeightPacking(std::vector<WeightSource> weights, std::shared_ptr<const ParameterValues> values,
                kernels::Precision precision, PackedFor use);

  /// Takes packed copies of weights that exist only in packed form, for inference. These copies never become old.
  /// @param copies  one for each parameter; null if it is no matrix weight
  WeightPacking(std::vector<std::unique_ptr<ops::PackedWeight>> copies, kernels::Precision precision);

  /// Packs the share of worker `rank` of `workers`. Shares are about equal work. Allocates nothing. The copies are
  /// current after the last worker has packed its share. Threads: all workers may pack at once. Requires: no thread
  /// writes values meanwhile.
  void pack(int rank, int workers);
  /// Returns: false if the values were written after the copies were packed.
  [[nodiscard]] bool current() const { return packed_version_.load() == values_->version.load(); }
  kernels::Precision precision() const { return precision_; }

  /// Returns: the copy of parameter number `index`; null if it is no matrix weight.
  /// Throws: Error if the copy is older than the values: "parameters: the packed copy of embedding.weight is older than
  /// its values; pack the weights after changing them".
  [[nodiscard]] const ops::PackedWeight* copy_of(size_t index) const;

 private:
  struct Copy {
    WeightSource source;
    std::unique_ptr<ops::PackedWeight> packed;  // null if it is no matrix weight
  };

  std::shared_ptr<const ParameterValues> values_;
  kernels::Precision precision_;
  std::vector<Copy> copies_;  // one for each parameter
  int64_t total_ = 0;         // elements of all panels
  std::atomic<uint64_t> packed_version_;
  std::atomic<int> shares_ = 0;  // number of shares packed since the values were written
};

}  // namespace dragoman::nn
