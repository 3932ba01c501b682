#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "study/steps.h"

namespace dragoman::study {

/// What ends a training, and what its model can do, as its options and its preset say.
struct TrainingLimits {
  double total_minutes = 0.0;  ///< 0 = no limit
  int64_t max_steps = 0;
  bool attends = true;  ///< whether the decoder sees the source by attention
};

/// Reads the options of a training, "train", "--preset=tiny", ..., with the names of its texts.
/// @param texts_are_there  false: some are copies that the study will make, or made by earlier stages, and stand under
/// their names in the study
/// Throws: Error(kUsage) for options that do not fit.
using LimitsOf = std::function<TrainingLimits(const std::vector<std::string>& arguments, bool texts_are_there)>;

/// Seconds of an update by stage, in a row. Stages that were not measured are missing.
using UpdateSeconds = std::map<std::string, double>;

/// How long the trainings of one cell of a row take. NaN = not known: the updates are limited, and not measured.
struct Forecast {
  const Row* row = nullptr;
  double minutes = 0.0;
};

/// Returns: what ends the training of a stage. Throws: as `limits_of`, with the place of the row, the row and the stage
/// in front: "trial.yaml: line 12: row plain, stage model: --n-heads does not belong to ...".
TrainingLimits limits_of_stage(const Study& study, const Row& row, const Stage& stage, const LimitsOf& limits_of);

/// Returns the forecast of a row. Translating and scoring come on top. Patience may end a training before.
/// Throws: as limits_of_stage. So it is a check of the options of all trainings too.
Forecast forecast(const Study& study, const Row& row, const LimitsOf& limits_of, const UpdateSeconds& measured);

/// Trains a stage of a row for some seconds in a scratch folder, which is removed again. Returns: seconds of an update,
/// or NaN if the training failed. Texts of earlier stages are replaced by the given ones; of the validation texts only
/// the first lines are read.
double measure_update(const Study& study, const Row& row, const Stage& stage, const std::filesystem::path& scratch,
                      double seconds, const Program& program);

}  // namespace dragoman::study
