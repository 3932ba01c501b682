#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "autograd/variable.h"
#include "tensor/allocator.h"

namespace dragoman::models {

/// The kernels of decoding steps, recorded once for each number of rows, where a backend can
/// (kernels::Backend::record). Each recording has memory of its own.
class RecordedSteps {
 public:
  /// What kernels that were recorded rely on: other memory, or other weights, make another value.
  struct Version {
    uint64_t weights = 0, tables = 0;
    int64_t cache_rows = 0, source_rows = 0, bias_columns = 0;
    bool operator==(const Version&) const = default;
  };

  /// Computes a step, whose kernels read all that changes from memory that stays where it is.
  /// @param pass  computes hidden [R, D]. It is called in the first step of a kind, for what is computed once, and
  /// recorded in the second.
  /// Returns: what `pass` returns. The next step of as many rows overwrites it.
  autograd::Variable run(int64_t rows, const Version& version, const std::function<autograd::Variable()>& pass);

  /// Returns: the number of steps that were not computed by `pass`. Tests read it.
  int64_t replayed() const { return replayed_; }

 private:
  struct Step {
    Version version = {};
    std::shared_ptr<tensor::Allocator> memory = nullptr;  // null: not recorded yet
    std::function<void()> replay = {};                    // empty: the backend cannot
    autograd::Variable hidden = {};                       // [R, D]
  };

  std::map<int64_t, Step> steps_;  // by rows
  int64_t replayed_ = 0;
};

}  // namespace dragoman::models
