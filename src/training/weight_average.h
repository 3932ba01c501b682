#pragma once

#include <cstdint>

#include "nn/parameters.h"

namespace dragoman::training {

/// The exponential moving average of the weights, which validation and the published model use where it is on.
///   average = d average + (1 - d) weights, d = min(decay, (1 + n) / (10 + n)) after n updates: early on it follows
///   fast, or it would remember the random start for long.
class WeightAverage {
 public:
  /// @param decay  0 = off
  /// Requires: `parameters` are allocated and outlive this.
  WeightAverage(nn::ParameterSet& parameters, double decay);

  /// @param updates  applied so far
  void update(int64_t updates);
  /// The average [total] float32, for a checkpoint; undefined when off. Restoring fills it.
  const tensor::Tensor& tensor() const { return average_; }
  bool is_on() const { return average_.defined(); }

  /// While it lives, the parameters are the average and the average holds the weights. Nothing when off.
  class Scope {
   public:
    [[nodiscard]] explicit Scope(WeightAverage& average) : average_(average) { average_.swap(); }
    ~Scope() { average_.swap(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WeightAverage& average_;
  };

 private:
  void swap();

  nn::ParameterSet& parameters_;
  double decay_;
  tensor::Tensor average_;
};

}  // namespace dragoman::training
