#include "data/batcher.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

constexpr int64_t kMaxBatchTokens = int64_t{1} << 30;  // rows are counted in int32

void check_options(const Examples& examples, const BatcherOptions& options) {
  const int64_t longest = int64_t{examples.max_length()} + 1;
  base::check_usage(options.batch_tokens >= longest,
                    "batcher: --batch-tokens is {}, but sentences may have {} tokens and eos; raise it to {} or lower "
                    "--max-length",
                    options.batch_tokens, examples.max_length(), longest);
  base::check_usage(options.batch_tokens <= kMaxBatchTokens, "batcher: batch tokens is {}, must be at most {}",
                    options.batch_tokens, kMaxBatchTokens);
  base::check_usage(options.window_sentences >= 1, "batcher: window is {} sentences, must be at least 1",
                    options.window_sentences);
  base::check_argument(
      options.first_shard >= 0 && options.own_shards >= 1 && options.first_shard + options.own_shards <= options.shards,
      "batcher: {} shards from {} on, there are {}", options.own_shards, options.first_shard, options.shards);
  base::check_usage(examples.size() <= std::numeric_limits<uint32_t>::max(),
                    "batcher: the corpus has {} pairs, at most 2^32 - 1 can be permuted; split it", examples.size());
}

std::vector<uint32_t> permutation(uint64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  base::Random random(seed, random_stream(StreamPurpose::kLineOrder, epoch, 0));
  base::shuffle(order.begin(), order.end(), random);
  return order;
}

// The position of a batch.
struct Place {
  uint64_t epoch;
  bool ends_epoch;
};

// The pairs of a window: those that are encoded already, and others encoded on request.
class PairSource {
 public:
  PairSource(const Examples& examples, std::span<const uint32_t> indices, Examples::Window& window, uint64_t epoch)
      : examples_(examples), indices_(indices), window_(window), epoch_(epoch) {}

  SentencePair take(const PairSize& size) {
    const uint64_t encoded = size.position - window_.first_encoded;  // wraps around for those before
    SentencePair pair = encoded < window_.pairs.size() ? std::move(window_.pairs[encoded])
                                                       : examples_.pair(indices_[size.position], epoch_);
    base::check_data(pair.source_tokens() == size.source_tokens && pair.target_tokens() == size.target_tokens,
                     "{}: has {} and {} tokens now, but {} and {} when the corpus was read; the text must not change "
                     "while it is in use",
                     examples_.place(pair.line), pair.source_tokens(), pair.target_tokens(), size.source_tokens,
                     size.target_tokens);
    return pair;
  }

 private:
  const Examples& examples_;
  std::span<const uint32_t> indices_;
  Examples::Window& window_;
  uint64_t epoch_;
};

// The shards of a planned batch that this process computes.
BatchShare make_share(PairSource& pairs, const BatchPlan& plan, const BatcherOptions& options, const Place& place) {
  const std::vector<size_t> borders = shard_borders(plan, options.shards);
  BatchShare share;
  for (int shard = 0; shard < options.shards; ++shard) {
    Batch batch;
    batch.epoch = place.epoch;
    batch.ends_epoch = place.ends_epoch;
    batch.first_sentence = static_cast<int32_t>(borders[static_cast<size_t>(shard)]);
    batch.first_source_row = share.source_tokens;
    batch.first_target_row = share.target_tokens;
    const bool own = shard >= options.first_shard && shard < options.first_shard + options.own_shards;
    for (size_t pair = borders[static_cast<size_t>(shard)]; pair < borders[static_cast<size_t>(shard) + 1]; ++pair) {
      share.source_tokens += static_cast<int32_t>(plan[pair].source_tokens);
      share.target_tokens += static_cast<int32_t>(plan[pair].target_tokens);
      if (own) {
        append(batch, pairs.take(plan[pair]));
      }
    }
    if (own) {
      share.shards.push_back(std::move(batch));
    }
  }
  return share;
}

uint64_t field_of(const nlohmann::json& state, const char* name) {
  const auto field = state.is_object() ? state.find(name) : state.end();
  base::check_data(field != state.end() && field->is_number_integer() && *field >= 0,
                   "batcher: the saved position has no whole number \"{}\"; the checkpoint is damaged", name);
  return field->get<uint64_t>();
}

}  // namespace

Batcher::Batcher(const Examples& examples, const BatcherOptions& options) : examples_(&examples), options_(options) {
  check_options(examples, options);
}

Batcher::Window Batcher::make_window(const Examples& examples, const BatcherOptions& options, Position start,
                                     Order order) {
  Window window;
  window.start = start;
  window.order =
      order ? std::move(order)
            : std::make_shared<const std::vector<uint32_t>>(permutation(examples.size(), options.seed, start.epoch));
  const uint64_t length = std::min(options.window_sentences, examples.size() - start.sentence);
  const std::span<const uint32_t> indices = std::span(*window.order).subspan(start.sentence, length);
  Examples::Window pairs = examples.window(indices, start.epoch);
  std::vector<BatchPlan> plans = plan_batches(std::move(pairs.sizes), options.batch_tokens, options.order);
  base::Random random(options.seed, random_stream(StreamPurpose::kBatchOrder, start.epoch, start.sentence));
  base::shuffle(plans.begin(), plans.end(), random);
  const bool last = start.sentence + length == examples.size();
  PairSource source(examples, indices, pairs, start.epoch);
  for (const BatchPlan& plan : plans) {
    window.batches.push_back(make_share(source, plan, options, {start.epoch, last && &plan == &plans.back()}));
  }
  window.end = last ? Position{start.epoch + 1, 0, 0} : Position{start.epoch, start.sentence + length, 0};
  return window;
}

// Enters the window of position_, which may have been prefetched, and prefetches the next one.
void Batcher::enter_window() {
  const Position start{position_.epoch, position_.sentence, 0};
  if (upcoming_.valid()) {
    window_ = upcoming_.get();
  } else {
    window_ = make_window(*examples_, options_, start, nullptr);
  }
  if (!options_.prefetch) {
    return;
  }
  Order order = window_.end.epoch == window_.start.epoch ? window_.order : nullptr;
  upcoming_ = std::async(std::launch::async, &Batcher::make_window, std::cref(*examples_), options_, window_.end,
                         std::move(order));
}

BatchShare Batcher::next() {
  if (window_.batches.empty()) {
    enter_window();
  }
  base::check_data(position_.batch < window_.batches.size(),
                   "batcher: batch {} of a window with {} was saved; the checkpoint is damaged or the data changed",
                   position_.batch, window_.batches.size());
  BatchShare batch = std::move(window_.batches[position_.batch++]);
  if (position_.batch == window_.batches.size()) {
    position_ = window_.end;
    window_.batches.clear();
  }
  return batch;
}

nlohmann::json Batcher::state() const {
  return {{"epoch", position_.epoch},
          {"sentence", position_.sentence},
          {"batch", position_.batch},
          {"seed", options_.seed},
          {"batch_tokens", static_cast<uint64_t>(options_.batch_tokens)},
          {"window_sentences", options_.window_sentences},
          {"sentences", examples_->size()}};
}

void Batcher::restore(const nlohmann::json& state) {
  const auto require_same = [&](const char* name, uint64_t here) {
    const uint64_t saved = field_of(state, name);
    base::check_usage(saved == here,
                      "batcher: the saved run had {} {}, this one has {}; resume with the same options and data", name,
                      saved, here);
  };
  require_same("seed", options_.seed);
  require_same("batch_tokens", static_cast<uint64_t>(options_.batch_tokens));
  require_same("window_sentences", options_.window_sentences);
  require_same("sentences", examples_->size());
  const Position saved{field_of(state, "epoch"), field_of(state, "sentence"), field_of(state, "batch")};
  base::check_data(
      saved.sentence < examples_->size() && saved.sentence % options_.window_sentences == 0,
      "batcher: the saved window starts at sentence {}, windows of {} end before {}; the checkpoint is damaged",
      saved.sentence, options_.window_sentences, examples_->size());
  upcoming_ = {};
  window_ = {};
  position_ = saved;
}

}  // namespace dragoman::data
