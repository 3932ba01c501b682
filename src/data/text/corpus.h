#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/text/text_file.h"

namespace dragoman::data {

/// The reason for which a pair of lines is dropped. The first applicable reason counts.
enum class DropReason {
  kSourceEmpty,    ///< only white space after normalisation
  kTargetEmpty,    ///< only white space on the target side
  kSourceTooLong,  ///< more pieces than the limit
  kTargetTooLong,
};
constexpr size_t kDropReasonCount = 4;

/// Returns the name of a reason in reports: "source empty".
const char* drop_reason_text(DropReason reason);

/// The counts of kept and dropped lines of a corpus. Invariant: read = kept + the sum of dropped.
struct CorpusStatistics {
  uint64_t read = 0;  ///< pairs of lines
  uint64_t kept = 0;
  std::array<uint64_t, kDropReasonCount> dropped{};      ///< by DropReason
  std::array<std::string, kDropReasonCount> examples{};  ///< first pair of each reason: "train.en:17"
  uint64_t repaired_source = 0;                          ///< used lines with repaired UTF-8 or NUL
  uint64_t repaired_target = 0;
  uint64_t source_tokens = 0;  ///< pieces of the kept lines, eos included
  uint64_t target_tokens = 0;

  void drop(DropReason reason, const std::string& example);
  uint64_t dropped_total() const;

  /// Adds the counts of the lines behind the lines counted here.
  void add(const CorpusStatistics& later);

  /// Convert the counts to JSON text and back, for the sum over processes.
  std::string to_json() const;
  static CorpusStatistics from_json(const std::string& text);

  /// Returns the counts as lines of text, without a final LF:
  ///   corpus: 29000 pairs of lines read, 28990 kept, 10 dropped
  ///   corpus: 10 dropped: source empty (first: train.en:17)
  std::string report() const;
};

/// A parallel text: line n of the source files and line n of the target files are translations of each other. Several
/// files are concatenated in the given order. Memory: 8 bytes a line and side. Requires: the files do not change during
/// use. Threads: any number.
class ParallelCorpus {
 public:
  /// Indexes all files and compares the line counts.
  /// Throws: Error(kBadData) as LineIndex, or for unequal counts, "train.en has 100 lines, train.de has 99; line n of
  /// one must translate line n of the other"; Error(kUsage) for no files or unequal numbers of files.
  ParallelCorpus(const std::vector<std::filesystem::path>& sources, const std::vector<std::filesystem::path>& targets);

  uint64_t size() const { return starts_.back(); }  ///< pairs of lines
  uint64_t bytes() const;                           ///< approximate size of all files

  CleanLine source(uint64_t line) const { return read(sources_, line); }
  CleanLine target(uint64_t line) const { return read(targets_, line); }

  /// Return the bytes of a line without reading the file.
  uint64_t source_bytes(uint64_t line) const { return line_bytes(sources_, line); }
  uint64_t target_bytes(uint64_t line) const { return line_bytes(targets_, line); }

  /// Returns the source file and the 1-based line: "train.en:17".
  std::string place(uint64_t line) const;

  /// Reads all texts and returns the SHA-256 hash of their hashes in hexadecimal digits, whether they are compressed or
  /// not. A resumed run compares it to refuse other data.
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
