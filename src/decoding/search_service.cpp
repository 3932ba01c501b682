#include "decoding/search_service.h"

#include <algorithm>
#include <map>

#include "ops/team.h"

namespace dragoman::decoding {

// What one thread holds: a worker, and the tasks under way in it.
class SearchService::Thread {
 public:
  Thread(const ParallelSearch& search, int team_size) : search_(search), team_size_(team_size) {}
  ~Thread() {
    if (worker_ != nullptr) {
      search_.give_back(std::move(worker_));
    }
  }

  int64_t tokens() const { return tokens_; }
  bool idle() const { return tasks_.empty(); }

  void admit(std::vector<SearchTask> tasks) {
    try {
      renew();
    } catch (...) {  // no memory for a worker; the next task tries again
      return fail(tasks, std::current_exception());
    }
    const tensor::ArenaScope arena(worker_->arena);
    const ops::TeamScope team(worker_->team.get());
    std::vector<SearchTask> begun;
    std::vector<std::span<const int32_t>> sources;
    for (SearchTask& task : tasks) {
      if (const auto reason = task.request.stop_reason()) {
        task.done({{Hypothesis{{}, {}, 0.0, 0.0, *reason}}, {}}, nullptr);
      } else {
        begun.push_back(std::move(task));
      }
    }
    for (const SearchTask& task : begun) {
      sources.emplace_back(task.source);
    }
    std::vector<int32_t> slots;
    try {
      slots = sources.empty() ? std::vector<int32_t>() : worker_->steps->add(sources);
    } catch (...) {
      return admit_alone(std::move(begun), std::current_exception());
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      begin(std::move(begun[i]), slots[i]);
    }
  }

  void step() {
    std::vector<SearchResult> results;
    std::exception_ptr failure;
    {
      const tensor::ArenaScope arena(worker_->arena);
      const ops::TeamScope team(worker_->team.get());
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

  static void fail(const std::vector<SearchTask>& tasks, const std::exception_ptr& error) {
    for (const SearchTask& task : tasks) {
      task.done({}, error);
    }
  }

  // Whatever the encoder refused was in one of them: each is tried by itself.
  void admit_alone(std::vector<SearchTask> tasks, const std::exception_ptr& error) {
    if (tasks.size() == 1) {
      return tasks.front().done({}, error);
    }
    for (SearchTask& task : tasks) {
      std::vector<SearchTask> one;
      one.push_back(std::move(task));
      admit(std::move(one));
    }
  }

  void begin(SearchTask task, int32_t slot) {
    const size_t number = next_number_++;
    SentenceRequest request;
    SearchLimits limits;
    try {
      request = search_.completed(task.request, task.source, task.options);
      limits = search_.limits_of(task.source.size(), task.options, request);
    } catch (...) {
      worker_->steps->remove(slot);
      return task.done({}, std::current_exception());
    }
    loop_->add(number, slot, limits, request, task.options);
    tokens_ += static_cast<int64_t>(task.source.size());
    tasks_.emplace(number, std::move(task));
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
    std::vector<SearchTask> failed;
    for (auto& [number, task] : tasks_) {
      failed.push_back(std::move(task));
    }
    tasks_.clear();
    fail(failed, error);
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
  for (int i = 0; i < worker_count(options.workers); ++i) {
    threads_.emplace_back([this, team_size = std::max(options.threads_per_worker, 1)] {
      Thread thread(search_, team_size);
      while (true) {
        std::vector<SearchTask> tasks = take(thread.tokens());
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
    });
  }
}

SearchService::~SearchService() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void SearchService::submit(SearchTask task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  arrived_.notify_one();
}

std::vector<SearchTask> SearchService::take(int64_t tokens) {
  std::unique_lock lock(mutex_);
  if (tokens == 0) {
    arrived_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
  }
  // A burst is shared out over the threads; the rest may be taken before the next step.
  const size_t share = (waiting_.size() + threads_.size() - 1) / std::max<size_t>(threads_.size(), 1);
  std::vector<SearchTask> taken;
  while (!waiting_.empty() && taken.size() < share) {
    const auto length = static_cast<int64_t>(waiting_.front().source.size());
    if (tokens > 0 && tokens + length > waiting_.front().options.batch_tokens) {
      break;
    }
    tokens += length;
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return taken;
}

}  // namespace dragoman::decoding
