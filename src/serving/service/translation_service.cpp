#include "serving/service/translation_service.h"

#include "decoding/search/phrase_constraints.h"

namespace dragoman::serving {
namespace {

using decoding::Translation;

// A job and its translations, until it is done.
struct Translating {
  TranslationJob job;
  std::vector<Translation> translations;
};

void demand_terms(decoding::TranslationRequest& request, const std::shared_ptr<const decoding::TermTable>& terms) {
  std::vector<std::string> phrases = terms->find(request.text);
  if (phrases.size() <= decoding::kMostPhrases) {
    request.terms = terms;
  } else {
    phrases.resize(decoding::kMostPhrases);
    request.phrases = std::move(phrases);
  }
}

void begin_line(Translating& work, size_t line, const PartReport& report) {
  const TranslationJob& asked = work.job;
  const TranslationJob::Search& search = asked.searches[asked.lines[line].search];
  decoding::TranslationRequest request{.text = asked.lines[line].text,
                                       .languages = asked.lines[line].languages,
                                       .cancel = asked.cancel,
                                       .deadline = asked.deadline};
  if (asked.terms != nullptr) {
    demand_terms(request, asked.terms);
  }
  if (asked.on_token) {
    request.on_token = [on_token = asked.on_token, line](const decoding::StreamedToken& token) {
      return on_token(line, token);
    };
  }
  // The queue holds the job, and with it `work`, until the report is ended.
  search.model->translator->submit(
      std::move(request), search.options,
      [&place = work.translations[line], report](Translation translation, const std::exception_ptr& error) {
        PartEnd end{translation.finish_reason, translation.source_pieces.size(), translation.token_scores.size(),
                    error};
        place = std::move(translation);
        report.end(std::move(end));
      });
}

}  // namespace

TranslationService::TranslationService(int workers, int64_t batch_tokens, std::chrono::duration<double> longest_wait,
                                       double first_rate)
    : queue_({.in_work = workers * batch_tokens, .longest_wait = longest_wait}, first_rate,
             [this](double seconds) { on_begun(seconds); }) {}

void TranslationService::submit(TranslationJob job) {
  QueuedJob queued{.costs = {}, .cancel = job.cancel, .deadline = job.deadline, .begin = {}, .done = {}};
  for (const TranslationJob::Line& line : job.lines) {
    queued.costs.push_back(estimated_tokens(line.text));
  }
  queued.on_admitted = std::move(job.on_admitted);
  const auto work = std::make_shared<Translating>();
  work->translations.resize(job.lines.size());
  work->job = std::move(job);
  queued.begin = [work](size_t line, const PartReport& report) { begin_line(*work, line, report); };
  queued.done = [work](const std::exception_ptr& error) {
    work->job.done(error == nullptr ? std::move(work->translations) : std::vector<Translation>(), error);
  };
  queue_.submit(std::move(queued));
}

}  // namespace dragoman::serving
