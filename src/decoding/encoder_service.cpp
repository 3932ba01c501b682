#include "decoding/encoder_service.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/worker_pool.h"
#include "decoding/in_groups.h"
#include "decoding/text_encoder.h"
#include "decoding/text_labeler.h"
#include "kernels/team.h"
#include "tensor/arena.h"

namespace dragoman::decoding {
namespace {

// Logits that a thread computes at a time: 64 MiB. The logits of one text may be more.
constexpr int64_t kMostLogits = int64_t{1} << 24;

void tell(EncoderTask& task, const EncodedText& text) {
  const auto done = std::move(task.done);
  task.done = nullptr;
  done(text);
}

void tell_error(EncoderTask& task, const std::exception_ptr& error) {
  if (task.done) {
    tell(task, {.error = error});
  }
}

void check_finite(std::span<const float> values) {
  const bool is_finite = std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  base::check_argument(is_finite, "encoder: a value of a text is not finite; are the weights damaged?");
}

// Values that are no numbers are an error of their text alone.
void tell_values(EncoderTask& task, std::span<const float> values) {
  try {
    check_finite(values);
  } catch (const base::Error&) {
    return tell_error(task, std::current_exception());
  }
  tell(task, {.values = values});
}

// Tells tasks that are cancelled or late, and drops them.
void drop_given_up(std::list<EncoderTask>& tasks) {
  const Deadline now = Deadline::clock::now();
  std::erase_if(tasks, [now](EncoderTask& task) {
    const bool is_cancelled = task.cancel.stop_requested();
    if (is_cancelled || now >= task.deadline) {
      tell(task, {.reason = is_cancelled ? FinishReason::kCancelled : FinishReason::kDeadline});
      return true;
    }
    return false;
  });
}

}  // namespace

EncoderService::EncoderService(std::shared_ptr<const models::EncoderOnly> model, const ServiceThreads& threads,
                               int64_t batch_tokens)
    : model_(std::move(model)), batch_tokens_(batch_tokens) {
  const int workers = worker_count(threads.workers, memory_->device());
  try {
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this, team_size = threads.threads_per_worker] { run(team_size); });
    }
  } catch (...) {  // the system refuses one of them
    end();
    throw;
  }
}

EncoderService::~EncoderService() {
  end();
}

void EncoderService::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void EncoderService::submit(Tasks task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.splice(waiting_.end(), task);
  }
  arrived_.notify_one();
}

void EncoderService::run(int team_size) {
  const tensor::ArenaScope arena(memory_->another());
  std::optional<base::WorkerPool> team;
  if (team_size > 1) {
    team.emplace(team_size, kTeamAwake);
  }
  const kernels::TeamScope scope(team ? &*team : nullptr);
  for (Tasks tasks = take(); !tasks.empty(); tasks = take()) {
    drop_given_up(tasks);
    encode(tasks);
  }
}

int64_t EncoderService::logits_of(const EncoderTask& task) const {
  const models::EncoderOnlyConfig& config = model_->encoder_config();
  const bool is_words = task.result == EncoderResult::kLogits && config.head == models::EncoderHead::kWords;
  return is_words ? static_cast<int64_t>(task.input.word_rows.size()) * config.vocab_size : 0;
}

// Returns tasks of one kind; waits for one. None at the end.
EncoderService::Tasks EncoderService::take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
  // A burst is shared out over the threads.
  const size_t share = (waiting_.size() + threads_.size() - 1) / std::max<size_t>(threads_.size(), 1);
  Tasks taken;
  int64_t tokens = 0, logits = 0;
  while (!waiting_.empty() && taken.size() < share) {
    const EncoderTask& next = waiting_.front();
    tokens += static_cast<int64_t>(next.input.ids.size());
    logits += logits_of(next);
    const bool fits = tokens <= batch_tokens_ && logits <= kMostLogits;
    if (!taken.empty() && (!fits || next.result != taken.front().result)) {
      break;
    }
    taken.splice(taken.end(), waiting_, waiting_.begin());
  }
  if (!waiting_.empty()) {
    arrived_.notify_one();
  }
  return taken;
}

// If a batch fails, each of its texts is tried alone, so that an error is the error of one text.
void EncoderService::encode(Tasks& tasks) const {
  if (tasks.empty()) {
    return;
  }
  try {
    std::vector<const data::EncoderInput*> inputs;
    std::vector<EncoderTask*> asked;
    for (EncoderTask& task : tasks) {
      inputs.push_back(&task.input);
      asked.push_back(&task);
    }
    const auto run_batch = tasks.front().result == EncoderResult::kVector ? embed_batch : logits_batch;
    run_batch(*model_, inputs,
              [&](size_t index, std::span<const float> values) { tell_values(*asked[index], values); });
  } catch (...) {
    if (tasks.size() == 1) {
      return tell_error(tasks.front(), std::current_exception());
    }
    while (!tasks.empty()) {
      Tasks one;
      one.splice(one.end(), tasks, tasks.begin());
      if (one.front().done) {
        encode(one);
      }
    }
  }
}

}  // namespace dragoman::decoding
