#pragma once

#include <cstdint>
#include <memory>

#include "training/task.h"

namespace dragoman::training {

/// Seed of the spans of validation texts, which are drawn once. No training text has it.
inline constexpr uint64_t kValidationSpanSeed = 0x7a11d;

/// Throws: Error(kUsage) without text, with source or target, or with two vocabularies.
void check_text_to_text(const TrainOptions& options);

/// A task of an encoder-decoder with one vocabulary: the decoder writes the spans that were cut out of running text
/// (data/span_corruption.h). Files: text and valid_text, as of a language model.
/// Requires: check_text_to_text.
[[nodiscard]] std::unique_ptr<Task> make_span_corruption_task(const TrainOptions& options);

/// A task of an encoder-decoder with one vocabulary: text from text (data/tab_pairs.h). Several tasks are told apart by
/// the prefix of the input. Files: text and valid_text, lines of INPUT TAB TARGET.
[[nodiscard]] std::unique_ptr<Task> make_text_to_text_task(const TrainOptions& options);

}  // namespace dragoman::training
