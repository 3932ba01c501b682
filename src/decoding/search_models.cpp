#include "decoding/search_models.h"

#include <algorithm>

#include "base/error.h"
#include "decoding/steps/alignment.h"
#include "decoding/steps/ensemble_steps.h"
#include "decoding/steps/model_steps.h"

namespace dragoman::decoding {
void SearchModels::check(const SearchOptions& options) const {
  options.check();
  if (options.output.alignment) {
    check_alignment_layer(first(), options.output.alignment_layer);
  }
  base::check_usage(options.ranking.coverage_penalty == 0.0 || !first().cross_attention_paths().empty(),
                    "coverage_penalty is {}, and the model of architecture {} has no attention to the source; leave it "
                    "at 0",
                    options.ranking.coverage_penalty, first().config().architecture());
  base::check_usage(!options.shortlist || shortlist_ != nullptr,
                    "shortlist: the model has none; make one with dragoman shortlist --model DIR --source FILE, or "
                    "translate without");
}

int64_t SearchModels::max_positions() const {
  int64_t least = first().config().sizes().max_positions;
  for (const auto& member : models_) {
    least = std::min<int64_t>(least, member->config().sizes().max_positions);
  }
  return least;
}

void SearchModels::complete(SentenceRequest& request, const SearchOptions& options) const {
  // An odd factor keeps the streams of the samples apart.
  std::vector<int32_t> text = request.source;
  if (request.continues_source) {  // a prompt draws the same wherever it is cut
    text.insert(text.end(), request.prefix.begin(), request.prefix.end());
  }
  request.random_stream = random_stream(text) + 0xBF58476D1CE4E5B9ULL * request.sample;
  if (options.output.alignment) {
    const auto layers = static_cast<int>(first().cross_attention_paths().size());
    request.alignment_layer =
        options.output.alignment_layer + 1 == layers ? kLastLayer : options.output.alignment_layer;
  }
  if (options.shortlist) {
    request.allowed = shortlist_->allowed(request.source, request);
  }
}

SearchLimits SearchModels::limits_of(const SentenceRequest& request, const SearchOptions& options) const {
  const auto after_prefix = static_cast<int64_t>(request.prefix.size()) + 1;
  const int64_t prompt = request.continues_source ? static_cast<int64_t>(request.source.size()) : 0;
  const int64_t positions = max_positions() - prompt;
  base::check_usage(after_prefix <= positions, "prefix: {} pieces, the model takes {} tokens; give a shorter beginning",
                    after_prefix - 1, positions);
  const int64_t longest = std::min(options.length.longest(static_cast<int64_t>(request.source.size()), positions),
                                   request.max_length.value_or(positions));
  return {options.length.min_length, std::max(longest, after_prefix)};
}

void SearchModels::add_alignments(std::span<const int32_t> source, const SearchOptions& options,
                                  std::span<Hypothesis> hypotheses) const {
  for (Hypothesis& hypothesis : hypotheses) {
    if (options.output.alignment && hypothesis.alignment.source_length == 0) {
      hypothesis.alignment = align(first(), source, hypothesis.ids, options.output.alignment_layer);
    }
  }
}

std::unique_ptr<SearchWorker> SearchModels::take_worker(int threads) const {
  std::unique_ptr<SearchWorker> worker = idle_or_new_worker();
  if ((worker->team == nullptr ? 1 : worker->team->size()) != threads) {
    worker->team = threads == 1 ? nullptr : std::make_unique<base::WorkerPool>(threads, kTeamAwake);
  }
  return worker;
}

std::unique_ptr<SearchWorker> SearchModels::idle_or_new_worker() const {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    std::unique_ptr<SearchWorker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }
  std::vector<std::unique_ptr<SentenceSteps>> members;
  for (const auto& member : models_) {
    members.push_back(std::make_unique<ModelSteps>(*member));
  }
  auto steps = members.size() == 1 ? std::move(members.front()) : std::make_unique<EnsembleSteps>(std::move(members));
  return std::make_unique<SearchWorker>(SearchWorker{memory_->another(), std::move(steps), nullptr});
}

void SearchModels::give_back(std::unique_ptr<SearchWorker> worker) const {
  if (worker->steps->slots_in_use() == 0) {
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(worker));
    } catch (const std::bad_alloc&) {  // one less to use again
    }
  }
}

tensor::ArenaCounters SearchModels::arena_counters() const {
  const std::lock_guard lock(mutex_);
  tensor::ArenaCounters sum;
  for (const auto& worker : idle_) {
    const tensor::ArenaCounters counters = worker->arena->counters();
    sum.system_requests += counters.system_requests;
    sum.system_bytes += counters.system_bytes;
    sum.live_bytes += counters.live_bytes;
    sum.peak_bytes += counters.peak_bytes;
  }
  return sum;
}

}  // namespace dragoman::decoding
