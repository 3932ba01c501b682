#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::report {

/// The name of the file with the sample translations of the training, in a model folder.
inline constexpr const char* kSamplesName = "samples.json";

/// One sentence and its translation at one validation.
struct SampleTranslation {
  std::string source, reference, hypothesis;
};

/// The samples of one validation. Requires: all validations have equal sentences in equal order.
struct SampleSet {
  int64_t step = 0;
  std::vector<SampleTranslation> samples;
};

/// Reads a samples.json. A missing file gives no sets.
/// Throws: Error(kBadData) if an existing file cannot be read or has another form.
[[nodiscard]] std::vector<SampleSet> read_samples(const std::filesystem::path& path);

/// Writes the sets to `path` atomically, in the order of the validations. Throws: Error(kCannotWrite).
///   [{"step": 500, "samples": [{"source": "...", "reference": "...", "hypothesis": "..."}]}]
void write_samples(const std::filesystem::path& path, const std::vector<SampleSet>& sets);

}  // namespace dragoman::report
