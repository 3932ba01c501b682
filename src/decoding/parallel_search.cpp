#include "decoding/parallel_search.h"

#include <algorithm>
#include <numeric>

#include "decoding/in_groups.h"
#include "decoding/length_groups.h"
#include "decoding/search_engine.h"
#include "models/model_device.h"

namespace dragoman::decoding {
namespace {

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

// One call of run: groups of sentences, taken by the workers one after another.
class ParallelSearch::Job {
 public:
  Job(std::span<const SentenceRequest> requests, const SearchOptions& options, int workers, OnError on_error)
      : requests_(requests),
        options_(std::make_shared<const SearchOptions>(options)),
        on_error_(on_error),
        results_(requests.size()) {
    // Few sentences are shared out, so that no worker stays idle. Groups have at most half of what a worker may hold:
    // while one group finishes, the next is already under way.
    const auto asked = static_cast<size_t>(workers);
    workers_ = static_cast<int>(std::clamp(requests.size(), size_t{1}, asked));
    idle_threads_ = static_cast<int>(asked) - workers_;
    groups_ = make_groups((options.execution.batch_tokens + 1) / 2);
    if (groups_.size() > static_cast<size_t>(workers_)) {
      int64_t total = 0;
      for (const LengthGroup& group : groups_) {
        total += group.tokens;
      }
      one_group_ = total / static_cast<int64_t>(groups_.size()) * 9 / 8;  // they are nearly equal
    }
  }

  int worker_count() const { return workers_; }
  // Of each worker. Threads that have no sentence of their own help the others, unless other runs want the cores.
  int team_size(bool alone) const {
    return options_->execution.threads_per_worker > 0 ? options_->execution.threads_per_worker
                                                      : 1 + (alone ? idle_threads_ / workers_ : 0);
  }

  // The whole life of one worker.
  void work(SearchEngine& engine) {
    while (!is_over_) {
      while (const LengthGroup* group = next_group(engine.tokens())) {
        begin(*group, engine);
      }
      if (engine.idle()) {
        return;
      }
      engine.step();
    }
  }

  std::vector<SearchResult> take_results() {
    const auto failed = std::ranges::find_if(results_, [](const auto& result) { return result.error != nullptr; });
    if (on_error_ == OnError::kThrow && failed != results_.end()) {
      std::rethrow_exception(failed->error);
    }
    return std::move(results_);
  }

 private:
  // Sentences of similar length; of texts that continue their source, those that begin alike.
  std::vector<LengthGroup> make_groups(int64_t max_tokens) const {
    std::vector<size_t> order(requests_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto source_of = [this](size_t i) -> const std::vector<int32_t>& { return requests_[i].source; };
    const bool begin_alike = !requests_.empty() && requests_.front().continues_source;
    if (begin_alike) {
      std::ranges::stable_sort(order, {}, source_of);
    }
    std::vector<int64_t> tokens(requests_.size());
    const SentenceRequest* before = nullptr;
    for (const size_t sentence : order) {
      tokens[sentence] = tokens_of(requests_[sentence], before);
      before = &requests_[sentence];
    }
    return begin_alike ? group_in_order(order, tokens, max_tokens, workers_)
                       : group_by_length(tokens, max_tokens, workers_);
  }

  // The next group for a worker with `tokens` under way.
  const LengthGroup* next_group(int64_t tokens) {
    const std::lock_guard lock(mutex_);
    if (next_ == groups_.size() || tokens > one_group_) {
      return nullptr;
    }
    return &groups_[next_++];
  }

  void begin(const LengthGroup& group, SearchEngine& engine) {
    std::list<SearchTask> tasks;
    try {
      const SentenceRequest* before = nullptr;
      for (const size_t sentence : group.items) {
        const SentenceRequest& request = requests_[sentence];
        tasks.push_back({sentence, request, options_, [this](SearchResult result) { keep(std::move(result)); },
                         tokens_of(request, before)});
        before = &request;
      }
    } catch (...) {  // no memory for the tasks
      for (const size_t sentence : group.items) {
        keep({.sentence = sentence, .error = std::current_exception()});
      }
      return;
    }
    engine.admit(std::move(tasks));
  }

  // Each sentence has its place, so that workers need no lock.
  void keep(SearchResult result) {
    if (result.error != nullptr && on_error_ == OnError::kThrow) {
      is_over_ = true;
    }
    results_[result.sentence] = std::move(result);
  }

  std::span<const SentenceRequest> requests_;
  std::shared_ptr<const SearchOptions> options_;
  OnError on_error_;
  std::vector<SearchResult> results_;
  std::vector<LengthGroup> groups_;
  int workers_ = 1;
  int idle_threads_ = 0;
  int64_t one_group_ = 0;  // tokens beside which a worker takes another group; 0: none, as each has one
  std::mutex mutex_;
  size_t next_ = 0;
  std::atomic<bool> is_over_ = false;  // because one failed
};

std::vector<SearchResult> ParallelSearch::run(std::span<const SentenceRequest> requests, const SearchOptions& options,
                                              OnError on_error) const {
  models_.check(options);
  Job job(requests, options, worker_count(options.execution.workers, models::device_of(models_.first())), on_error);
  const CountedRun run(runs_);
  base::WorkerPool pool(job.worker_count());
  pool.run([&](int) {
    SearchEngine engine(models_, job.team_size(run.alone()));
    job.work(engine);
  });
  return job.take_results();
}

std::vector<SearchResult> ParallelSearch::run(std::span<const std::vector<int32_t>> sources,
                                              const SearchOptions& options) const {
  std::vector<SentenceRequest> requests(sources.size());
  for (size_t sentence = 0; sentence < sources.size(); ++sentence) {
    requests[sentence].source = sources[sentence];
  }
  return run(requests, options);
}

}  // namespace dragoman::decoding
