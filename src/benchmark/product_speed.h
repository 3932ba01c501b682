#pragma once

#include <string>
#include <vector>

#include "models/transformer/transformer_config.h"
#include "training/data_parallel.h"

namespace dragoman::benchmark {

/// How long each product is measured where products are one part of a larger measurement.
inline constexpr double kSecondsOfProduct = 0.05;

/// Speed of one matrix product [rows, depth] x [depth, columns], all workers together.
struct ProductSpeed {
  std::string use;               ///< where the model has it: "feed-forward inner"
  std::string pass;              ///< "forward" y = x W, "input" dx = dy W^T, "weight" dW += x^T dy
  int64_t rows, depth, columns;  ///< of the product as computed in this pass
  double gflops_per_second = 0.0;
};

/// Measures the products that training of `model` consists of, forward and backward, on all workers at once, each
/// with `tokens` rows of its own. Best of several tries: what the machine can do, not what a step attains.
/// @param seconds  spent on each product
std::vector<ProductSpeed> measure_products(const models::TransformerConfig& model, int64_t tokens,
                                           const training::ProcessOptions& workers, double seconds = 0.2);

/// The same for the products of inference, with weights packed beforehand, which the workers share; int8 too. A forward
/// pass of `rows` rows a worker, named "packed".
std::vector<ProductSpeed> measure_packed_products(const models::TransformerConfig& model, int64_t rows,
                                                  kernels::Precision precision, int workers, double seconds = 0.2);

/// The fastest of them: what a share of the machine's speed is a share of.
double best_product_speed(const std::vector<ProductSpeed>& speeds);

}  // namespace dragoman::benchmark
