#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "data/exchange.h"
#include "data/text/corpus.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// How lines become ids, and which are left out.
struct EncodingOptions {
  /// Pairs with more pieces than this on a side (bos and eos not counted) are dropped; 1 to 1,000,000.
  int32_t max_length = 256;

  /// Memory for the ids of all kept pairs, in bytes. A corpus that needs more is read from disk and encoded again
  /// whenever a pair is wanted. 0 = never keep.
  uint64_t cache_bytes = uint64_t{1} << 30;

  /// Sub-word sampling of each side, anew in each epoch (Vocabulary::encode_sampled); 0 = the best cut always.
  double source_sampling = 0;
  double target_sampling = 0;

  uint64_t seed = 1;  ///< of the sampling
  int threads = 1;    ///< for the first pass over the corpus; does not change the result
};

/// Many short lists of ids in one block, 2 bytes an id when the vocabulary allows, else 4.
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

/// The pairs of a corpus that are fit for use, as ids, by index 0 ... size() - 1.
/// Made by one pass over the corpus that counts what is kept and dropped, and how long each pair is. Of several
/// processes each encodes its part of the lines in that pass, and keeps no ids: it reads the pairs of its own batches
/// again as they are wanted. Immutable afterwards: safe for use by any number of threads. Memory: 16 bytes a kept pair,
/// and, alone, the ids if they fit.
class EncodedCorpus {
 public:
  /// Throws Error(kUsage) for options out of range; Error(kBadData) when no pair is left:
  /// "corpus: 100 pairs of lines read, 0 kept, ...; nothing is left to use".
  EncodedCorpus(ParallelCorpus corpus, Vocabulary source, Vocabulary target, const EncodingOptions& options,
                Exchange exchange = {});

  uint64_t size() const { return kept_.size(); }
  const CorpusStatistics& statistics() const { return statistics_; }
  const ParallelCorpus& corpus() const { return corpus_; }
  int32_t max_length() const { return options_.max_length; }
  bool cached() const { return cached_; }

  /// One pair. With sampling its cut depends on (seed, epoch, line, side) alone. A sampled cut above max_length is
  /// replaced by the best cut. Throws Error(kBadData) if the files have changed.
  SentencePair pair(uint64_t index, uint64_t epoch) const;

  /// Some pairs in an order of their own: how long all of them are, and those that had to be encoded to know it.
  struct Window {
    std::vector<PairSize> sizes;      ///< [count], position i = the i-th index
    uint64_t first_encoded = 0;       ///< position of the first of
    std::vector<SentencePair> pairs;  ///< encoded here already; none without sampling
  };
  /// With sampling each of several processes encodes its part of the indices; all must ask for the same ones, in turn.
  Window window(std::span<const uint32_t> indices, uint64_t epoch) const;

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

/// The whole corpus as batches in a fixed order, without sampling: for validation loss and scoring.
std::vector<Batch> all_batches(const EncodedCorpus& corpus, int64_t batch_tokens);

}  // namespace dragoman::data
