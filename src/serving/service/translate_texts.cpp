#include "serving/service/translate_texts.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"

namespace dragoman::serving {
namespace {

bool is_blank(std::string_view text) {
  return base::trim(text, " \t\n").empty();
}

decoding::SearchOptions search_of(const TextsRequest& request) {
  decoding::SearchOptions search = request.model->search;
  search.n_best = static_cast<int>(request.alternatives) + 1;
  search.beam_size = std::max(request.beam_size > 0 ? request.beam_size : search.beam_size, search.n_best);
  // Without cross-attention, tags are placed as if the translation went straight through the source.
  const auto layers = static_cast<int>(request.model->translator->model().cross_attention_paths().size());
  search.output.alignment = layers > 0 && std::ranges::any_of(request.plans, &TextPlan::has_tags);
  search.output.alignment_layer =
      std::max(0, layers - 2);  // the last layer but one aligns best (Garg et al. 2019, section 4.2)
  return search;
}

void answer_unchanged(const TextsRequest& request, const TextsDone& done) {
  std::vector<TranslatedText> texts;
  for (const TextPlan& plan : request.plans) {
    texts.push_back({unchanged(plan), {}});
  }
  if (request.on_admitted) {
    request.on_admitted();
  }
  done(std::move(texts), nullptr);
}

}  // namespace

std::vector<TranslatedText> translated_texts(const std::vector<TextPlan>& plans,
                                             std::vector<decoding::Translation> lines, size_t alternatives) {
  for (decoding::Translation& line : lines) {
    std::erase_if(line.alternatives, [](const decoding::Translation& one) { return is_blank(one.text); });
  }
  std::vector<TranslatedText> texts;
  std::span<const decoding::Translation> rest = lines;
  for (const TextPlan& plan : plans) {
    const auto own = rest.first(plan.lines());
    texts.push_back({assemble(plan, own), alternatives_of(plan, own, alternatives)});
    std::erase_if(texts.back().alternatives, is_blank);
    rest = rest.subspan(own.size());
  }
  return texts;
}

void translate_texts(ServingContext& context, const HttpExchange& exchange, TextsRequest request, TextsDone done) {
  if (request.model == nullptr) {
    return answer_unchanged(request, done);
  }
  TranslationJob job;
  job.models = request.models;
  job.model = request.model;
  job.options = search_of(request);
  job.terms = std::move(request.terms);
  job.on_token = std::move(request.on_token);
  job.on_admitted = std::move(request.on_admitted);
  for (const TextPlan& plan : request.plans) {
    for (const TextPlan::Piece& piece : plan.pieces) {
      if (piece.is_line) {
        job.lines.push_back(piece.text);
      }
    }
  }
  job.cancel = exchange.cancelled();
  job.deadline = TranslationService::Clock::now() + context.request_time;
  job.done = [plans = std::move(request.plans), alternatives = request.alternatives, done = std::move(done)](
                 std::vector<decoding::Translation> lines, const std::exception_ptr& error) {
    done(error == nullptr ? translated_texts(plans, std::move(lines), alternatives) : std::vector<TranslatedText>(),
         error);
  };
  context.service.submit(std::move(job));
}

}  // namespace dragoman::serving
