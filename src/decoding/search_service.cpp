#include "decoding/search_service.h"

#include <algorithm>
#include <map>

#include "kernels/team.h"

namespace dragoman::decoding {

// What one thread holds: a worker, and the tasks under way in it.
class SearchService::Thread {
 public:
  Thread(const ParallelSearch& search, int team_size) : search_(search), team_size_(team_size) {}
  ~Thread() {
    if (worker_ != nullptr && idle()) {
      search_.give_back(std::move(worker_));
    }
  }

  int64_t tokens() const { return tokens_; }
  bool idle() const { return tasks_.empty(); }

  // Whatever goes wrong, each of the tasks is under way afterwards or has been told.
  void admit(std::list<SearchTask> tasks) {
    std::vector<int32_t> slots;
    try {
      slots = encode(tasks);
    } catch (...) {
      return admit_alone(std::move(tasks), std::current_exception());
    }
    try {
      for (const int32_t slot : slots) {
        std::list<SearchTask> first;
        first.splice(first.begin(), tasks, tasks.begin());
        begin(first.front(), slot);
      }
    } catch (...) {  // nobody knows which slots are in use
      fail(tasks, std::current_exception());
      fail_all(std::current_exception());
    }
  }

  void step() {
    std::vector<SearchResult> results;
    std::exception_ptr failure;
    {
      const tensor::ArenaScope arena(worker_->arena);
      const kernels::TeamScope team(worker_->team.get());
      try {
        loop_->step(results);
      } catch (...) {  // the model itself: nobody's own error
        failure = std::current_exception();
      }
      for (SearchResult& result : results) {  // what ended before the failure did
        answer(result);
      }
    }
    if (failure != nullptr) {
      fail_all(failure);
    }
  }

 private:
  // Sees to a worker: at first, and after a failure.
  void renew() {
    if (loop_ == nullptr) {
      worker_ = search_.take_worker(team_size_);
      loop_ = std::make_unique<SearchLoop>(*worker_->steps, SearchOptions(), OnError::kReport);
    }
  }

  // Ends those that nobody waits for any more. @return a slot for each of the others
  std::vector<int32_t> encode(std::list<SearchTask>& tasks) {
    renew();
    const tensor::ArenaScope arena(worker_->arena);
    const kernels::TeamScope team(worker_->team.get());
    std::vector<std::span<const int32_t>> sources;
    for (auto task = tasks.begin(); task != tasks.end();) {
      if (const auto reason = task->request.stop_reason()) {
        task->done({{Hypothesis{.finish_reason = *reason}}}, nullptr);
        task = tasks.erase(task);
      } else {
        sources.emplace_back((task++)->source);
      }
    }
    return sources.empty() ? std::vector<int32_t>() : worker_->steps->add(sources);
  }

  template <typename Tasks>
  static void fail(const Tasks& tasks, const std::exception_ptr& error) {
    for (const SearchTask& task : tasks) {
      task.done({}, error);
    }
  }

  // Whatever the encoder refused was in one of them, or too much for all of them: each is tried by itself.
  void admit_alone(std::list<SearchTask> tasks, const std::exception_ptr& error) {
    if (tasks.size() <= 1) {
      return fail(tasks, error);
    }
    while (!tasks.empty()) {
      std::list<SearchTask> one;
      one.splice(one.begin(), tasks, tasks.begin());
      admit(std::move(one));
    }
  }

  // Throws when the slot could not be freed; the task has been told then.
  void begin(SearchTask& task, int32_t slot) {
    const tensor::ArenaScope arena(worker_->arena);
    const kernels::TeamScope team(worker_->team.get());
    const size_t number = next_number_++;
    const auto tokens = static_cast<int64_t>(task.source.size());
    try {
      const SentenceRequest request = search_.completed(task.request, task.source, task.options);
      const SearchLimits limits = search_.limits_of(task.source.size(), task.options, request);
      SearchTask& kept = tasks_.emplace(number, std::move(task)).first->second;  // moved only if there is memory
      loop_->add(number, slot, limits, request, kept.options);
      tokens_ += tokens;
    } catch (...) {
      const auto kept = tasks_.extract(number);
      (kept.empty() ? task : kept.mapped()).done({}, std::current_exception());
      worker_->steps->remove(slot);
    }
  }

  void answer(SearchResult& result) {
    const auto found = tasks_.find(result.sentence);
    const SearchTask task = std::move(found->second);
    tasks_.erase(found);
    tokens_ -= static_cast<int64_t>(task.source.size());
    SearchOutput output;
    try {
      if (result.error == nullptr) {
        output = search_.output_of(task.source, std::move(result.hypotheses), task.options);
      }
    } catch (...) {
      result.error = std::current_exception();
    }
    task.done(std::move(output), result.error);
  }

  // All that is under way ends with the error, and what was searched with is dropped, whatever state it is in.
  void fail_all(const std::exception_ptr& error) {
    loop_.reset();
    worker_.reset();
    tokens_ = 0;
    const std::map<size_t, SearchTask> failed = std::exchange(tasks_, {});
    for (const auto& [number, task] : failed) {
      task.done({}, error);
    }
  }

  const ParallelSearch& search_;
  int team_size_;
  std::unique_ptr<SearchWorker> worker_;
  std::unique_ptr<SearchLoop> loop_;
  std::map<size_t, SearchTask> tasks_;
  size_t next_number_ = 0;
  int64_t tokens_ = 0;
};

SearchService::SearchService(const ParallelSearch& search, const SearchOptions& options) : search_(search) {
  try {
    for (int i = 0; i < worker_count(options.workers); ++i) {
      threads_.emplace_back([this, team_size = std::max(options.threads_per_worker, 1)] {
        Thread thread(search_, team_size);
        run(thread);
      });
    }
  } catch (...) {  // the system refuses one of them
    end();
    throw;
  }
}

SearchService::~SearchService() {
  end();
}

void SearchService::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void SearchService::run(Thread& thread) {
  while (true) {
    std::list<SearchTask> tasks = take(thread.tokens());
    if (tasks.empty() && thread.idle()) {
      return;
    }
    if (!tasks.empty()) {
      thread.admit(std::move(tasks));
    }
    if (!thread.idle()) {
      thread.step();
    }
  }
}

void SearchService::submit(std::list<SearchTask> tasks) {
  const bool is_one = tasks.size() == 1;
  {
    const std::lock_guard lock(mutex_);
    waiting_.splice(waiting_.end(), tasks);
  }
  is_one ? arrived_.notify_one() : arrived_.notify_all();
}

std::list<SearchTask> SearchService::take(int64_t tokens) {
  std::unique_lock lock(mutex_);
  if (tokens == 0) {
    arrived_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
  }
  // A burst is shared out over the threads; the rest may be taken before the next step.
  const size_t share = (waiting_.size() + threads_.size() - 1) / std::max<size_t>(threads_.size(), 1);
  std::list<SearchTask> taken;
  while (!waiting_.empty() && taken.size() < share) {
    const auto length = static_cast<int64_t>(waiting_.front().source.size());
    if (tokens > 0 && tokens + length > waiting_.front().options.batch_tokens) {
      break;
    }
    tokens += length;
    taken.splice(taken.end(), waiting_, waiting_.begin());
  }
  return taken;
}

}  // namespace dragoman::decoding
