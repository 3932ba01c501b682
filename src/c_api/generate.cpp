#include <array>

#include "c_api/call.h"
#include "c_api/handles.h"
#include "c_api/search.h"
#include "c_api/structs.h"

namespace dragoman::c_api {
namespace {

constexpr const char* kFunction = "dragoman_generate";
constexpr size_t kLeastOptions = DRAGOMAN_SIZE_THROUGH(dragoman_generate_options, user);
constexpr size_t kLeastContinuation = DRAGOMAN_SIZE_THROUGH(dragoman_continuation, error);
constexpr int32_t kMostSamples = 100'000;
constexpr std::array<std::string_view, 9> kOwnFields = {
    "beam_size",      "n_best",         "scores",         "alignment", "sampling_temperature",
    "sampling_top_k", "sampling_top_p", "sampling_min_p", "seed"};

dragoman_generate_options generate_defaults() {
  const decoding::GenerationOptions usual;
  dragoman_generate_options options = {};
  options.size = sizeof options;
  options.max_tokens = usual.max_tokens;
  options.samples = 1;
  options.beam_size = 1;
  options.temperature = usual.search.sampling.temperature;
  options.top_k = usual.search.sampling.top_k;
  options.top_p = usual.search.sampling.top_p;
  options.min_p = usual.search.sampling.min_p;
  options.seed = usual.search.sampling.seed;
  return options;
}

// A beam search draws nothing, and where nothing is drawn, nothing is left out of a draw.
decoding::SamplingOptions sampling_of(const dragoman_generate_options& options) {
  if (options.beam_size > 1 || options.temperature == 0.0) {
    return {.seed = options.seed};
  }
  return {.temperature = options.temperature,
          .top_k = options.top_k,
          .top_p = options.top_p,
          .min_p = options.min_p,
          .seed = options.seed};
}

decoding::GenerationOptions generation_of(const dragoman_generate_options& options) {
  decoding::GenerationOptions generation;
  read_search(options.search, kOwnFields, generation.search);
  generation.search.beam_size = options.beam_size;
  generation.search.sampling = sampling_of(options);
  generation.search.output.scores = switch_of(options.with_scores, kFunction, "with_scores");
  generation.search.execution.workers = options.workers;
  generation.max_tokens = options.max_tokens;
  generation.context_shift = switch_of(options.context_shift, kFunction, "context_shift");
  generation.stop = texts_of(options.stops, options.stop_count, kFunction, "stops");
  base::check_usage(options.samples >= 1 && options.samples <= kMostSamples, "{}: samples is {}, must be 1 to {}",
                    kFunction, options.samples, kMostSamples);
  base::check_usage(options.samples == 1 || generation.search.samples(),
                    "{}: samples is {}, must be 1 where nothing is drawn; give a temperature above 0 and a beam_size "
                    "of 1",
                    kFunction, options.samples);
  generation.check();
  return generation;
}

// What the callback has been told of one text.
struct Told {
  std::string text;
  size_t tokens = 0;
};

std::vector<decoding::GenerationRequest> requests_of(const std::vector<std::string>& prompts,
                                                     const dragoman_generate_options& options, PartCallback& callback,
                                                     std::vector<Told>& told) {
  const CallEnd end = end_of(options.cancellation, options.timeout_seconds, kFunction);
  const auto samples = static_cast<size_t>(options.samples);
  std::vector<decoding::GenerationRequest> requests(prompts.size() * samples);
  told.resize(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].prompt = prompts[i / samples];
    requests[i].sample = i % samples;
    requests[i].cancel = end.cancel;
    requests[i].deadline = end.deadline;
    if (callback) {
      requests[i].on_part = [&callback, &mine = told[i], i](const decoding::GeneratedPart& part) {
        mine.text += part.text;
        mine.tokens += part.ids.size();
        return callback.tell(i, mine.tokens, mine.text);
      };
    }
  }
  return requests;
}

dragoman_continuation struct_of(const decoding::Continuation& text) {
  dragoman_continuation out = {};
  out.text = text.text.c_str();
  out.text_size = text.text.size();
  out.score = text.score;
  out.ids = text.ids.data();
  out.id_count = text.ids.size();
  out.token_scores = text.token_scores.data();
  out.token_score_count = text.token_scores.size();
  out.prompt_tokens = text.prompt_ids.size();
  out.finish_reason = finish_reason_of(text.finish_reason);
  out.error = text.error.empty() ? nullptr : text.error.c_str();
  return out;
}

}  // namespace
}  // namespace dragoman::c_api

using namespace dragoman;
using namespace dragoman::c_api;

dragoman_status dragoman_generate_options_init(dragoman_generate_options* options, size_t size) {
  return call(
      [&] { put_defaults(options, size, kLeastOptions, generate_defaults(), "dragoman_generate_options_init"); });
}

dragoman_status dragoman_generate(const dragoman_model* model, const dragoman_text* prompts, size_t count,
                                  const dragoman_generate_options* options, dragoman_continuations** continuations) {
  return call([&] {
    check_given(continuations, kFunction, "continuations");
    *continuations = nullptr;
    check_given(model, kFunction, "model");
    base::check_usage(model->generator != nullptr, "{}: the model does not continue texts; use dragoman_{}", kFunction,
                      model->translator != nullptr ? "translate" : "embed");
    const dragoman_generate_options read = read_options(options, kLeastOptions, generate_defaults(), kFunction);
    const decoding::GenerationOptions generation = generation_of(read);
    PartCallback callback(read.on_part, read.user);
    std::vector<Told> told;
    const auto requests = requests_of(texts_of(prompts, count, kFunction, "prompts"), read, callback, told);
    auto result = std::make_unique<dragoman_continuations>();
    result->texts = model->generator->generate(requests, generation, decoding::OnError::kReport);
    *continuations = result.release();
  });
}

size_t dragoman_continuations_count(const dragoman_continuations* continuations) {
  return continuations == nullptr ? 0 : continuations->texts.size();
}

dragoman_status dragoman_continuations_get(const dragoman_continuations* continuations, size_t index,
                                           dragoman_continuation* continuation) {
  return call([&] {
    constexpr const char* kGet = "dragoman_continuations_get";
    check_given(continuations, kGet, "continuations");
    base::check_usage(index < continuations->texts.size(), "{}: index is {}, must be below {}", kGet, index,
                      continuations->texts.size());
    write_struct(struct_of(continuations->texts[index]), continuation, kLeastContinuation, kGet);
  });
}

void dragoman_continuations_free(dragoman_continuations* continuations) {
  delete continuations;
}
