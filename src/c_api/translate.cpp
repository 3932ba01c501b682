#include <array>

#include "c_api/call.h"
#include "c_api/handles.h"
#include "c_api/search.h"
#include "c_api/structs.h"

namespace dragoman::c_api {
namespace {

constexpr const char* kFunction = "dragoman_translate";
constexpr size_t kLeastOptions = DRAGOMAN_SIZE_THROUGH(dragoman_translate_options, user);
constexpr size_t kLeastTranslation = DRAGOMAN_SIZE_THROUGH(dragoman_translation, warning);
constexpr std::array<std::string_view, 4> kOwnFields = {"beam_size", "n_best", "scores", "alignment"};

dragoman_translate_options translate_defaults() {
  dragoman_translate_options options = {};
  options.size = sizeof options;
  options.n_best = 1;
  options.with_scores = 1;
  return options;
}

decoding::SearchOptions search_of(const dragoman_translate_options& options, decoding::SearchOptions search) {
  read_search(options.search, kOwnFields, search);
  search.beam_size = options.beam_size == 0 ? search.beam_size : options.beam_size;
  search.n_best = options.n_best;
  search.output.scores = switch_of(options.with_scores, kFunction, "with_scores");
  search.output.alignment = switch_of(options.with_alignment, kFunction, "with_alignment");
  search.execution.workers = options.workers;
  search.execution.batch_tokens =
      options.batch_tokens == 0 ? search.execution.batch_tokens : int64_t{options.batch_tokens};
  return search;
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : text;
}

std::vector<decoding::TranslationRequest> requests_of(const decoding::Translator& translator,
                                                      const std::vector<std::string>& lines,
                                                      const dragoman_translate_options& options,
                                                      PartCallback& callback) {
  const models::LanguagePair languages{text_or_empty(options.source_language), text_or_empty(options.target_language)};
  const CallEnd end = end_of(options.cancellation, options.timeout_seconds, kFunction);
  std::vector<decoding::TranslationRequest> requests(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    requests[i].text = lines[i];
    requests[i].cancel = end.cancel;
    requests[i].deadline = end.deadline;
    if (options.prefixes != nullptr) {
      requests[i].prefix = text_of(options.prefixes[i], kFunction, "prefixes", i);
    }
    requests[i].languages = translator.choose_languages(languages, requests[i].prefix).tokens;
    if (callback) {
      requests[i].on_token = [&callback, i](const decoding::StreamedToken& token) {
        return callback.tell(i, token.position + 1, token.text);
      };
    }
  }
  return requests;
}

const char* text_or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

dragoman_translation struct_of(const decoding::Translation& translation, const decoding::Translation& line) {
  dragoman_translation out = {};
  out.text = translation.text.c_str();
  out.text_size = translation.text.size();
  out.score = translation.score;
  out.normalised_score = translation.normalised_score;
  out.ids = translation.ids.data();
  out.id_count = translation.ids.size();
  out.token_scores = translation.token_scores.data();
  out.token_score_count = translation.token_scores.size();
  out.alignment = translation.alignment.weights.empty() ? nullptr : translation.alignment.weights.data();
  out.source_count = static_cast<size_t>(translation.alignment.source_length);
  out.finish_reason = finish_reason_of(translation.finish_reason);
  out.error = text_or_null(line.error);
  out.warning = text_or_null(line.warning);
  return out;
}

}  // namespace
}  // namespace dragoman::c_api

using namespace dragoman;
using namespace dragoman::c_api;

dragoman_status dragoman_translate_options_init(dragoman_translate_options* options, size_t size) {
  return call(
      [&] { put_defaults(options, size, kLeastOptions, translate_defaults(), "dragoman_translate_options_init"); });
}

dragoman_status dragoman_translate(const dragoman_model* model, const dragoman_text* lines, size_t count,
                                   const dragoman_translate_options* options, dragoman_translations** translations) {
  return call([&] {
    check_given(translations, kFunction, "translations");
    *translations = nullptr;
    check_given(model, kFunction, "model");
    base::check_usage(model->translator != nullptr, "{}: the model does not translate; use dragoman_{}", kFunction,
                      model->generator != nullptr ? "generate" : "embed");
    const dragoman_translate_options read = read_options(options, kLeastOptions, translate_defaults(), kFunction);
    const decoding::SearchOptions search = search_of(read, model->translator->search_defaults());
    model->translator->check(search);
    PartCallback callback(read.on_part, read.user);
    const auto requests = requests_of(*model->translator, texts_of(lines, count, kFunction, "lines"), read, callback);
    auto result = std::make_unique<dragoman_translations>();
    result->lines = model->translator->translate_requests(requests, search, decoding::OnError::kReport);
    *translations = result.release();
  });
}

size_t dragoman_translations_count(const dragoman_translations* translations) {
  return translations == nullptr ? 0 : translations->lines.size();
}

size_t dragoman_translations_ranks(const dragoman_translations* translations, size_t line) {
  return line < dragoman_translations_count(translations) ? 1 + translations->lines[line].alternatives.size() : 0;
}

dragoman_status dragoman_translations_get(const dragoman_translations* translations, size_t line, size_t rank,
                                          dragoman_translation* translation) {
  return call([&] {
    constexpr const char* kGet = "dragoman_translations_get";
    check_given(translations, kGet, "translations");
    base::check_usage(line < translations->lines.size(), "{}: line is {}, must be below {}", kGet, line,
                      translations->lines.size());
    const decoding::Translation& best = translations->lines[line];
    base::check_usage(rank <= best.alternatives.size(), "{}: rank is {}, must be below {} for line {}", kGet, rank,
                      best.alternatives.size() + 1, line);
    write_struct(struct_of(rank == 0 ? best : best.alternatives[rank - 1], best), translation, kLeastTranslation, kGet);
  });
}

void dragoman_translations_free(dragoman_translations* translations) {
  delete translations;
}
