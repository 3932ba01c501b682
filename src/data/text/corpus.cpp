#include "data/text/corpus.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"

namespace dragoman::data {

const char* drop_reason_text(DropReason reason) {
  switch (reason) {
    case DropReason::kSourceEmpty:
      return "source empty";
    case DropReason::kTargetEmpty:
      return "target empty";
    case DropReason::kSourceTooLong:
      return "source too long";
    case DropReason::kTargetTooLong:
      return "target too long";
  }
  return "unknown";
}

void CorpusStatistics::drop(DropReason reason, const std::string& example) {
  const auto index = static_cast<size_t>(reason);
  if (dropped[index]++ == 0) {
    examples[index] = example;
  }
}

uint64_t CorpusStatistics::dropped_total() const {
  return std::accumulate(dropped.begin(), dropped.end(), uint64_t{0});
}

void CorpusStatistics::add(const CorpusStatistics& later) {
  read += later.read;
  kept += later.kept;
  for (size_t i = 0; i < kDropReasonCount; ++i) {
    if (dropped[i] == 0) {
      examples[i] = later.examples[i];
    }
    dropped[i] += later.dropped[i];
  }
  repaired_source += later.repaired_source;
  repaired_target += later.repaired_target;
  source_tokens += later.source_tokens;
  target_tokens += later.target_tokens;
}

std::string CorpusStatistics::to_json() const {
  return base::dump_json({{"read", read},
                          {"kept", kept},
                          {"dropped", dropped},
                          {"examples", examples},
                          {"repaired", {repaired_source, repaired_target}},
                          {"tokens", {source_tokens, target_tokens}}});
}

CorpusStatistics CorpusStatistics::from_json(const std::string& text) {
  const nlohmann::json tree = base::parse_json(text, "statistics of a rank");
  CorpusStatistics statistics;
  tree.at("read").get_to(statistics.read);
  tree.at("kept").get_to(statistics.kept);
  tree.at("dropped").get_to(statistics.dropped);
  tree.at("examples").get_to(statistics.examples);
  tree.at("repaired").at(0).get_to(statistics.repaired_source);
  tree.at("repaired").at(1).get_to(statistics.repaired_target);
  tree.at("tokens").at(0).get_to(statistics.source_tokens);
  tree.at("tokens").at(1).get_to(statistics.target_tokens);
  return statistics;
}

std::string CorpusStatistics::report() const {
  std::string text = fmt::format("corpus: {} pairs of lines read, {} kept, {} dropped", read, kept, dropped_total());
  for (size_t i = 0; i < kDropReasonCount; ++i) {
    if (dropped[i] == 0) {
      continue;
    }
    text += fmt::format("\ncorpus: {} dropped: {} (first: {})", dropped[i],
                        drop_reason_text(static_cast<DropReason>(i)), examples[i]);
  }
  if (repaired_source + repaired_target > 0) {
    text += fmt::format("\ncorpus: {} source and {} target lines held invalid UTF-8 or NUL and were repaired",
                        repaired_source, repaired_target);
  }
  return text;
}

ParallelCorpus::ParallelCorpus(const std::vector<std::filesystem::path>& sources,
                               const std::vector<std::filesystem::path>& targets) {
  base::check_usage(!sources.empty() && sources.size() == targets.size(),
                    "corpus: {} source files and {} target files; give one target file for each source file",
                    sources.size(), targets.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const LineIndex& source = sources_.emplace_back(sources[i]);
    const LineIndex& target = targets_.emplace_back(targets[i]);
    base::check_data(source.size() == target.size(),
                     "{} has {} lines, {} has {}; line n of one must translate line n of the other",
                     sources[i].string(), source.size(), targets[i].string(), target.size());
    starts_.push_back(starts_.back() + source.size());
  }
}

size_t ParallelCorpus::file_of(uint64_t line) const {
  base::check_argument(line < size(), "corpus: line {} was asked for, there are {}", line + 1, size());
  return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), line) - starts_.begin()) - 1;
}

CleanLine ParallelCorpus::read(const std::vector<LineIndex>& files, uint64_t line) const {
  const size_t file = file_of(line);
  return files[file].read(line - starts_[file]);
}

uint64_t ParallelCorpus::line_bytes(const std::vector<LineIndex>& files, uint64_t line) const {
  const size_t file = file_of(line);
  return files[file].line_bytes(line - starts_[file]);
}

uint64_t ParallelCorpus::bytes() const {
  uint64_t total = 0;
  for (size_t file = 0; file < sources_.size(); ++file) {
    total += sources_[file].bytes() + targets_[file].bytes();
  }
  return total;
}

std::string ParallelCorpus::place(uint64_t line) const {
  const size_t file = file_of(line);
  return fmt::format("{}:{}", sources_[file].path().string(), line - starts_[file] + 1);
}

std::string ParallelCorpus::fingerprint() const {
  std::string digests;
  for (size_t file = 0; file < sources_.size(); ++file) {
    digests += sources_[file].sha256() + targets_[file].sha256();
  }
  return base::sha256_hex(digests);
}

}  // namespace dragoman::data
