#include "report/samples_file.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::report {
namespace {

using nlohmann::json;

json to_tree(const SampleSet& set) {
  json samples = json::array();
  for (const SampleTranslation& sample : set.samples) {
    samples.push_back({{"source", sample.source}, {"reference", sample.reference}, {"hypothesis", sample.hypothesis}});
  }
  return {{"step", set.step}, {"samples", std::move(samples)}};
}

}  // namespace

std::vector<SampleSet> read_samples(const std::filesystem::path& path) try {
  std::vector<SampleSet> sets;
  if (!std::filesystem::exists(path)) {
    return sets;
  }
  for (const json& tree : base::parse_json(base::read_file(path), path.string())) {
    SampleSet set{tree.at("step").get<int64_t>(), {}};
    for (const json& sample : tree.at("samples")) {
      set.samples.push_back({sample.at("source"), sample.at("reference"), sample.at("hypothesis")});
    }
    sets.push_back(std::move(set));
  }
  return sets;
} catch (const json::exception& error) {
  base::fail(base::ErrorKind::kBadData, "{}: no sample translations: {}", path.string(), error.what());
}

void write_samples(const std::filesystem::path& path, const std::vector<SampleSet>& sets) {
  json tree = json::array();
  for (const SampleSet& set : sets) {
    tree.push_back(to_tree(set));
  }
  base::write_file_atomic(path, base::dump_json(tree, 1) + "\n");
}

}  // namespace dragoman::report
