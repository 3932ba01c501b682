#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/svg_heat_map.h"

namespace dragoman::report {

inline constexpr const char* kAttentionHistoryName = "attention.json";

/// The attention maps of one validation.
struct AttentionSet {
  int64_t step = 0;
  std::vector<HeatMap> maps;
};

/// The attention maps of a run, one set for each validation, in a file that a page can replay. The file holds at most
/// `kMostSets` sets: beyond that every second one is dropped, and the first and the newest stay.
///   [{"step":50,"maps":[{"title":"...","row_axis":"target","column_axis":"source","rows":["Das"],"columns":["The"],
///     "weights":[0.731]}]}]
/// Threads: one thread at a time.
class AttentionHistory {
 public:
  static constexpr size_t kMostSets = 96;

  /// Reads the sets of an earlier run up to `resume_step`; 0 starts with none. A damaged file counts as none, since the
  /// maps only decorate a run.
  AttentionHistory(std::filesystem::path path, int64_t resume_step);

  /// Adds a set and writes the file; a set without maps is left out. Throws: Error(kCannotWrite).
  void add(AttentionSet set);

  const std::vector<AttentionSet>& sets() const { return sets_; }

 private:
  std::filesystem::path path_;
  std::vector<AttentionSet> sets_;
};

/// Returns the JSON text of a history.
[[nodiscard]] std::string attention_sets_json(const std::vector<AttentionSet>& sets);
/// Reads the JSON text of a history. Throws: Error(kBadData) or a JSON error for a text of another form.
[[nodiscard]] std::vector<AttentionSet> parse_attention_sets(const std::string& text, const std::string& name);

}  // namespace dragoman::report
