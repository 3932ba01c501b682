#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/text/text_file.h"

namespace dragoman::data {

/// Why a pair of lines is left out. The first rule that applies counts, in this order.
enum class DropReason {
  kSourceEmpty,    ///< nothing but white space (after normalisation), whatever the target
  kTargetEmpty,    ///< the same on the target side
  kSourceTooLong,  ///< more pieces than the limit
  kTargetTooLong,
};
constexpr size_t kDropReasonCount = 4;

const char* drop_reason_text(DropReason reason);

/// What happened to the lines of a corpus. read = kept + the sum of dropped, always.
struct CorpusStatistics {
  uint64_t read = 0;  ///< pairs of lines
  uint64_t kept = 0;
  std::array<uint64_t, kDropReasonCount> dropped{};      ///< by DropReason
  std::array<std::string, kDropReasonCount> examples{};  ///< first pair dropped for it: "train.en:17"
  uint64_t repaired_source = 0;                          ///< lines with invalid UTF-8 or NUL, repaired and used
  uint64_t repaired_target = 0;
  uint64_t source_tokens = 0;  ///< pieces of the kept lines, eos included
  uint64_t target_tokens = 0;

  void drop(DropReason reason, const std::string& example);
  uint64_t dropped_total() const;

  /// Appends the counts of the lines that follow those counted here.
  void add(const CorpusStatistics& later);

  /// For another process, which adds them up.
  std::string to_json() const;
  static CorpusStatistics from_json(const std::string& text);

  /// One line a fact, without a final LF:
  ///   corpus: 29000 pairs of lines read, 28990 kept, 10 dropped
  ///   corpus: 10 dropped: source empty (first: train.en:17)
  std::string report() const;
};

/// Source and target files whose line n translate each other; several files count as one, in the order given.
/// Memory: 8 bytes a line and side. Safe for use by any number of threads. The files must not change while in use.
class ParallelCorpus {
 public:
  /// Indexes all files and compares the line counts before anything else is done.
  /// Throws Error(kBadData): a file as in LineIndex; unequal counts: "train.en has 100 lines, train.de has 99; line n
  /// of one must translate line n of the other". Error(kUsage): a different number of files, or none.
  ParallelCorpus(const std::vector<std::filesystem::path>& sources, const std::vector<std::filesystem::path>& targets);

  uint64_t size() const { return starts_.back(); }  ///< pairs of lines
  uint64_t bytes() const;                           ///< of all files, roughly

  CleanLine source(uint64_t line) const { return read(sources_, line); }
  CleanLine target(uint64_t line) const { return read(targets_, line); }

  /// Length of a line, without reading it.
  uint64_t source_bytes(uint64_t line) const { return line_bytes(sources_, line); }
  uint64_t target_bytes(uint64_t line) const { return line_bytes(targets_, line); }

  /// "train.en:17": the source file and the 1-based line in it.
  std::string place(uint64_t line) const;

  /// SHA-256 over the contents of all files in order, in hexadecimal: a run resumed on other data is refused.
  /// Reads every file.
  std::string fingerprint() const;

 private:
  CleanLine read(const std::vector<LineIndex>& files, uint64_t line) const;
  uint64_t line_bytes(const std::vector<LineIndex>& files, uint64_t line) const;
  size_t file_of(uint64_t line) const;

  std::vector<LineIndex> sources_;
  std::vector<LineIndex> targets_;
  std::vector<uint64_t> starts_{0};  // [files + 1]: the first line of each pair of files
};

}  // namespace dragoman::data
