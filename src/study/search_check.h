#pragma once

#include "study/forecast.h"

namespace dragoman::study {

/// Checks options of `translate` that need each other or something of the model, which would be noticed when the
/// trainings are over.
/// @param model  that translates: a stage, or one of Study::models
/// @param place  "trial.yaml: line 12: the search paper", for errors
/// Throws: Error(kUsage), "trial.yaml: line 12: the search paper: --beam-size is 1, and --reverse-model chooses ...".
void check_search(const Study& study, const std::string& model, const OptionList& options, const std::string& place);

/// Checks the options of a stage that translates, in a row, as check_search does, and that it writes one translation of
/// each line. @param place  "trial.yaml: line 12: row plain, stage taught"
void check_text_stage(const Study& study, const Row& row, const Stage& stage, const std::string& place);

/// Checks that no search of a row, or stage of text, has a coverage penalty where its model sees the source without
/// attention. Throws: Error(kUsage).
void check_attention(const Study& study, const Row& row, const LimitsOf& limits_of);

}  // namespace dragoman::study
