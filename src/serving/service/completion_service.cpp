#include "serving/service/completion_service.h"

namespace dragoman::serving {
namespace {

using decoding::Continuation;
using decoding::FinishReason;

// A job and its texts, until it is done.
struct Completing {
  CompletionJob job;
  std::vector<Continuation> texts;
  std::vector<char> has_token;  // whether the first token of a part has been seen
  TurnQueue::Clock::time_point arrived;
  const CompletionService::Watch* watch;

  // A part runs in one thread of the model, so its entries need no lock.
  bool take(size_t part, const decoding::GeneratedPart& piece, const PartReport& report) {
    auto done = static_cast<int64_t>(piece.ids.size());
    if (has_token[part] == 0) {
      has_token[part] = 1;
      done += static_cast<int64_t>(job.parts[part].prompt.size());
      watch->first_token(std::chrono::duration<double>(TurnQueue::Clock::now() - arrived).count());
    }
    report.progress(done);
    return !job.on_part || job.on_part(part, piece);
  }

  void finish(size_t part, Continuation text) {
    const bool is_whole =
        text.finish_reason != FinishReason::kCancelled && text.finish_reason != FinishReason::kDeadline;
    if (is_whole && job.on_finished) {
      job.on_finished(part, text);
    }
    texts[part] = std::move(text);
  }
};

// The queue holds the job, and with it `work`, until the report is ended.
void begin_part(Completing& work, size_t part, const PartReport& report) {
  const CompletionJob& job = work.job;
  decoding::GenerationRequest request{.prompt_ids = job.parts[part].prompt,
                                      .sample = job.parts[part].sample,
                                      .likeliest = job.likeliest,
                                      .scores_prompt = job.scores_prompt,
                                      .cancel = job.cancel,
                                      .deadline = job.deadline};
  request.on_part = [&work, part, report](const decoding::GeneratedPart& piece) {
    return work.take(part, piece, report);
  };
  job.model->generator->submit(request, job.options,
                               [&work, part, report](Continuation text, const std::exception_ptr& error) {
                                 PartEnd end{text.finish_reason, text.prompt_ids.size(), text.ids.size(), error};
                                 try {
                                   if (error == nullptr) {
                                     work.finish(part, std::move(text));
                                   }
                                 } catch (...) {
                                   end.error = std::current_exception();
                                 }
                                 report.end(std::move(end));
                               });
}

// The cost of a part that ends at the end of the context is what fits into it.
int64_t cost_of(const CompletionJob& job, const CompletionJob::Part& part) {
  const auto prompt = static_cast<int64_t>(part.prompt.size());
  const int64_t room = job.model->generator->context() - prompt;
  return prompt + (job.options.context_shift ? job.options.max_tokens : std::min(job.options.max_tokens, room));
}

}  // namespace

CompletionService::CompletionService(const AdmissionLimits& limits, double first_rate, Watch watch)
    : watch_(std::move(watch)), queue_(limits, first_rate, watch_.begun) {}

void CompletionService::submit(CompletionJob job) {
  QueuedJob queued{.costs = {}, .cancel = job.cancel, .deadline = job.deadline, .begin = {}, .done = {}};
  for (const CompletionJob::Part& part : job.parts) {
    queued.costs.push_back(cost_of(job, part));
  }
  queued.late = "the completion took too long";
  queued.on_admitted = std::move(job.on_admitted);
  const auto work = std::make_shared<Completing>();
  work->texts.resize(job.parts.size());
  work->has_token.resize(job.parts.size());
  work->arrived = TurnQueue::Clock::now();
  work->watch = &watch_;
  work->job = std::move(job);
  queued.begin = [work](size_t part, const PartReport& report) { begin_part(*work, part, report); };
  queued.done = [work](const std::exception_ptr& error) {
    work->job.done(error == nullptr ? std::move(work->texts) : std::vector<Continuation>(), error);
  };
  queue_.submit(std::move(queued));
}

}  // namespace dragoman::serving
