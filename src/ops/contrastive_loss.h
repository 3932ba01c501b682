#pragma once

#include <span>

#include "ops/linear_cross_entropy.h"

namespace dragoman::ops {

/// How pairs are told apart.
struct ContrastiveOptions {
  double temperature = 0.05;    ///< > 0; a cosine is divided by it
  double gradient_scale = 1.0;  ///< factor on the loss
};

/// Computes how well each left vector finds its right one among those of its group (InfoNCE with negatives of the
/// batch):
///   loss = gradient_scale * sum_i -log( exp(cos(l_i, r_i) / t) / sum_{j in group of i} exp(cos(l_i, r_j) / t) )
/// A group of one pair has the loss 0. Groups do not see each other, so the loss of a batch is the sum over any parts
/// of it that hold whole groups. With `candidates` the vectors of `right` are C >= P: those of group g are rows
/// candidates[g] to candidates[g + 1] - 1, first the right ones of its pairs, then texts that none of them may find
/// (hard negatives), over which the sum goes too:
///   sum_{j in group} exp(cos(l_i, r_j) / t) + sum_{k in group} exp(cos(l_i, n_k) / t)
/// @param left  [P, D] float32 or float64, of any length;  @param right  [P, D] or [C, D]
/// @param groups  [G + 1], offsets of the groups;  @param candidates  [G + 1]; empty: those of `groups`
/// @return `nll` = loss / gradient_scale; `correct`: pairs whose cosine is the largest of its row, the first of equals
/// Gradients: left, right. The gradient that arrives at the loss must be 1, as for linear_cross_entropy.
/// Throws: Error, "contrastive_loss: right is [3, 8], must be [4, 8]"; "contrastive_loss: temperature is 0, must be
/// above 0 and finite"; "contrastive_loss: group 1 has 2 candidates for 3 pairs".
/// Source: van den Oord et al. 2018, "Representation Learning with Contrastive Predictive Coding", eq. (4); Gao et al.
/// 2021, "SimCSE", eq. (1) and (4).
LossResult contrastive_loss(const Variable& left, const Variable& right, std::span<const int32_t> groups,
                            const ContrastiveOptions& options, std::span<const int32_t> candidates = {});

}  // namespace dragoman::ops
