#include "serving/translate_texts.h"

#include <algorithm>
#include <span>

namespace dragoman::serving {
namespace {

std::vector<TranslatedText> assembled(const std::vector<TextPlan>& plans,
                                      std::span<const decoding::Translation> lines, size_t alternatives) {
  std::vector<TranslatedText> texts;
  for (const TextPlan& plan : plans) {
    const auto own = lines.first(plan.lines());
    texts.push_back({assemble(plan, own), alternatives_of(plan, own, alternatives)});
    lines = lines.subspan(own.size());
  }
  return texts;
}

std::string unchanged(const TextPlan& plan) {
  std::string text;
  for (const TextPlan::Piece& piece : plan.pieces) {
    text += piece.text;
  }
  return text;
}

}  // namespace

void translate_texts(ServingContext& context, const Exchange& exchange, TextsRequest request, TextsDone done) {
  if (request.model == nullptr) {
    std::vector<TranslatedText> texts;
    for (const TextPlan& plan : request.plans) {
      texts.push_back({unchanged(plan), {}});
    }
    return done(std::move(texts), nullptr);
  }
  TranslationJob job;
  job.models = request.models;
  job.model = request.model;
  job.options = request.model->search;
  for (const TextPlan& plan : request.plans) {
    for (const TextPlan::Piece& piece : plan.pieces) {
      if (piece.is_line) {
        job.lines.push_back(piece.text);
      }
    }
  }
  job.options.n_best = static_cast<int>(request.alternatives) + 1;
  job.options.beam_size = std::max(job.options.beam_size, job.options.n_best);
  job.cancel = exchange.cancelled();
  job.deadline = TranslationService::Clock::now() + context.request_time;
  job.done = [plans = std::move(request.plans), alternatives = request.alternatives, done = std::move(done)](
                 const std::vector<decoding::Translation>& lines, const std::exception_ptr& error) {
    done(error == nullptr ? assembled(plans, lines, alternatives) : std::vector<TranslatedText>(), error);
  };
  context.service.submit(std::move(job));
}

}  // namespace dragoman::serving
