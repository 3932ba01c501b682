#pragma once

#include "cuda/op_cases.h"
#include "ops/batch_norm.h"
#include "ops/columns.h"
#include "ops/contrastive_loss.h"
#include "ops/matmul.h"
#include "ops/neighbours.h"
#include "ops/recurrent_cases.h"
#include "ops/reshape.h"
#include "ops/scan.h"
#include "ops/text_vectors.h"
#include "ops/weight_norm.h"

namespace dragoman::test_support {

/// Ops of inner layers, heads and losses.
inline std::vector<OpCase> shape_cases() {
  return {
      {"activation", {{7, 29}}, [](const Variables& in) { return ops::activation(in[0], kernels::Activation::kTanh); }},
      {"concatenate_columns",
       {{9, 5}, {9, 8}},
       [](const Variables& in) { return ops::concatenate_columns(in[0], in[1]); }},
      {"widen_heads", {{9, 12}}, [](const Variables& in) { return ops::widen_heads(in[0], 4, 8); }},
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

/// Layers and attention of both cells, scores and directions, over sentences of 3, 1 and 4 rows with sources of 2, 3
/// and 1 rows. Some read a part of the inputs of their case.
inline std::vector<OpCase> recurrent_cases() {
  using kernels::CellKind, kernels::ScoreKind, ops::Direction;
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& name, const std::vector<Tensor>& inputs, const ops::Function& run) {
    cases.push_back({name, {}, run});
    for (const Tensor& input : inputs) {
      cases.back().inputs.push_back(input.shape());
    }
  };
  for (const CellKind cell : {CellKind::kGru, CellKind::kLstm}) {
    const std::string of_cell = ", " + std::string(kernels::name_of(cell));
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      const ops::RecurrentCase of{.cell = cell, .direction = direction};
      const char* const way = direction == Direction::kForward ? "" : ", backward";
      add("recurrent_layer" + of_cell + way, of.layer_inputs(), of.layer());
    }
    for (const ScoreKind score : {ScoreKind::kAdditive, ScoreKind::kMultiplicative}) {
      const ops::RecurrentCase of{.cell = cell, .score = score};
      const std::string kinds = of_cell + (score == ScoreKind::kAdditive ? ", additive" : ", multiplicative");
      add("attentive_layer" + kinds, of.attentive_inputs(), of.attentive());
      add("input_feeding_layer" + kinds, of.feeding_inputs(), of.feeding());
    }
  }
  const ops::RecurrentCase of;
  for (const ScoreKind score : {ScoreKind::kAdditive, ScoreKind::kMultiplicative}) {
    const bool is_additive = score == ScoreKind::kAdditive;
    cases.push_back({is_additive ? "source_attention, additive" : "source_attention, multiplicative",
                     {{of.rows(), of.keys}, {of.sources.back(), of.keys}, {of.sources.back(), of.context}, {of.keys}},
                     [=](const Variables& in) {
                       const auto memory = ops::source_memory(score, in[1], in[2], tensor::host_tensor(of.sources));
                       return ops::source_attention(in[0], tensor::host_tensor(of.offsets), memory,
                                                    is_additive ? in[3] : Variable());
                     }});
  }
  return cases;
}

/// Every op that is not among all_cases().
inline std::vector<OpCase> more_cases() {
  std::vector<OpCase> cases = shape_cases();
  for (const auto& group : {norm_and_scan_cases(), recurrent_cases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

}  // namespace dragoman::test_support
