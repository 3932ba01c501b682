#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "report/append_file.h"

namespace dragoman::report {

/// A writer of an event file for TensorBoard: events.out.tfevents.<seconds>.<host>.<process>.v2. Each file begins with
/// a session start. In a resumed run this record makes TensorBoard discard the later steps of older files, so that no
/// part of a curve appears twice. Each call writes one record and returns after the system has accepted it. Threads:
/// one thread at a time. Source: TensorFlow, core/util/event.proto and core/framework/{summary,tensor}.proto.
class TensorBoardWriter {
 public:
  /// Creates a new event file in `folder`. Its name sorts after the existing event files.
  /// @param resume_step  the last valid step of older files; 0 for a new run
  /// Throws: Error(kCannotWrite).
  TensorBoardWriter(const std::filesystem::path& folder, int64_t resume_step);

  /// Writes one point of a curve as float32. The part of `tag` before "/" is its group: "train/loss",
  /// "validation/bleu".
  void scalar(std::string_view tag, int64_t step, double value);

  /// Writes a text for the "Text" tab. TensorBoard reads it as Markdown and removes unsafe HTML.
  void text(std::string_view tag, int64_t step, std::string_view markdown);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace dragoman::report
