#pragma once

#include "cuda/op_cases.h"
#include "kernels/recurrent.h"
#include "ops/batch_norm.h"
#include "ops/columns.h"
#include "ops/contrastive_loss.h"
#include "ops/matmul.h"
#include "ops/neighbours.h"
#include "ops/recurrent.h"
#include "ops/reshape.h"
#include "ops/scan.h"
#include "ops/source_attention.h"
#include "ops/text_vectors.h"
#include "ops/weight_norm.h"

namespace dragoman::test_support {

/// Ops of inner layers, heads and losses: a GPU has them or refuses them by name.
inline std::vector<OpCase> shape_cases() {
  return {
      {"activation", {{7, 29}}, [](const Variables& in) { return ops::activation(in[0], kernels::Activation::kTanh); }},
      {"concatenate_columns",
       {{9, 5}, {9, 8}},
       [](const Variables& in) { return ops::concatenate_columns(in[0], in[1]); }},
      {"reshape",
       {{6, 8}},
       [](const Variables& in) {
         return ops::reshape(in[0], {3, 16});
       }},
      {"scale", {{6, 8}}, [](const Variables& in) { return ops::scale(in[0], -0.75); }},
      {"widened", {{6, 8}}, [](const Variables& in) { return ops::widened(in[0]); }},
      {"mean", {{6, 8}}, [](const Variables& in) { return ops::mean(in[0]); }},
      {"select_rows", {{11, 24}}, [](const Variables& in) { return ops::select_rows(in[0], ids_below(11, 20)); }},
      {"neighbours",
       {{12, 7}},
       [](const Variables& in) {
         return ops::neighbours(in[0], offsets_of({5, 0, 7}), 2, 1);
       }},
      {"linear_activation",
       {{19, 16}, {16, 24}, {24}},
       [](const Variables& in) { return ops::linear_activation(in[0], in[1], in[2], kernels::Activation::kGelu); }},
      {"linear_each",
       {{19, 16}, {16, 24}, {24}, {16, 8}},
       [](const Variables& in) {
         const std::vector<ops::LinearMap> maps{{in[1], in[2]}, {in[3], {}}};
         const Variables results = ops::linear_each(in[0], maps);
         return ops::concatenate_columns(results[0], results[1]);
       }},
      {"matmul",
       {{5, 9}, {7, 9}},
       [](const Variables& in) {
         return ops::matmul(in[0], kernels::Transpose::kNo, in[1], kernels::Transpose::kYes);
       }},
      {"unit_rows", {{6, 8}}, [](const Variables& in) { return ops::unit_rows(in[0]); }},
      {"mean_of_texts",
       {{12, 7}},
       [](const Variables& in) {
         return ops::mean_of_texts(in[0], offsets_of({5, 1, 6}));
       }},
      {"contrastive_loss", {{6, 8}, {6, 8}}, [](const Variables& in) {
         const std::vector<int32_t> groups{0, 4, 6};
         return ops::contrastive_loss(in[0], in[1], groups, {}).loss;
       }}};
}

inline std::vector<OpCase> norm_and_scan_cases() {
  return {
      {"batch_norm", {{30, 6}, {6}, {6}}, [](const Variables& in) { return ops::batch_norm(in[0], in[1], in[2], {}); }},
      {"weight_norm",
       {{30, 6}, {8, 6}, {6}, {6}},
       [](const Variables& in) {
         return ops::weight_norm(in[0], {in[1], in[2], {}}, in[3]);
       }},
      {"running_norm",
       {{30, 6}, {6}, {6}},
       [](const Variables& in) {
         return ops::running_norm(in[0], in[1], in[2], tensor::Tensor::full({6}, 0.25), tensor::Tensor::full({6}, 0.7),
                                  1e-5F);
       }},
      {"scan", {{12, 7}, {12, 7}}, [](const Variables& in) {
         return ops::scan(in[0], in[1], offsets_of({5, 0, 7}));
       }}};
}

/// GRU layers of width 3 over sentences of 3, 1 and 4 rows, with sources of 2, 3 and 1 rows.
inline std::vector<OpCase> recurrent_cases() {
  constexpr int64_t kWidth = 3, kGates = 3 * kWidth, kContext = 4, kKeys = 5, kFed = 2;
  const std::vector<Shape> layer{{8, kGates}, {kWidth, kGates}, {kGates}, {3, kWidth}};
  std::vector<Shape> attentive = layer, feeding;
  const std::vector<Shape> of_source{{6, kKeys}, {6, kContext}, {kContext, kGates}, {kWidth, kKeys}, {kKeys}};
  attentive.insert(attentive.end(), of_source.begin(), of_source.end());
  feeding = attentive;
  feeding[6] = {kFed, kGates};
  feeding.insert(feeding.end(), {{kContext + kWidth, kFed}, {kFed}, {3, kFed}});
  const auto memory = [](const Variable& keys, const Variable& values) {
    return ops::source_memory(ops::ScoreKind::kAdditive, keys, values, offsets_of({2, 3, 1}));
  };
  const auto weights = [](const Variables& in) {
    return ops::AttentiveWeights{{kernels::CellKind::kGru, in[1], in[2]}, in[6], in[7], in[8], {Variable()}, {}};
  };
  return {
      {"recurrent_layer", layer,
       [](const Variables& in) {
         return ops::recurrent_layer(in[0], offsets_of({3, 1, 4}), {kernels::CellKind::kGru, in[1], in[2]}, {in[3], {}},
                                     ops::Direction::kForward);
       }},
      {"attentive_layer", attentive,
       [=](const Variables& in) {
         return ops::attentive_layer(in[0], offsets_of({3, 1, 4}), weights(in), memory(in[4], in[5]), {in[3], {}});
       }},
      {"input_feeding_layer", feeding,
       [=](const Variables& in) {
         ops::AttentiveWeights all = weights(in);
         all.combine = in[9];
         all.combine_bias = in[10];
         return ops::input_feeding_layer(in[0], offsets_of({3, 1, 4}), all, memory(in[4], in[5]), {in[3], {}}, in[11]);
       }},
      {"source_attention", {{8, kKeys}, {6, kKeys}, {6, kContext}, {kKeys}}, [=](const Variables& in) {
         return ops::source_attention(in[0], offsets_of({3, 1, 4}), memory(in[1], in[2]), in[3]);
       }}};
}

}  // namespace dragoman::test_support
