#include "training/batch_fit.h"

#include <algorithm>
#include <optional>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::training {
namespace {

constexpr int kMostPasses = 10;  // measured
constexpr int kCarefulPasses =
    4;  // up to this one each at most doubles: a line through short passes may be steeper than it is
constexpr double kFullEnough = 0.9;     // of the room
constexpr double kAfterOverrun = 0.95;  // of where a line says that the room ends

struct MeasuredPass {
  int64_t tokens;
  uint64_t bytes;
};

double slope(const MeasuredPass& from, const MeasuredPass& to) {
  return (static_cast<double>(to.bytes) - static_cast<double>(from.bytes)) /
         static_cast<double>(std::max<int64_t>(to.tokens - from.tokens, 1));
}

// Where the line through both points reaches `bytes`.
int64_t reaches(const MeasuredPass& from, const MeasuredPass& to, uint64_t bytes) {
  const double steepness = std::max(slope(from, to), 1.0);
  return to.tokens + static_cast<int64_t>((static_cast<double>(bytes) - static_cast<double>(to.bytes)) / steepness);
}

PassMemory line_through(const MeasuredPass& from, const MeasuredPass& to) {
  const double per_token = slope(from, to);
  return {std::max(static_cast<double>(to.bytes) - per_token * static_cast<double>(to.tokens), 0.0), per_token};
}

}  // namespace

std::vector<int32_t> batch_words(int64_t count, int64_t vocab_size) {
  if (vocab_size == 0) {
    return {};  // a side that the model does not read
  }
  std::vector<int32_t> ids(static_cast<size_t>(count));
  const int64_t first = std::min<int64_t>(data::kEosId + 1, vocab_size - 1);
  for (size_t index = 0; index < ids.size(); ++index) {
    ids[index] = static_cast<int32_t>(first + static_cast<int64_t>(index) % (vocab_size - first));
  }
  return ids;
}

int64_t worker_tokens(int64_t batch_tokens, const BatchSpread& spread) {
  const int64_t share = (batch_tokens + spread.workers - 1) / spread.workers;
  return spread.workers == 1 ? batch_tokens : std::min(batch_tokens, share + spread.max_length);
}

int64_t batch_for(int64_t tokens, const BatchSpread& spread) {
  if (tokens < spread.max_length) {
    return 0;
  }
  return spread.workers == 1 ? tokens : std::max(tokens, (tokens - spread.max_length) * spread.workers);
}

FittedBatch fit_batch(const MeasurePass& measure, const BatchSpread& spread, int64_t wanted, uint64_t room) {
  const auto point = [&](int64_t tokens) { return MeasuredPass{tokens, measure(tokens)}; };
  const int64_t limit = worker_tokens(std::max(wanted, spread.max_length), spread);
  MeasuredPass before = point(spread.max_length / 2), fits = point(spread.max_length);
  if (fits.bytes > room) {
    return {0, fits.bytes, line_through(before, fits)};
  }
  std::optional<MeasuredPass> beyond;  // the smallest pass that was more than the room
  const auto full_enough = static_cast<uint64_t>(kFullEnough * static_cast<double>(room));
  for (int pass = 2; pass < kMostPasses && fits.tokens < limit && fits.bytes < full_enough; ++pass) {
    int64_t tokens = std::min(reaches(before, fits, room), limit);
    if (beyond) {
      const auto way = static_cast<double>(reaches(fits, *beyond, room) - fits.tokens);
      tokens = fits.tokens + static_cast<int64_t>(kAfterOverrun * way);
    } else if (pass <= kCarefulPasses) {
      tokens = std::min(tokens, 2 * fits.tokens);
    }
    if (tokens <= fits.tokens) {
      break;
    }
    const MeasuredPass tried = point(tokens);
    if (tried.bytes <= room) {
      before = fits;
      fits = tried;
    } else {
      beyond = tried;
    }
  }
  const int64_t batch = std::min(batch_for(fits.tokens, spread), std::max(wanted, spread.max_length));
  return {batch, fits.bytes, line_through(before, fits)};
}

data::Batch longest_batch(int64_t tokens, int64_t max_length, int64_t source_vocab_size, int64_t target_vocab_size) {
  data::Batch batch;
  for (int64_t left = tokens; left > 0; left -= max_length) {
    const int64_t length = std::min(left, max_length);
    data::append(batch, {static_cast<uint64_t>(batch.sentences()), batch_words(length, source_vocab_size),
                         batch_words(length - 1, target_vocab_size)});
  }
  return batch;
}

}  // namespace dragoman::training
