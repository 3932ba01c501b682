#pragma once

#include <memory>

#include "training/objective.h"

namespace dragoman::training {

/// The objective of vectors of texts: each left text finds its right one among those of its group
/// (ops::contrastive_loss), and where the pairs have texts that are unlike their left ones, among those too. The loss
/// of an update is the mean over its pairs. Groups stand in the batch (data::PairGroups), so neither the number of
/// workers nor accumulation changes which texts are told apart. Requires: the model has no head, so that `forward`
/// gives vectors.
std::unique_ptr<Objective> contrastive_objective(const WholeTextOptions& options);

}  // namespace dragoman::training
