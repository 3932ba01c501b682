#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files.h"
#include "models/model.h"
#include "ops/linear_cross_entropy.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"
#include "training/data_parallel.h"

namespace dragoman {

using tensor::Tensor;

inline constexpr double kTolerance = 1e-4;  // relative to the largest value of the tensor
inline constexpr float kSmoothing = 0.1F;
inline constexpr int kSteps = 10;
inline constexpr double kLearningRate = 2e-3;

inline void expect_close(const Tensor& seen, const Tensor& expected, const std::string& name) {
  ASSERT_EQ(seen.shape(), expected.shape()) << name;
  const tensor::HostView<float> values(seen), wanted(expected);
  double largest = 1e-3;  // some gradients are zero in theory (key biases): rounding is all they hold
  for (const float value : wanted) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  for (size_t index = 0; index < wanted.size(); ++index) {
    ASSERT_NEAR(values.data()[index], wanted.data()[index], kTolerance * largest) << name << " element " << index;
  }
}

/// Where the stored runs are: here, or where DRAGOMAN_GOLDEN says, for programs that were moved to another machine.
inline std::filesystem::path golden_folder() {
  const char* const moved = std::getenv("DRAGOMAN_GOLDEN");
  return moved == nullptr ? DRAGOMAN_TEST_DATA : moved;
}

/// A stored PyTorch run (make_golden.py): parameters, one batch, logits, every gradient, the losses of ten Adam steps,
/// and how far these steps moved each parameter, as digests.
class StoredRun {
 public:
  explicit StoredRun(const std::string& file) {
    const std::string path = golden_folder() / file;
    stored_ = tensor::read_safetensors(base::read_file(path), path);
    batch_.source = ids("source");
    batch_.source_offsets = ids("source_offsets");
    batch_.target_input = ids("target_input");
    batch_.target_output = ids("target_output");
    batch_.target_offsets = ids("target_offsets");
    batch_.lines.assign(batch_.source_offsets.size() - 1, 0);
  }

  /// Gives a model the stored parameters.
  void load(models::Model& model) const {
    model.parameters().allocate();
    model.parameters().mutable_values();
    for (const auto& parameter : model.parameters().parameters()) {
      Tensor value = parameter->variable.value();
      value.copy_from(stored("param." + parameter->path));
    }
  }

  void expect_logits_and_gradients(models::Model& model, const nn::ForwardContext& context = {}) const {
    model.parameters().allocate_gradients();
    const auto source = models::make_token_rows(batch_.source, batch_.source_offsets);
    const auto target = models::make_token_rows(batch_.target_input, batch_.target_offsets);
    const auto n_tokens = static_cast<int64_t>(batch_.target_output.size());
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const autograd::Variable hidden = model.forward({source, target}, context);
    expect_close(model.output().logits(hidden).value(), stored("logits"), "logits");
    const auto loss =
        ops::linear_cross_entropy(hidden, model.output().weight, {}, Tensor::from(batch_.target_output, {n_tokens}),
                                  {kSmoothing, 1.0 / static_cast<double>(n_tokens)})
            .loss;
    EXPECT_NEAR(loss.value().item(), stored("losses").to_vector<float>().front(), kTolerance);
    tape.backward(loss);
    for (const auto& parameter : model.parameters().parameters()) {
      if (is_running(parameter->path)) {
        EXPECT_FALSE(parameter->variable.has_grad()) << parameter->path;
        continue;
      }
      expect_close(parameter->variable.grad(), stored("grad." + parameter->path), "gradient of " + parameter->path);
    }
  }

  void expect_losses_of_ten_steps(models::Model& model, int workers) const {
    distributed::SingleProcess alone;
    training::DataParallel replicas(model, training::next_word_objective({.label_smoothing = kSmoothing}), {}, alone,
                                    {workers});
    const std::vector<float> losses = stored("losses").to_vector<float>();
    for (int step = 1; step <= kSteps; ++step) {
      const auto result = replicas.update(std::span(&batch_, 1), step, kLearningRate, 1);
      const double expected = losses[static_cast<size_t>(step - 1)];
      EXPECT_NEAR(result.sums.loss_per_token(), expected, kTolerance * expected)
          << "step " << step << " with " << workers << " workers";
    }
  }

  /// Compares how far ten steps moved each parameter. Parameters whose gradient is zero in theory (key biases, biases
  /// in front of a batch norm) follow rounding alone and are left out.
  void expect_movements(const models::Model& model) const {
    const tensor::HostView<float> digests(stored("movements"));
    size_t row = 0;
    for (const auto& [name, gradient] : stored_) {  // the map and the rows are in the order of the names
      if (!name.starts_with("grad.")) {
        continue;
      }
      const float* const expected = digests.data() + 3 * row++;
      if (is_rounding(gradient)) {
        continue;
      }
      const std::string path = name.substr(std::string("grad.").size());
      const auto seen = digest(stored("param." + path), model.parameters().find(path).variable.value());
      // An error of norm t changes the norm by at most t, and sums of n elements by at most √n t.
      const double tolerance = kTolerance * expected[0];
      const double of_sums = tolerance * std::sqrt(static_cast<double>(gradient.size()));
      EXPECT_NEAR(seen[0], expected[0], tolerance) << "norm of the movement of " << path;
      EXPECT_NEAR(seen[1], expected[1], of_sums) << "sum of the movement of " << path;
      EXPECT_NEAR(seen[2], expected[2], of_sums) << "weighted sum of the movement of " << path;
    }
    EXPECT_EQ(3 * row, digests.size());
  }

  /// Running statistics of batch norms, which gradients do not move. A bias in front of a batch norm has no gradient
  /// but rounding, of which Adam makes steps of the learning rate. Means follow such biases, of which the encoder has
  /// four; variances do not.
  void expect_running_values(const models::Model& model) const {
    for (const auto& parameter : model.parameters().parameters()) {
      if (!is_running(parameter->path)) {
        continue;
      }
      const Tensor &seen = parameter->variable.value(), &expected = stored("after." + parameter->path);
      if (parameter->path.ends_with("running_variance")) {
        expect_close(seen, expected, parameter->path);
        continue;
      }
      EXPECT_THAT(seen.to_vector<float>(),
                  testing::Pointwise(testing::FloatNear(4 * kSteps * kLearningRate), expected.to_vector<float>()))
          << parameter->path;
    }
  }

 private:
  static bool is_running(const std::string& path) { return path.find(".running_") != std::string::npos; }

  static bool is_rounding(const Tensor& gradient) {
    const tensor::HostView<float> values(gradient);
    return std::all_of(values.begin(), values.end(), [](float value) { return std::abs(value) < 1e-9F; });
  }

  /// Returns the norm of `end - start`, the sum of its elements, and their sum with the weights cos 0, cos 1, ...
  static std::array<double, 3> digest(const Tensor& start, const Tensor& end) {
    const tensor::HostView<float> from(start), to(end);
    double squares = 0.0, sum = 0.0, weighted = 0.0;
    for (size_t index = 0; index < from.size(); ++index) {
      const double movement = static_cast<double>(to.data()[index]) - from.data()[index];
      squares += movement * movement;
      sum += movement;
      weighted += movement * std::cos(static_cast<double>(index));
    }
    return {std::sqrt(squares), sum, weighted};
  }

  const Tensor& stored(const std::string& name) const {
    const auto found = stored_.find(name);
    if (found == stored_.end()) {
      throw std::runtime_error("the golden file has no " + name);
    }
    return found->second;
  }

  std::vector<int32_t> ids(const std::string& name) const { return stored(name).to_vector<int32_t>(); }

  tensor::NamedTensors stored_;
  data::Batch batch_;
};

}  // namespace dragoman
