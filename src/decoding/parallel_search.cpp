#include "decoding/parallel_search.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/error.h"
#include "decoding/length_groups.h"
#include "decoding/search/search_loop.h"
#include "decoding/steps/ensemble_steps.h"
#include "kernels/team.h"

namespace dragoman::decoding {
namespace {

// Between two products of a step there is less to do alone.
constexpr std::chrono::microseconds kTeamAwake{200};

// While alive, a run counts.
class CountedRun {
 public:
  explicit CountedRun(std::atomic<int>& runs) : runs_(runs), others_(runs++) {}
  ~CountedRun() { --runs_; }
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;
  bool alone() const { return others_ == 0; }

 private:
  std::atomic<int>& runs_;
  int others_;
};

}  // namespace

// One call of run: groups of sentences of similar length, taken by the workers one after another.
class ParallelSearch::Job {
 public:
  Job(const ParallelSearch& search, std::span<const std::vector<int32_t>> sources, const SearchOptions& options,
      std::span<const SentenceRequest> requests, OnError on_error)
      : search_(search),
        sources_(sources),
        options_(options),
        requests_(requests),
        on_error_(on_error),
        outputs_(sources.size()) {
    std::vector<int64_t> lengths;
    for (const std::vector<int32_t>& source : sources) {
      lengths.push_back(static_cast<int64_t>(source.size()));
    }
    // Few sentences are shared out, so that no worker stays idle. Groups have at most half of what a worker may hold:
    // while one group finishes, the next is already under way.
    const auto asked = static_cast<size_t>(decoding::worker_count(options.workers));
    workers_ = static_cast<int>(std::clamp(sources.size(), size_t{1}, asked));
    idle_threads_ = static_cast<int>(asked) - workers_;
    groups_ = group_by_length(lengths, (options.batch_tokens + 1) / 2, workers_);
    if (groups_.size() > static_cast<size_t>(workers_)) {
      const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
      one_group_ = total / static_cast<int64_t>(groups_.size()) * 9 / 8;  // they are nearly equal
    }
  }

  int worker_count() const { return workers_; }
  // Of each worker. Threads that have no sentence of their own help the others, unless other runs want the cores.
  int team_size(bool alone) const {
    return options_.threads_per_worker > 0 ? options_.threads_per_worker : 1 + (alone ? idle_threads_ / workers_ : 0);
  }
  std::vector<SearchOutput> take_outputs() { return std::move(outputs_); }

  bool reports_errors() const { return on_error_ == OnError::kReport; }

  // The whole life of one worker; `steps` has no sentence in it before and after.
  // @param under_way  names the sentences in it at any time
  void work(SentenceSteps& steps, std::vector<size_t>& under_way) {
    SearchLoop loop(steps, options_, on_error_);
    std::vector<SearchResult> results;
    int64_t tokens = 0;  // source tokens of the sentences under way
    while (!failed_) {
      while (const LengthGroup* group = next_group(loop.empty() ? 0 : tokens)) {
        under_way.insert(under_way.end(), group->items.begin(), group->items.end());
        tokens += admit(*group, steps, loop, under_way);
      }
      if (loop.empty()) {
        return;
      }
      results.clear();
      loop.step(results);
      for (SearchResult& result : results) {
        tokens -= length(result.sentence);
        keep(result);
        std::erase(under_way, result.sentence);
      }
    }
  }

  void stop_others() { failed_ = true; }

  // The sentences of a worker that failed end with its error; if it had none yet, those do that it would have had next.
  // @return whether nothing is left to search
  bool fail(std::vector<size_t> under_way, const std::exception_ptr& error) {
    if (under_way.empty()) {
      const LengthGroup* group = next_group(0);
      if (group == nullptr) {
        return true;
      }
      under_way.assign(group->items.begin(), group->items.end());
    }
    for (const size_t sentence : under_way) {
      outputs_[sentence] = {{}, {}, error};
    }
    return false;
  }

 private:
  int64_t length(size_t sentence) const { return static_cast<int64_t>(sources_[sentence].size()); }

  // The next group for a worker with `tokens` under way.
  const LengthGroup* next_group(int64_t tokens) {
    const std::lock_guard lock(mutex_);
    if (next_ == groups_.size() || tokens > one_group_) {
      return nullptr;
    }
    return &groups_[next_++];
  }

  // @return the source tokens of the sentences that begin; those end here that were cancelled before or ask for what
  // cannot be
  int64_t admit(const LengthGroup& group, SentenceSteps& steps, SearchLoop& loop, std::vector<size_t>& under_way) {
    std::vector<size_t> items;
    std::vector<std::span<const int32_t>> sentences;
    int64_t tokens = 0;
    for (const size_t sentence : group.items) {
      if (const auto reason = requests_.empty() ? std::nullopt : requests_[sentence].stop_reason()) {
        outputs_[sentence].hypotheses.push_back({{}, {}, 0.0, 0.0, *reason});
        std::erase(under_way, sentence);
        continue;
      }
      items.push_back(sentence);
      sentences.emplace_back(sources_[sentence]);
    }
    const std::vector<int32_t> slots = items.empty() ? std::vector<int32_t>() : steps.add(sentences);
    for (size_t i = 0; i < slots.size(); ++i) {
      const SentenceRequest request =
          search_.completed(requests_.empty() ? SentenceRequest() : requests_[items[i]], sentences[i], options_);
      if (const auto limits = limits_of(items[i], request)) {
        loop.add(items[i], slots[i], *limits, request);
        tokens += length(items[i]);
      } else {
        steps.remove(slots[i]);
        std::erase(under_way, items[i]);
      }
    }
    return tokens;
  }

  // None, and the error kept, where a request cannot be met.
  std::optional<SearchLimits> limits_of(size_t sentence, const SentenceRequest& request) {
    try {
      return search_.limits_of(sources_[sentence].size(), options_, request);
    } catch (...) {
      if (!reports_errors()) {
        throw;
      }
      outputs_[sentence].error = std::current_exception();
      return std::nullopt;
    }
  }

  void keep(SearchResult& result) {
    outputs_[result.sentence] =
        result.error == nullptr ? search_.output_of(sources_[result.sentence], std::move(result.hypotheses), options_)
                                : SearchOutput{{}, {}, result.error};
  }

  const ParallelSearch& search_;
  std::span<const std::vector<int32_t>> sources_;
  SearchOptions options_;
  std::span<const SentenceRequest> requests_;
  OnError on_error_;
  std::vector<SearchOutput> outputs_;
  std::vector<LengthGroup> groups_;
  int workers_ = 1;
  int idle_threads_ = 0;
  int64_t one_group_ = 0;  // tokens beside which a worker takes another group; 0: none, as each has one
  std::mutex mutex_;
  size_t next_ = 0;
  std::atomic<bool> failed_ = false;
};

void ParallelSearch::check(const SearchOptions& options) const {
  options.check();
  if (options.alignment) {
    check_alignment_layer(model(), options.alignment_layer);
  }
  base::check_usage(!options.shortlist || shortlist_ != nullptr,
                    "shortlist: the model has none; make one with dragoman shortlist --model DIR --source FILE, or "
                    "translate without");
}

std::vector<SearchOutput> ParallelSearch::run(std::span<const std::vector<int32_t>> sources,
                                              const SearchOptions& options, std::span<const SentenceRequest> requests,
                                              OnError on_error) const {
  check(options);
  base::check_argument(requests.empty() || requests.size() == sources.size(), "search: {} requests for {} sentences",
                       requests.size(), sources.size());
  Job job(*this, sources, options, requests, on_error);
  const CountedRun run(runs_);
  base::WorkerPool pool(job.worker_count());
  pool.run([&](int) {
    while (!work(job, job.team_size(run.alone()))) {
    }
  });
  return job.take_outputs();
}

// @return whether nothing is left to search; else the worker failed, and its sentences with it
bool ParallelSearch::work(Job& job, int team_size) const {
  std::vector<size_t> under_way;
  try {
    std::unique_ptr<SearchWorker> worker = take_worker(team_size);
    const tensor::ArenaScope arena(worker->arena);
    const kernels::TeamScope team(worker->team.get());
    job.work(*worker->steps, under_way);
    give_back(std::move(worker));
    return true;
  } catch (...) {
    if (job.reports_errors()) {
      return job.fail(std::move(under_way), std::current_exception());
    }
    job.stop_others();
    throw;
  }
}

int64_t ParallelSearch::max_positions() const {
  int64_t least = model().config().sizes().max_positions;
  for (const auto& member : models_) {
    least = std::min<int64_t>(least, member->config().sizes().max_positions);
  }
  return least;
}

SearchLimits ParallelSearch::limits_of(size_t source_length, const SearchOptions& options,
                                       const SentenceRequest& request) const {
  const auto after_prefix = static_cast<int64_t>(request.prefix.size()) + 1;
  const int64_t positions = max_positions();
  base::check_usage(after_prefix <= positions, "prefix: {} pieces, the model takes {} tokens; give a shorter beginning",
                    after_prefix - 1, positions);
  const int64_t longest = options.max_length(static_cast<int64_t>(source_length), positions);
  return {options.min_length, std::max(longest, after_prefix)};
}

SentenceRequest ParallelSearch::completed(SentenceRequest request, std::span<const int32_t> source,
                                          const SearchOptions& options) const {
  request.source_length = static_cast<int64_t>(source.size());
  request.random_stream = decoding::random_stream(source);
  if (options.shortlist) {
    request.allowed = shortlist_->allowed(source, request);
  }
  return request;
}

SearchOutput ParallelSearch::output_of(std::span<const int32_t> source, std::vector<Hypothesis> hypotheses,
                                       const SearchOptions& options) const {
  SearchOutput output{std::move(hypotheses), {}};
  for (size_t rank = 0; options.alignment && rank < output.hypotheses.size(); ++rank) {
    output.alignments.push_back(align(model(), source, output.hypotheses[rank].ids, options.alignment_layer));
  }
  return output;
}

std::unique_ptr<SearchWorker> ParallelSearch::take_worker(int threads) const {
  std::unique_ptr<SearchWorker> worker = idle_or_new_worker();
  if ((worker->team == nullptr ? 1 : worker->team->size()) != threads) {
    worker->team = threads == 1 ? nullptr : std::make_unique<base::WorkerPool>(threads, kTeamAwake);
  }
  return worker;
}

std::unique_ptr<SearchWorker> ParallelSearch::idle_or_new_worker() const {
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

void ParallelSearch::give_back(std::unique_ptr<SearchWorker> worker) const {
  if (worker->steps->slots_in_use() == 0) {
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(worker));
    } catch (const std::bad_alloc&) {  // one less to use again
    }
  }
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
