#include "serving/service/training_record.h"

#include <algorithm>

#include "base/error.h"
#include "report/samples_file.h"

namespace dragoman::serving {
namespace {

report::MetricsHistory history_of(const std::filesystem::path& folder) {
  try {
    return report::read_metrics(folder / report::kMetricsName);
  } catch (const base::Error&) {
    return {};
  }
}

std::vector<std::string> examples_of(const std::filesystem::path& folder) {
  std::vector<std::string> examples;
  try {
    const std::vector<report::SampleSet> sets = report::read_samples(folder / report::kSamplesName);
    for (size_t i = 0; !sets.empty() && i < sets.back().samples.size(); ++i) {
      const std::string& source = sets.back().samples[i].source;
      if (!source.empty() && std::ranges::find(examples, source) == examples.end()) {
        examples.push_back(source);
      }
    }
  } catch (const base::Error&) {
    examples.clear();
  }
  return examples;
}

}  // namespace

TrainingRecord training_record(const std::filesystem::path& folder) {
  return {history_of(folder), examples_of(folder)};
}

}  // namespace dragoman::serving
