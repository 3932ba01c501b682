#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/linear_cross_entropy.h"
#include "ops/residual.h"
#include "ops/rotation.h"
#include "ops/row_dropout.h"
#include "ops/softmax.h"
#include "ops/two_pass_cross_entropy.h"
#include "support/cuda_device.h"
#include "support/tensors.h"
#include "tensor/transfer.h"

namespace dragoman::test_support {

using autograd::Variable;
using Variables = std::vector<Variable>;

/// An op with inputs, which is run on two devices.
struct OpCase {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Variable(const Variables&)> run;
};

/// The result of an op and the gradients of its inputs, in host memory: zero for an input that the op does not read.
struct OpOutcome {
  Tensor value;
  std::vector<Tensor> gradients;
};

/// Runs an op on the current device, with inputs and a gradient that depend on the case alone.
inline OpOutcome outcome_of(const OpCase& test) {
  const auto on_device = [](const Shape& shape, uint64_t seed) {
    const auto on_host = [&] {
      const tensor::HostScope scope;
      return random_tensor(shape, DType::kFloat32, seed);
    };
    return tensor::to_current_device(on_host());
  };
  Variables inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    inputs.emplace_back(on_device(test.inputs[i], i + 1), true);
  }
  autograd::Tape tape;
  Variable output;
  {
    const autograd::TapeScope scope(&tape);
    output = test.run(inputs);
  }
  OpOutcome outcome{tensor::to_host(output.value()), {}};
  tape.backward_from(output, output.value().rank() == 0 ? Tensor::full({}, 1.0) : on_device(output.shape(), 77));
  for (const Variable& input : inputs) {
    const tensor::HostScope on_host;
    outcome.gradients.push_back(input.has_grad() ? tensor::to_host(input.grad()) : Tensor::zeros(input.shape()));
  }
  return outcome;
}

/// Expects that the op gives on a GPU, or on its emulation, what it gives on the CPU: value and gradients.
inline void expect_agreement(const OpCase& test, double tolerance) {
  const OpOutcome expected = outcome_of(test);
  const OnCuda device;
  const OpOutcome seen = outcome_of(test);
  EXPECT_TRUE(close(seen.value, expected.value, tolerance)) << test.name;
  for (size_t input = 0; input < expected.gradients.size(); ++input) {
    EXPECT_TRUE(close(seen.gradients[input], expected.gradients[input], tolerance))
        << test.name << ", gradient of input " << input;
  }
}

inline Tensor offsets_of(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> ends{0};
  for (const int32_t length : lengths) {
    ends.push_back(ends.back() + length);
  }
  return tensor::host_tensor(ends);
}

inline Tensor ids_below(int64_t limit, int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<int32_t>((i * i * 7 + i) % limit));
  }
  return tensor::host_tensor(ids);
}

inline kernels::Dropout some_dropout(float probability = 0.3F) {
  return {probability, 0x123456789ABCDEFULL, 5, 17, 3};
}

/// An attention over sentences with these lengths; key_lengths equal lengths if it is causal.
inline OpCase attention_case(const std::string& name, const std::vector<int32_t>& lengths,
                             const std::vector<int32_t>& key_lengths, const kernels::AttentionOptions& options,
                             int64_t width, int64_t value_width, bool masked = false) {
  const Tensor queries = offsets_of(lengths), keys = offsets_of(key_lengths);
  const int64_t n_queries = queries.to_vector<int32_t>().back(), n_keys = keys.to_vector<int32_t>().back();
  kernels::AttentionBounds bounds{queries, keys, {}};
  if (masked) {
    const tensor::HostScope on_host;
    bounds.key_mask = Tensor::full({n_keys}, 1.0, DType::kBool);
    for (int64_t key = 0; key < n_keys; key += 3) {
      bounds.key_mask.data<bool>()[key] = false;
    }
  }
  const int64_t key_width = width / options.n_heads * kernels::n_kv_heads(options);
  return {name,
          {{n_queries, width}, {n_keys, key_width}, {n_keys, value_width}},
          [bounds, options](const Variables& in) { return ops::attention(in[0], in[1], in[2], bounds, options); }};
}

/// An attention with relative positions, whose bias is an input.
inline OpCase biased_attention_case(const std::string& name, const std::vector<int32_t>& lengths,
                                    const std::vector<int32_t>& key_lengths, const kernels::AttentionOptions& options,
                                    int64_t width) {
  const int64_t key_width = width / options.n_heads * kernels::n_kv_heads(options);
  OpCase test = attention_case(name, lengths, key_lengths, options, width, key_width);
  const ops::RelativeBuckets buckets{.count = 8, .max_distance = 20, .both_sides = !options.causal};
  const kernels::AttentionBounds bounds{offsets_of(lengths), offsets_of(key_lengths), {}};
  test.inputs.push_back({buckets.count, options.n_heads});
  test.run = [=](const Variables& in) {
    return ops::attention(in[0], in[1], in[2], bounds, options, {in[3], buckets});
  };
  return test;
}

/// Attention of decoder-only models and of T5.
inline std::vector<OpCase> more_attention_cases() {
  const std::vector<int32_t> lengths{5, 1, 0, 33, 70, 2}, others{7, 3, 2, 70, 0, 1};
  const kernels::AttentionOptions grouped{.n_heads = 6, .causal = true, .n_kv_heads = 2};
  const kernels::AttentionOptions windowed{.n_heads = 2, .causal = true, .window = 9};
  kernels::AttentionOptions both{.n_heads = 2, .causal = true, .n_kv_heads = 1, .window = 35};
  both.dropout = some_dropout(0.2F);
  const kernels::AttentionOptions scaled{.n_heads = 2, .scale = 1.0F}, causal{.n_heads = 3, .causal = true};
  return {attention_case("grouped attention", lengths, lengths, grouped, 24, 12),
          attention_case("grouped cross attention", lengths, others, {.n_heads = 4, .n_kv_heads = 1}, 16, 8),
          attention_case("attention with a window", lengths, lengths, windowed, 16, 16),
          attention_case("grouped attention with a window and dropout", lengths, lengths, both, 16, 8),
          attention_case("attention with another scale", lengths, others, scaled, 16, 16),
          biased_attention_case("attention with relative positions", lengths, lengths, scaled, 8),
          biased_attention_case("causal attention with relative positions", lengths, lengths, causal, 12),
          biased_attention_case("grouped attention with relative positions", lengths, lengths, grouped, 24)};
}

inline std::vector<OpCase> attention_cases() {
  const std::vector<int32_t> lengths{5, 1, 0, 33, 40, 2}, others{7, 3, 2, 70, 0, 1};
  kernels::AttentionOptions plain{.n_heads = 2}, causal{.n_heads = 2, .causal = true}, wide{.n_heads = 1};
  kernels::AttentionOptions dropped = plain, causal_dropped = causal;
  dropped.dropout = causal_dropped.dropout = some_dropout(0.2F);
  return {attention_case("attention", lengths, lengths, plain, 16, 16),
          attention_case("causal attention", lengths, lengths, causal, 16, 16),
          attention_case("cross attention", lengths, others, plain, 12, 20),
          attention_case("masked attention", lengths, others, plain, 16, 16, true),
          attention_case("attention with dropout", lengths, others, dropped, 16, 16),
          attention_case("causal attention with dropout", lengths, lengths, causal_dropped, 16, 16),
          attention_case("attention of wide heads", {3, 34}, {2, 5}, wide, 128, 100)};
}

inline std::vector<OpCase> row_cases() {
  using kernels::Activation;
  std::vector<OpCase> cases{
      {"softmax", {{5, 37}}, [](const Variables& in) { return ops::softmax(in[0]); }},
      {"log_softmax", {{5, 300}}, [](const Variables& in) { return ops::log_softmax(in[0]); }},
      {"layer_norm",
       {{70, 37}, {37}, {37}},
       [](const Variables& in) { return ops::layer_norm(in[0], in[1], in[2], 1e-5F); }},
      {"layer_norm of many rows",
       {{300, 260}, {260}, {260}},
       [](const Variables& in) { return ops::layer_norm(in[0], in[1], in[2], 1e-5F); }},
      {"residual_dropout",
       {{9, 40}, {9, 40}},
       [](const Variables& in) { return ops::residual_dropout(in[0], in[1], some_dropout()); }},
      {"residual_dropout_layer_norm",
       {{41, 72}, {41, 72}, {72}, {72}},
       [](const Variables& in) {
         return ops::residual_dropout_layer_norm(in[0], in[1], in[2], in[3], 1e-5F, some_dropout());
       }},
      {"residual_layer_norm",
       {{3, 520}, {3, 520}, {520}, {520}},
       [](const Variables& in) {
         return ops::residual_dropout_layer_norm(in[0], in[1], in[2], in[3], 1e-5F, some_dropout(0.0F));
       }},
      {"layer_norm without bias",
       {{70, 37}, {37}},
       [](const Variables& in) { return ops::layer_norm(in[0], in[1], {}, 1e-5F); }},
      {"rms_norm", {{70, 37}, {37}}, [](const Variables& in) { return ops::rms_norm(in[0], in[1], 1e-5F); }},
      {"rms_norm of wide rows",
       {{9, 600}, {600}},
       [](const Variables& in) { return ops::rms_norm(in[0], in[1], 1e-5F); }},
      {"head_rms_norm", {{70, 36}, {12}}, [](const Variables& in) { return ops::head_rms_norm(in[0], in[1], 1e-5F); }},
      {"residual_dropout_rms_norm",
       {{41, 72}, {41, 72}, {72}},
       [](const Variables& in) { return ops::residual_dropout_rms_norm(in[0], in[1], in[2], 1e-5F, some_dropout()); }},
      {"rotate",
       {{20, 42}},
       [](const Variables& in) {
         return ops::rotate(in[0], ids_below(9, 20), tensor::to_current_device(ops::rotation_table(9, 14, 1e4)));
       }},
      {"embedding", {{11, 24}}, [](const Variables& in) { return ops::embedding(in[0], ids_below(11, 50), 3.0F); }},
      {"add_positions",
       {{20, 24}, {9, 24}},
       [](const Variables& in) { return ops::add_positions(in[0], in[1], ids_below(9, 20)); }},
  };
  for (const Activation activation :
       {Activation::kRelu, Activation::kGelu, Activation::kSilu, Activation::kGeluTanh, Activation::kReluSquared}) {
    cases.push_back({std::string(base::name_of(activation)), {{7, 29}}, [activation](const Variables& in) {
                       return ops::activation_dropout(in[0], activation, some_dropout());
                     }});
    cases.push_back({"gated " + cases.back().name, {{7, 29}, {7, 29}}, [activation](const Variables& in) {
                       return ops::gated_activation(in[0], in[1], activation, some_dropout());
                     }});
  }
  return cases;
}

inline std::vector<OpCase> product_cases() {
  return {{"linear", {{19, 37}, {37, 50}, {50}}, [](const Variables& in) { return ops::linear(in[0], in[1], in[2]); }},
          {"linear, weight stored transposed",
           {{40, 64}, {33, 64}, {33}},
           [](const Variables& in) { return ops::linear(in[0], in[1], in[2], kernels::Transpose::kYes); }},
          {"linear with ReLU",
           {{19, 37}, {37, 50}, {50}},
           [](const Variables& in) { return ops::linear_activation(in[0], in[1], in[2], kernels::Activation::kRelu); }},
          {"elementwise",
           {{6, 7}, {6, 7}, {1}},
           [](const Variables& in) {
             return ops::multiply(ops::exp(ops::subtract(ops::square(in[0]), in[1])), ops::add(in[0], in[2]));
           }},
          {"sum", {{300, 11}}, [](const Variables& in) { return ops::sum(in[0]); }}};
}

inline std::vector<OpCase> loss_cases() {
  const kernels::LossOptions options{.label_smoothing = 0.1F, .gradient_scale = 0.25};
  const kernels::TwoPassOptions rdrop{options, 5.0}, simcut{options, 3.0, kernels::TwoPassLoss::kSimCut};
  return {{"cross_entropy",
           {{23, 301}},
           [=](const Variables& in) { return ops::cross_entropy(in[0], ids_below(301, 23), options); }},
          {"cross_entropy of many classes",
           {{3, 5003}},
           [=](const Variables& in) { return ops::cross_entropy(in[0], ids_below(5003, 3), options); }},
          {"linear_cross_entropy",
           {{23, 16}, {301, 16}, {301}},
           [=](const Variables& in) {
             return ops::linear_cross_entropy(in[0], in[1], in[2], ids_below(301, 23), options).loss;
           }},
          {"two_pass_cross_entropy of R-Drop",
           {{23, 16}, {23, 16}, {301, 16}, {301}},
           [=](const Variables& in) {
             return ops::two_pass_cross_entropy(in[0], in[1], in[2], in[3], ids_below(301, 23), rdrop).loss;
           }},
          {"two_pass_cross_entropy of SimCut", {{23, 16}, {23, 16}, {301, 16}, {301}}, [=](const Variables& in) {
             return ops::two_pass_cross_entropy(in[0], in[1], in[2], in[3], ids_below(301, 23), simcut).loss;
           }}};
}

/// Every differentiable op that a GPU has.
inline std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases;
  for (const auto& group : {product_cases(), row_cases(), loss_cases(), attention_cases(), more_attention_cases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

}  // namespace dragoman::test_support
