#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/examples.h"
#include "data/exchange.h"
#include "data/text/corpus.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// Options for encoding lines as ids and for dropping pairs.
struct EncodingOptions {
  /// Longest side of a pair in pieces, without bos and eos; 1 to 1,000,000. Longer pairs are dropped.
  int32_t max_length = 256;

  /// Bytes of memory for the ids of all kept pairs. For a larger corpus each requested pair is read from disk and
  /// encoded again. 0 disables the cache.
  uint64_t cache_bytes = uint64_t{1} << 30;

  /// Strength of the sub-word sampling of each side in each epoch (Vocabulary::encode_sampled). 0 always takes the best
  /// segmentation.
  double source_sampling = 0;
  double target_sampling = 0;

  uint64_t seed = 1;  ///< seed of the sampling
  int threads = 1;    ///< threads of the first pass, 1 to 1024; does not change the result
};

/// A store of many short lists of ids in one block of memory. An id takes 2 bytes for vocabularies of up to 65,536
/// pieces, otherwise 4.
class IdStore {
 public:
  explicit IdStore(int32_t vocabulary_size) : narrow_(vocabulary_size <= 65536) {}
  void append(std::span<const int32_t> ids);
  void append(const IdStore& other);
  std::vector<int32_t> get(size_t index) const;
  size_t size() const { return ends_.size(); }
  uint64_t bytes() const;
  void clear();

 private:
  bool narrow_;
  std::vector<uint16_t> narrow_ids_;
  std::vector<int32_t> wide_ids_;
  std::vector<uint64_t> ends_;
};

/// The kept pairs of a corpus as ids, by index 0 ... size() - 1. The constructor encodes all lines once and counts the
/// kept and dropped pairs and the lengths. With several processes each one encodes its part of the lines and keeps no
/// ids; requested pairs are read and encoded again. Memory: 16 bytes a kept pair, and for a single process the ids if
/// they fit into the cache. Threads: any number; the object is immutable after construction.
class EncodedCorpus : public Examples {
 public:
  /// Throws: Error(kUsage) for options out of range; Error(kBadData) if no pair is kept,
  /// "corpus: 100 pairs of lines read, 0 kept, ...; nothing is left to use".
  EncodedCorpus(ParallelCorpus corpus, Vocabulary source, Vocabulary target, const EncodingOptions& options,
                Exchange exchange = {});

  uint64_t size() const override { return kept_.size(); }
  const CorpusStatistics& statistics() const override { return statistics_; }
  const ParallelCorpus& corpus() const { return corpus_; }
  int32_t max_length() const override { return options_.max_length; }
  std::string place(uint64_t line) const override { return corpus_.place(line); }
  bool cached() const { return cached_; }

  /// Returns one pair. With sampling the segmentation depends on (seed, epoch, line, side) alone. A sampled
  /// segmentation above max_length is replaced by the best one. Throws: Error(kBadData) if the files have changed.
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t epoch) const override;

  /// With sampling each process encodes its part of the indices; without, none is encoded.
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

 private:
  // A pair that is fit for use; its best cut.
  struct Kept {
    uint64_t line;
    int32_t source_tokens;  // eos included
    int32_t target_tokens;
  };
  struct Part;  // the outcome of some consecutive lines

  void encode_lines_of_this_rank();
  void take_parts_of_others();
  Part encode_lines(uint64_t begin, uint64_t end) const;
  void encode_line(uint64_t line, Part& part) const;
  void take(const Part& part);
  std::vector<int32_t> encode_side(const Vocabulary& vocabulary, const std::string& text, double alpha,
                                   uint64_t stream) const;
  bool sampled() const { return options_.source_sampling > 0 || options_.target_sampling > 0; }

  ParallelCorpus corpus_;
  Vocabulary source_vocabulary_;
  Vocabulary target_vocabulary_;
  EncodingOptions options_;
  Exchange exchange_;
  bool cached_;
  CorpusStatistics statistics_;
  std::vector<Kept> kept_;
  IdStore source_ids_;
  IdStore target_ids_;
};

/// Returns the whole corpus as batches in a fixed order and without sampling, for validation and scoring.
[[nodiscard]] std::vector<Batch> all_batches(const EncodedCorpus& corpus, int64_t batch_tokens);

}  // namespace dragoman::data
