#include "serving/service/translation_service.h"

#include "decoding/search/phrase_constraints.h"
#include "serving/http/http_message.h"

namespace dragoman::serving {
namespace {

using decoding::FinishReason;
using decoding::Translation;

// The time between two searches for waiting jobs that are cancelled or late.
constexpr std::chrono::milliseconds kLookAgain{100};

// Returns the HttpError, or std::bad_alloc if there is no memory for it.
std::exception_ptr error_of(int status, const char* message) noexcept {
  try {
    return std::make_exception_ptr(HttpError(status, message));
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr timed_out() {
  return error_of(status::kGatewayTimeout, "the translation took too long");
}

std::exception_ptr cancelled() {
  return error_of(status::kUnavailable, "the request was cancelled");
}

void demand_terms(decoding::TranslationRequest& request, const std::shared_ptr<const decoding::TermTable>& terms) {
  std::vector<std::string> phrases = terms->find(request.text);
  if (phrases.size() <= decoding::kMostPhrases) {
    request.terms = terms;
  } else {
    phrases.resize(decoding::kMostPhrases);
    request.phrases = std::move(phrases);
  }
}

// Without memory for `done` the destructor of the exchange answers the client.
void tell(const decltype(TranslationJob::done)& done, const std::exception_ptr& error) noexcept {
  try {
    done({}, error);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace

struct TranslationService::Active {
  TranslationJob job;
  std::vector<Translation> translations;
  Clock::time_point arrived;
  Admission::Ticket ticket = 0;
  size_t next = 0;     // the line to begin next
  size_t in_work = 0;  // number of lines
  std::exception_ptr error;

  bool is_unfinished() const { return next < job.lines.size() || in_work > 0; }
};

TranslationService::TranslationService(int workers, int64_t batch_tokens, std::chrono::duration<double> longest_wait,
                                       double first_rate)
    : admission_(workers * batch_tokens, longest_wait, first_rate), thread_([this] { run(); }) {}

TranslationService::~TranslationService() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  mail_.notify_one();
  thread_.join();
}

void TranslationService::submit(TranslationJob job) {
  int64_t cost = 0;
  for (const TranslationJob::Line& line : job.lines) {
    cost += estimated_tokens(line.text);
  }
  Jobs arriving(1);  // all memory is allocated before the admission
  const auto& active = arriving.front() = std::make_shared<Active>();
  active->translations.resize(job.lines.size());
  const auto ticket = admission_.enter(cost);
  if (!ticket) {
    throw HttpError(status::kUnavailable, "The server is busy, try again", {{"Retry-After", "1"}});
  }
  try {
    if (job.on_admitted) {
      job.on_admitted();
    }
  } catch (...) {
    admission_.leave(*ticket, cost, Admission::Outcome::kGivenUp);
    throw;
  }
  active->job = std::move(job);
  active->ticket = *ticket;
  active->arrived = Clock::now();
  ++jobs_;
  {
    const std::lock_guard lock(mutex_);
    arrived_.splice(arrived_.end(), arriving);
  }
  mail_.notify_one();
}

void TranslationService::run() {
  std::list<Finished> finished;
  while (receive_mail(finished)) {
    for (Finished& line : finished) {
      record(line);
    }
    finished.clear();
    feed();
  }
}

// Waits for mail. Returns false if the service ends and all jobs are done.
bool TranslationService::receive_mail(std::list<Finished>& finished) {
  std::unique_lock lock(mutex_);
  const auto has_mail = [this] { return !arrived_.empty() || !finished_.empty() || (ending_ && jobs_ == 0); };
  if (turns_.empty()) {
    mail_.wait(lock, has_mail);
  } else {
    mail_.wait_for(lock, kLookAgain, has_mail);
  }
  std::swap(finished, finished_);
  turns_.splice(turns_.end(), arrived_);
  return !(ending_ && jobs_ == 0 && finished.empty() && turns_.empty());
}

void TranslationService::record(Finished& finished) {
  Active& active = *finished.job;
  const int64_t cost = estimated_tokens(active.job.lines[finished.line].text);
  in_work_ -= cost;
  --active.in_work;
  const Translation& translation = finished.translation;
  const FinishReason reason = translation.finish_reason;
  if (finished.error != nullptr) {
    give_up_lines(active, finished.error, failed_);
  } else if (reason == FinishReason::kDeadline) {
    give_up_lines(active, timed_out(), timed_out_);
  } else if (reason == FinishReason::kCancelled) {
    give_up_lines(active, cancelled(), cancelled_);
  } else {
    source_tokens_ += translation.source_pieces.size();
    target_tokens_ += translation.token_scores.size();
  }
  admission_.leave(active.ticket, cost,
                   active.error == nullptr ? Admission::Outcome::kDone : Admission::Outcome::kGivenUp);
  active.translations[finished.line] = std::move(finished.translation);
  end_if_done(active);
}

// Begins one line of each job in turn while Admission allows more work.
void TranslationService::feed() {
  const Clock::time_point now = Clock::now();
  if (now - swept_ >= kLookAgain) {
    sweep(now);
  }
  const int64_t most_in_work = admission_.in_work();
  while (in_work_ < most_in_work && !turns_.empty()) {
    Jobs turn;
    turn.splice(turn.begin(), turns_, turns_.begin());
    const std::shared_ptr<Active>& active = turn.front();
    drop_if_late(*active, now);
    if (active->next < active->job.lines.size()) {
      begin_line(active);
    }
    if (active->next < active->job.lines.size()) {
      turns_.splice(turns_.end(), turn);
    } else {
      end_if_done(*active);  // a job without lines, or given up before a line was begun
    }
  }
}

// Gives up the waiting jobs that are cancelled or late.
void TranslationService::sweep(Clock::time_point now) {
  swept_ = now;
  std::erase_if(turns_, [&](const std::shared_ptr<Active>& active) {
    drop_if_late(*active, now);
    end_if_done(*active);
    return active->next == active->job.lines.size();
  });
}

void TranslationService::drop_if_late(Active& active, Clock::time_point now) {
  if (active.job.cancel.stop_requested()) {
    give_up_lines(active, cancelled(), cancelled_);
  } else if (now >= active.job.deadline) {
    give_up_lines(active, timed_out(), timed_out_);
  }
}

void TranslationService::begin_line(const std::shared_ptr<Active>& active) {
  std::shared_ptr<std::list<Finished>> finished;
  try {  // the place for the result is allocated now, so that no result is lost if memory is exhausted later
    finished = std::make_shared<std::list<Finished>>(1);
  } catch (...) {
    return give_up_lines(*active, std::current_exception(), failed_);
  }
  const size_t line = active->next++;
  ++active->in_work;
  in_work_ += estimated_tokens(active->job.lines[line].text);
  if (line == 0) {
    on_begun(std::chrono::duration<double>(Clock::now() - active->arrived).count());
  }
  // The last reference to a job and its models must not end in a thread of these models, so the job is sent by mail.
  finished->front().job = active;
  finished->front().line = line;
  try {
    const TranslationJob& asked = active->job;
    const TranslationJob::Search& search = asked.searches[asked.lines[line].search];
    decoding::TranslationRequest request{
        .text = asked.lines[line].text, .cancel = asked.cancel, .deadline = asked.deadline};
    if (asked.terms != nullptr) {
      demand_terms(request, asked.terms);
    }
    if (asked.on_token) {
      request.on_token = [on_token = asked.on_token, line](const decoding::StreamedToken& token) {
        return on_token(line, token);
      };
    }
    search.model->translator->submit(std::move(request), search.options,
                                     [this, finished](Translation translation, const std::exception_ptr& error) {
                                       finished->front().translation = std::move(translation);
                                       finished->front().error = error;
                                       send_finished(*finished);
                                     });
  } catch (...) {
    finished->front().error = std::current_exception();
    send_finished(*finished);
  }
}

void TranslationService::send_finished(std::list<Finished>& one) {
  const std::lock_guard lock(mutex_);
  finished_.splice(finished_.end(), one);
  mail_.notify_one();
}

// The first error becomes the error of the job. Its waiting lines are never begun.
void TranslationService::give_up_lines(Active& active, const std::exception_ptr& error,
                                       std::atomic<uint64_t>& counter) {
  if (active.error == nullptr) {
    active.error = error;
    ++counter;
  }
  for (; active.next < active.job.lines.size(); ++active.next) {
    admission_.leave(active.ticket, estimated_tokens(active.job.lines[active.next].text), Admission::Outcome::kGivenUp);
  }
}

void TranslationService::end_if_done(Active& active) {
  if (active.is_unfinished()) {
    return;
  }
  const auto done = std::move(active.job.done);
  active.job.done = nullptr;
  if (!done) {
    return;
  }
  --jobs_;  // first: a client with the answer may read the metrics
  try {
    done(active.error == nullptr ? std::move(active.translations) : std::vector<Translation>(), active.error);
  } catch (...) {
    tell(done, std::current_exception());
  }
}

ServiceCounts TranslationService::counts() const {
  return {.waiting_cost = admission_.inside(),
          .jobs = jobs_,
          .source_tokens = source_tokens_,
          .target_tokens = target_tokens_,
          .rejected = admission_.refused(),
          .cancelled = cancelled_,
          .timed_out = timed_out_,
          .failed = failed_,
          .rate = admission_.rate()};
}

}  // namespace dragoman::serving
