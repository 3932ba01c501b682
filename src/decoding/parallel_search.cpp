#include "decoding/parallel_search.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/worker_pool.h"
#include "decoding/length_groups.h"
#include "decoding/search_loop.h"

namespace dragoman::decoding {

// One call of run: groups of sentences of similar length, taken by the workers one after another.
class ParallelSearch::Job {
 public:
  Job(const models::Transformer& model, std::span<const std::vector<int32_t>> sources, const SearchOptions& options)
      : model_(model), sources_(sources), options_(options), outputs_(sources.size()) {
    std::vector<int64_t> lengths;
    for (const std::vector<int32_t>& source : sources) {
      lengths.push_back(static_cast<int64_t>(source.size()));
    }
    // Few sentences are shared out, so that no worker stays idle. Groups have half of what a worker may hold: while
    // one group finishes, the next is already under way.
    const auto asked = static_cast<size_t>(decoding::worker_count(options.workers));
    workers_ = static_cast<int>(std::clamp(sources.size(), size_t{1}, asked));
    const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    token_limit_ = std::clamp((total + workers_ - 1) / workers_, int64_t{1}, options.batch_tokens);
    groups_ = group_by_length(lengths, (token_limit_ + 1) / 2);
  }

  int worker_count() const { return workers_; }
  std::vector<SearchOutput> take_outputs() { return std::move(outputs_); }

  // The whole life of one worker; `steps` has no sentence in it before and after.
  void work(TransformerSteps& steps) {
    SearchLoop loop(steps, options_);
    std::vector<SearchResult> results;
    int64_t tokens = 0;  // source tokens of the sentences under way
    while (!failed_) {
      while (const LengthGroup* group = next_group(loop.empty() ? 0 : tokens)) {
        admit(*group, steps, loop);
        tokens += group->tokens;
      }
      if (loop.empty()) {
        return;
      }
      results.clear();
      loop.step(results);
      for (SearchResult& result : results) {
        tokens -= length(result.sentence);
        keep(result);
      }
    }
  }

  void stop_others() { failed_ = true; }

 private:
  int64_t length(size_t sentence) const { return static_cast<int64_t>(sources_[sentence].size()); }

  // The next group that fits beside `tokens`; any group fits beside nothing.
  const LengthGroup* next_group(int64_t tokens) {
    const std::lock_guard lock(mutex_);
    if (next_ == groups_.size() || (tokens > 0 && tokens + groups_[next_].tokens > token_limit_)) {
      return nullptr;
    }
    return &groups_[next_++];
  }

  void admit(const LengthGroup& group, TransformerSteps& steps, SearchLoop& loop) const {
    std::vector<std::span<const int32_t>> sentences;
    for (const size_t sentence : group.items) {
      sentences.emplace_back(sources_[sentence]);
    }
    const std::vector<int32_t> slots = steps.add(sentences);
    for (size_t i = 0; i < slots.size(); ++i) {
      const size_t sentence = group.items[i];
      const int64_t longest = options_.max_length(length(sentence), model_.config().max_positions);
      SentenceRequest request;
      request.source_length = length(sentence);
      request.random_stream = random_stream(sources_[sentence]);
      loop.add(sentence, slots[i], {options_.min_length, longest}, request);
    }
  }

  void keep(SearchResult& result) {
    SearchOutput& output = outputs_[result.sentence];
    output.hypotheses = std::move(result.hypotheses);
    if (options_.alignment) {
      for (const Hypothesis& hypothesis : output.hypotheses) {
        output.alignments.push_back(align(model_, sources_[result.sentence], hypothesis.ids, options_.alignment_layer));
      }
    }
  }

  const models::Transformer& model_;
  std::span<const std::vector<int32_t>> sources_;
  SearchOptions options_;
  std::vector<SearchOutput> outputs_;
  std::vector<LengthGroup> groups_;
  int workers_ = 1;
  int64_t token_limit_ = 1;
  std::mutex mutex_;
  size_t next_ = 0;
  std::atomic<bool> failed_ = false;
};

std::vector<SearchOutput> ParallelSearch::run(std::span<const std::vector<int32_t>> sources,
                                              const SearchOptions& options) const {
  options.check();
  if (options.alignment) {
    check_alignment_layer(*model_, options.alignment_layer);
  }
  Job job(*model_, sources, options);
  base::WorkerPool pool(job.worker_count());
  pool.run([&](int) {
    std::unique_ptr<Worker> worker = take_worker();
    const tensor::ArenaScope arena(worker->arena);
    try {
      job.work(*worker->steps);
    } catch (...) {
      job.stop_others();
      throw;
    }
    if (worker->steps->state().slots_in_use() == 0) {
      give_back(std::move(worker));
    }
  });
  return job.take_outputs();
}

std::unique_ptr<ParallelSearch::Worker> ParallelSearch::take_worker() const {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    return std::make_unique<Worker>(
        Worker{std::make_shared<tensor::Arena>(), std::make_unique<TransformerSteps>(*model_)});
  }
  std::unique_ptr<Worker> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void ParallelSearch::give_back(std::unique_ptr<Worker> worker) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

tensor::ArenaCounters ParallelSearch::arena_counters() const {
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
