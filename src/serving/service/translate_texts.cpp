#include "serving/service/translate_texts.h"

#include <algorithm>
#include <span>

#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

decoding::SearchOptions search_of(const TextsRequest& request, const ServedModel& model) {
  decoding::SearchOptions search = model.search;
  search.n_best = static_cast<int>(request.alternatives) + 1;
  search.beam_size = std::max(request.beam_size > 0 ? request.beam_size : search.beam_size, search.n_best);
  // Without cross-attention, tags are placed as if the translation went straight through the source.
  const auto layers = static_cast<int>(model.translator->model().cross_attention_paths().size());
  search.output.alignment = layers > 0 && std::ranges::any_of(request.texts, [](const TextToTranslate& text) {
                              return text.plan.has_tags();
                            });
  search.output.alignment_layer =
      std::max(0, layers - 2);  // the last layer but one aligns best (Garg et al. 2019, section 4.2)
  return search;
}

// Adds the lines of a text to a job, and the search of its model if the job does not have it yet.
void add_lines(TranslationJob& job, const TextsRequest& request, const TextToTranslate& text) {
  const auto search = std::ranges::find(job.searches, text.model, &TranslationJob::Search::model);
  const auto index = static_cast<size_t>(search - job.searches.begin());
  if (search == job.searches.end()) {
    job.searches.push_back({text.model, search_of(request, *text.model)});
  }
  for (const TextPlan::Piece& piece : text.plan.pieces) {
    if (piece.is_line) {
      job.lines.push_back({piece.text, index, text.languages});
    }
  }
}

}  // namespace

std::vector<TranslatedText> translated_texts(const std::vector<TextToTranslate>& asked,
                                             std::vector<decoding::Translation> lines, size_t alternatives) {
  for (decoding::Translation& line : lines) {
    std::erase_if(line.alternatives, [](const decoding::Translation& one) { return is_blank(one.text); });
  }
  std::vector<TranslatedText> texts;
  std::span<const decoding::Translation> rest = lines;
  for (const auto& [plan, model, languages] : asked) {
    if (model == nullptr) {
      texts.push_back({unchanged(plan), {}});
      continue;
    }
    const auto own = rest.first(plan.lines());
    texts.push_back({assemble(plan, own), alternatives_of(plan, own, alternatives)});
    std::erase_if(texts.back().alternatives, [](const std::string& text) { return is_blank(text); });
    rest = rest.subspan(own.size());
  }
  return texts;
}

void translate_texts(ServingContext& context, const HttpExchange& exchange, TextsRequest request, TextsDone done) {
  TranslationJob job;
  for (const TextToTranslate& text : request.texts) {
    if (text.model != nullptr) {
      add_lines(job, request, text);
    }
  }
  if (job.searches.empty()) {
    if (request.on_admitted) {
      request.on_admitted();
    }
    return done(translated_texts(request.texts, {}, 0), nullptr);
  }
  job.models = request.models;
  job.terms = std::move(request.terms);
  job.on_token = std::move(request.on_token);
  job.on_admitted = std::move(request.on_admitted);
  job.cancel = exchange.cancelled();
  job.deadline = TranslationService::Clock::now() + context.request_time;
  job.done = [texts = std::move(request.texts), alternatives = request.alternatives, done = std::move(done)](
                 std::vector<decoding::Translation> lines, const std::exception_ptr& error) {
    done(error == nullptr ? translated_texts(texts, std::move(lines), alternatives) : std::vector<TranslatedText>(),
         error);
  };
  context.service.submit(std::move(job));
}

}  // namespace dragoman::serving
