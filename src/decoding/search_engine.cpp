#include "decoding/search_engine.h"

#include <algorithm>

#include "kernels/team.h"

namespace dragoman::decoding {
namespace {

void tell(const SearchTask& task, SearchResult result) {
  result.sentence = task.sentence;
  task.done(std::move(result));
}

void tell_error(const SearchTask& task, const std::exception_ptr& error) {
  SearchResult result;
  result.error = error;
  tell(task, std::move(result));
}

void tell_stopped(const SearchTask& task, FinishReason reason) {
  SearchResult result;
  result.hypotheses.emplace_back().finish_reason = reason;
  tell(task, std::move(result));
}

}  // namespace

int64_t tokens_of(const SentenceRequest& request, const SentenceRequest* before) {
  auto tokens = static_cast<int64_t>(request.source.size());
  if (request.continues_source) {
    if (before != nullptr && before->continues_source) {
      tokens -= std::ranges::mismatch(request.source, before->source).in1 - request.source.begin();
    }
    tokens += request.max_length.value_or(0);
  }
  return std::max<int64_t>(tokens, 1);
}

SearchEngine::~SearchEngine() {
  if (worker_ != nullptr) {
    models_.give_back(std::move(worker_));
  }
}

void SearchEngine::admit(std::list<SearchTask> tasks) {
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
  } catch (...) {  // which slots are in use is unknown
    for (const SearchTask& task : tasks) {
      tell_error(task, std::current_exception());
    }
    fail_all(std::current_exception());
  }
}

// Sees to a worker: at first, and after a failure.
void SearchEngine::renew() {
  if (loop_ == nullptr) {
    worker_ = models_.take_worker(team_size_);
    loop_ = std::make_unique<SearchLoop>(*worker_->steps);
  }
}

// Tells those that are cancelled or out of time. @return a slot for each of the others
std::vector<int32_t> SearchEngine::encode(std::list<SearchTask>& tasks) {
  renew();
  const tensor::ArenaScope arena(worker_->arena);
  const kernels::TeamScope team(worker_->team.get());
  std::vector<std::span<const int32_t>> sources;
  for (auto task = tasks.begin(); task != tasks.end();) {
    if (const auto reason = task->request.stop_reason()) {
      tell_stopped(*task, *reason);
      task = tasks.erase(task);
    } else {
      sources.emplace_back((task++)->request.source);
    }
  }
  return sources.empty() ? std::vector<int32_t>() : worker_->steps->add(sources);
}

// What the encoder refused was in one of the tasks, or too much for all of them: each is tried by itself.
void SearchEngine::admit_alone(std::list<SearchTask> tasks, const std::exception_ptr& error) {
  if (tasks.size() == 1) {
    return tell_error(tasks.front(), error);
  }
  while (!tasks.empty()) {
    std::list<SearchTask> one;
    one.splice(one.begin(), tasks, tasks.begin());
    admit(std::move(one));
  }
}

// Throws when the slot could not be freed; the task has been told then.
void SearchEngine::begin(SearchTask& task, int32_t slot) {
  const tensor::ArenaScope arena(worker_->arena);
  const kernels::TeamScope team(worker_->team.get());
  const size_t number = next_number_++;
  const int64_t tokens = task.tokens;
  try {
    models_.complete(task.request, *task.options);
    const SearchLimits limits = models_.limits_of(task.request, *task.options);
    SearchTask& kept = tasks_.emplace(number, std::move(task)).first->second;  // moved only if there is memory
    loop_->add(number, slot, limits, *kept.options, kept.request);
    tokens_ += tokens;
  } catch (...) {
    const auto kept = tasks_.extract(number);
    tell_error(kept.empty() ? task : kept.mapped(), std::current_exception());
    worker_->steps->remove(slot);
  }
}

void SearchEngine::step() {
  std::vector<SearchResult> results;
  std::exception_ptr failure;
  {
    const tensor::ArenaScope arena(worker_->arena);
    const kernels::TeamScope team(worker_->team.get());
    try {
      loop_->step(results);
    } catch (...) {  // the model itself: the error of all
      failure = std::current_exception();
    }
    for (SearchResult& result : results) {  // what ended before the failure did
      finish(std::move(result));
    }
  }
  if (failure != nullptr) {
    fail_all(failure);
  }
}

void SearchEngine::finish(SearchResult result) {
  const auto found = tasks_.find(result.sentence);
  const SearchTask task = std::move(found->second);
  tasks_.erase(found);
  tokens_ -= task.tokens;
  try {
    models_.add_alignments(task.request.source, *task.options, result.hypotheses);
  } catch (...) {
    result.error = std::current_exception();
  }
  if (result.error != nullptr) {
    return tell_error(task, result.error);
  }
  tell(task, std::move(result));
}

// All that is under way ends with the error, and what was searched with is dropped, whatever state it is in.
void SearchEngine::fail_all(const std::exception_ptr& error) {
  loop_.reset();
  worker_.reset();
  tokens_ = 0;
  const Tasks failed = std::exchange(tasks_, {});
  for (const auto& [number, task] : failed) {
    tell_error(task, error);
  }
}

}  // namespace dragoman::decoding
