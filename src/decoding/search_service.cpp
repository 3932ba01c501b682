#include "decoding/search_service.h"

#include <algorithm>

#include "decoding/in_groups.h"
#include "models/model_device.h"

namespace dragoman::decoding {

SearchService::SearchService(const SearchModels& models, const ServiceThreads& threads) : models_(models) {
  const int workers = worker_count(threads.workers, models::device_of(models_.first()));
  try {
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this, team_size = threads.threads_per_worker] {
        SearchEngine engine(models_, team_size);
        run(engine);
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

void SearchService::run(SearchEngine& engine) {
  while (true) {
    std::list<SearchTask> tasks = take(engine.tokens());
    if (tasks.empty() && engine.idle()) {
      return;
    }
    if (!tasks.empty()) {
      engine.admit(std::move(tasks));
    }
    if (!engine.idle()) {
      engine.step();
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
    SearchTask& next = waiting_.front();
    next.tokens = tokens_of(next.request, taken.empty() ? nullptr : &taken.back().request);
    if (tokens > 0 && tokens + next.tokens > next.options->execution.batch_tokens) {
      break;
    }
    tokens += next.tokens;
    taken.splice(taken.end(), waiting_, waiting_.begin());
  }
  return taken;
}

}  // namespace dragoman::decoding
