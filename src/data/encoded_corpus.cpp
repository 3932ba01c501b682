#include "data/encoded_corpus.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/worker_pool.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

constexpr uint64_t kLinesPerPart = 2048;
constexpr uint64_t kPartsPerWorker = 8;                        // of one round
constexpr uint64_t kMaxLineBytesToEncode = uint64_t{1} << 20;  // a line above 1 MiB is too long for any max_length

void check_options(const EncodingOptions& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  base::check_range("corpus: max_length", options.max_length, 1, 1'000'000);
  base::check_range("corpus: source_sampling", options.source_sampling, 0, kInfinity);
  base::check_range("corpus: target_sampling", options.target_sampling, 0, kInfinity);
  base::check_range("corpus: threads", options.threads, 1, 1024);
}

std::optional<DropReason> reason_to_drop(size_t source_pieces, size_t target_pieces, size_t max_length) {
  if (source_pieces == 0) {
    return DropReason::kSourceEmpty;
  }
  if (target_pieces == 0) {
    return DropReason::kTargetEmpty;
  }
  if (source_pieces > max_length) {
    return DropReason::kSourceTooLong;
  }
  if (target_pieces > max_length) {
    return DropReason::kTargetTooLong;
  }
  return std::nullopt;
}

// The bytes of plain numbers, which another rank of the same program reads.
template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
void append_bytes(const std::string& bytes, std::vector<T>& values) {
  base::check(bytes.size() % sizeof(T) == 0, base::ErrorKind::kRuntime,
              "corpus: another rank sent {} bytes, must be a multiple of {}; do all ranks run the same program?",
              bytes.size(), sizeof(T));
  const size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  std::memcpy(values.data() + before, bytes.data(), (values.size() - before) * sizeof(T));
}

// An error is one line.
std::string one_line(const std::string& report) {
  std::string line;
  for (const char c : report) {
    line += c == '\n' ? std::string("; ") : std::string(1, c);
  }
  return line;
}

}  // namespace

void IdStore::append(std::span<const int32_t> ids) {
  if (narrow_) {
    for (const int32_t id : ids) {
      narrow_ids_.push_back(static_cast<uint16_t>(id));
    }
  } else {
    wide_ids_.insert(wide_ids_.end(), ids.begin(), ids.end());
  }
  ends_.push_back(narrow_ids_.size() + wide_ids_.size());
}

void IdStore::append(const IdStore& other) {
  const uint64_t before = narrow_ids_.size() + wide_ids_.size();
  narrow_ids_.insert(narrow_ids_.end(), other.narrow_ids_.begin(), other.narrow_ids_.end());
  wide_ids_.insert(wide_ids_.end(), other.wide_ids_.begin(), other.wide_ids_.end());
  for (const uint64_t end : other.ends_) {
    ends_.push_back(before + end);
  }
}

std::vector<int32_t> IdStore::get(size_t index) const {
  const auto begin = static_cast<std::ptrdiff_t>(index == 0 ? 0 : ends_[index - 1]);
  const auto end = static_cast<std::ptrdiff_t>(ends_[index]);
  if (narrow_) {
    return {narrow_ids_.begin() + begin, narrow_ids_.begin() + end};
  }
  return {wide_ids_.begin() + begin, wide_ids_.begin() + end};
}

uint64_t IdStore::bytes() const {
  return narrow_ids_.size() * sizeof(uint16_t) + wide_ids_.size() * sizeof(int32_t) + ends_.size() * sizeof(uint64_t);
}

void IdStore::clear() {
  narrow_ids_ = {};
  wide_ids_ = {};
  ends_ = {};
}

struct EncodedCorpus::Part {
  Part(int32_t source_vocabulary_size, int32_t target_vocabulary_size)
      : source_ids(source_vocabulary_size), target_ids(target_vocabulary_size) {}

  CorpusStatistics statistics;
  std::vector<Kept> kept;
  IdStore source_ids;
  IdStore target_ids;
};

EncodedCorpus::EncodedCorpus(ParallelCorpus corpus, Vocabulary source, Vocabulary target,
                             const EncodingOptions& options, Exchange exchange)
    : corpus_(std::move(corpus)),
      source_vocabulary_(std::move(source)),
      target_vocabulary_(std::move(target)),
      options_(options),
      exchange_(std::move(exchange)),
      cached_(options.cache_bytes > 0 && !sampled() && exchange_.size == 1),
      source_ids_(source_vocabulary_.size()),
      target_ids_(target_vocabulary_.size()) {
  check_options(options);
  encode_lines_of_this_rank();
  if (exchange_.size > 1) {
    take_parts_of_others();
  }
  base::check_data(size() > 0, "{}; nothing is left to use", one_line(statistics_.report()));
}

// Workers encode parts side by side. The parts are appended in the order of the lines, so the number of threads does
// not change the result. Each worker takes the next free part of a round, so workers rarely wait.
void EncodedCorpus::encode_lines_of_this_rank() {
  const uint64_t last = exchange_.end(corpus_.size());
  const uint64_t lines_per_round = kLinesPerPart * kPartsPerWorker * static_cast<uint64_t>(options_.threads);
  base::WorkerPool workers(options_.threads);
  for (uint64_t begin = exchange_.begin(corpus_.size()); begin < last; begin += lines_per_round) {
    const uint64_t lines = std::min(lines_per_round, last - begin);
    std::vector<std::optional<Part>> parts((lines + kLinesPerPart - 1) / kLinesPerPart);
    std::atomic<size_t> next = 0;
    workers.run([&](int) {
      for (size_t part = next++; part < parts.size(); part = next++) {
        const uint64_t first = part * kLinesPerPart;
        parts[part] = encode_lines(begin + first, begin + std::min(first + kLinesPerPart, lines));
      }
    });
    for (const std::optional<Part>& part : parts) {
      take(*part);
    }
  }
}

// The parts are in the order of the ranks, so the result is that of a single process.
void EncodedCorpus::take_parts_of_others() {
  const std::vector<std::string> statistics = exchange_.all_gather(statistics_.to_json());
  const std::vector<std::string> kept = exchange_.all_gather(bytes_of(kept_));
  statistics_ = {};
  kept_.clear();
  for (size_t rank = 0; rank < kept.size(); ++rank) {
    statistics_.add(CorpusStatistics::from_json(statistics[rank]));
    append_bytes(kept[rank], kept_);
  }
}

EncodedCorpus::Part EncodedCorpus::encode_lines(uint64_t begin, uint64_t end) const {
  Part part(source_vocabulary_.size(), target_vocabulary_.size());
  for (uint64_t line = begin; line < end; ++line) {
    encode_line(line, part);
  }
  return part;
}

void EncodedCorpus::encode_line(uint64_t line, Part& part) const {
  CorpusStatistics& statistics = part.statistics;
  ++statistics.read;
  if (corpus_.source_bytes(line) > kMaxLineBytesToEncode) {
    return statistics.drop(DropReason::kSourceTooLong, corpus_.place(line));
  }
  if (corpus_.target_bytes(line) > kMaxLineBytesToEncode) {
    return statistics.drop(DropReason::kTargetTooLong, corpus_.place(line));
  }
  const CleanLine source = corpus_.source(line), target = corpus_.target(line);
  statistics.repaired_source += source.repaired ? 1 : 0;
  statistics.repaired_target += target.repaired ? 1 : 0;
  const std::vector<int32_t> source_ids = source_vocabulary_.encode(source.text);
  const std::vector<int32_t> target_ids = target_vocabulary_.encode(target.text);
  const auto reason = reason_to_drop(source_ids.size(), target_ids.size(), static_cast<size_t>(options_.max_length));
  if (reason) {
    return statistics.drop(*reason, corpus_.place(line));
  }
  ++statistics.kept;
  statistics.source_tokens += source_ids.size() + 1;
  statistics.target_tokens += target_ids.size() + 1;
  part.kept.push_back({line, static_cast<int32_t>(source_ids.size()) + 1, static_cast<int32_t>(target_ids.size()) + 1});
  if (cached_) {
    part.source_ids.append(source_ids);
    part.target_ids.append(target_ids);
  }
}

void EncodedCorpus::take(const Part& part) {
  statistics_.add(part.statistics);
  kept_.insert(kept_.end(), part.kept.begin(), part.kept.end());
  if (!cached_) {
    return;
  }
  source_ids_.append(part.source_ids);
  target_ids_.append(part.target_ids);
  if (source_ids_.bytes() + target_ids_.bytes() <= options_.cache_bytes) {
    return;
  }
  cached_ = false;
  source_ids_.clear();
  target_ids_.clear();
}

SentencePair EncodedCorpus::pair(uint64_t index, uint64_t epoch) const {
  base::check_argument(index < size(), "corpus: pair {} was asked for, there are {}", index, size());
  SentencePair pair;
  pair.line = kept_[index].line;
  if (cached_) {
    pair.source = source_ids_.get(index);
    pair.target = target_ids_.get(index);
  } else {
    pair.source = encode_side(source_vocabulary_, corpus_.source(pair.line).text, options_.source_sampling,
                              random_stream(StreamPurpose::kSourceSampling, epoch, pair.line));
    pair.target = encode_side(target_vocabulary_, corpus_.target(pair.line).text, options_.target_sampling,
                              random_stream(StreamPurpose::kTargetSampling, epoch, pair.line));
  }
  pair.source.push_back(kEosId);
  return pair;
}

EncodedCorpus::Window EncodedCorpus::window(std::span<const uint32_t> indices, uint64_t epoch) const {
  Window window;
  if (!sampled()) {
    for (const uint32_t index : indices) {
      window.sizes.push_back({window.sizes.size(), kept_[index].source_tokens, kept_[index].target_tokens});
    }
    return window;
  }
  window.first_encoded = exchange_.begin(indices.size());
  for (uint64_t i = window.first_encoded; i < exchange_.end(indices.size()); ++i) {
    const SentencePair& pair = window.pairs.emplace_back(this->pair(indices[i], epoch));
    window.sizes.push_back({i, pair.source_tokens(), pair.target_tokens()});
  }
  if (exchange_.size > 1) {
    const std::vector<std::string> parts = exchange_.all_gather(bytes_of(window.sizes));
    window.sizes.clear();
    for (const std::string& part : parts) {
      append_bytes(part, window.sizes);
    }
  }
  return window;
}

std::vector<int32_t> EncodedCorpus::encode_side(const Vocabulary& vocabulary, const std::string& text, double alpha,
                                                uint64_t stream) const {
  if (alpha > 0) {
    base::Random random(options_.seed, stream);
    std::vector<int32_t> ids = vocabulary.encode_sampled(text, alpha, random);
    if (ids.size() <= static_cast<size_t>(options_.max_length)) {
      return ids;
    }
  }
  return vocabulary.encode(text);
}

std::vector<Batch> all_batches(const EncodedCorpus& corpus, int64_t batch_tokens) {
  std::vector<SentencePair> pairs;
  pairs.reserve(corpus.size());
  for (uint64_t index = 0; index < corpus.size(); ++index) {
    pairs.push_back(corpus.pair(index, 0));
  }
  return cut_batches(pairs, batch_tokens);
}

}  // namespace dragoman::data
