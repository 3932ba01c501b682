#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "report/append_file.h"

namespace dragoman::report {

/// Writes an event file that TensorBoard opens: events.out.tfevents.<seconds>.<host>.<process>.v2.
/// Each file opens with a session start; the one of a run that goes on tells TensorBoard to forget what older files
/// hold of later steps, so that no curve shows a stretch twice. Each call is one record, handed to the system before it
/// returns. Not thread safe. Source of the messages: TensorFlow, core/util/event.proto and
/// core/framework/{summary,tensor}.proto.
class TensorBoardWriter {
 public:
  /// Creates a new event file in `folder`, named so that it sorts after the ones already there.
  /// @param resume_step  the last step that stays; 0 = a new run.
  /// Throws Error(kCannotWrite).
  TensorBoardWriter(const std::filesystem::path& folder, int64_t resume_step);

  /// One point of a curve. `tag` groups by its part before "/": "train/loss", "validation/bleu". Stored as float32.
  void scalar(std::string_view tag, int64_t step, double value);

  /// A text for the "Text" tab; TensorBoard reads it as Markdown and removes unsafe HTML.
  void text(std::string_view tag, int64_t step, std::string_view markdown);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace dragoman::report
