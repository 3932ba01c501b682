#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/study.h"

namespace dragoman::study {

/// Returns what is to be said of the models and of the files of options that a study is given for `rows` and that are
/// not there, with what to try: "study student: the model teacher is studies/first/base/seed-1/model, where no
/// model.safetensors is; it is of the study first, run that first".
std::vector<std::string> absent_files(const Study& study, std::span<const Row* const> rows);

/// Checks, before any training, that the texts and tests which a study is given fit: parts have their lines and
/// columns, and a source has the lines of its target. Throws: Error(kUsage), "study trial: test news: en.txt has 80
/// lines, de.txt 50; they must translate each other line by line"; as read_part.
void check_given(const Study& study);

}  // namespace dragoman::study
