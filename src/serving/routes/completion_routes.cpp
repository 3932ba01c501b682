#include "serving/routes/completion_routes.h"

#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "serving/http/request_fields.h"
#include "serving/routes/chat_request.h"
#include "serving/routes/completion_reply.h"
#include "serving/routes/completion_request.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

constexpr ErrorShape kShape = ErrorShape::kOpenAi;
// Logits that are computed at a time for the log-probabilities of a prompt: 128 MiB.
constexpr int64_t kMostPromptLogits = int64_t{1} << 25;

using decoding::Continuation;
using nlohmann::json;

const ServedLanguageModel& model_named(const ServedModels& models, const std::string& id) {
  const ServedLanguageModel* model = id.empty() ? &models.language_models().front() : models.find_language_model(id);
  if (model == nullptr && models.find_encoder(id) != nullptr) {
    refuse_model(fmt::format("The model `{}` is an encoder, which writes no text; send it to /v1/embeddings", id));
  }
  if (model == nullptr) {
    refuse_unknown_model(id);
  }
  return *model;
}

std::vector<int32_t> ids_of(const SentText& prompt, const decoding::Generator& generator) {
  if (!prompt.has_ids) {
    return generator.prompt_ids(prompt.text);
  }
  check_ids(prompt, "prompt", generator.vocabulary().size());
  return prompt.ids;
}

void check_length(const ReadCompletion& read, const std::vector<int32_t>& ids) {
  const auto length = static_cast<int64_t>(ids.size());
  const int64_t context = read.model->generator->context();
  if (length >= context) {
    throw OpenAiError(
        status::kBadRequest,
        read.asked.is_chat
            ? fmt::format("messages have {} tokens, the model takes {}, the answer counted; leave out old messages",
                          length, context)
            : fmt::format("prompt has {} tokens, the model takes {}, the new ones counted; give a shorter prompt",
                          length, context),
        read.asked.input_name(), "context_length_exceeded");
  }
  const int64_t vocab_size = read.model->generator->model().config().sizes().target_vocab_size;
  if (read.asked.echo && read.asked.logprobs && length * vocab_size > kMostPromptLogits) {
    refuse_field("logprobs", fmt::format("logprobs with \"echo\" takes a prompt of at most {} tokens, this one has {}",
                                         kMostPromptLogits / vocab_size, length));
  }
}

// Encodes the conversation as the template of the model writes it. Special tokens are parts of the text.
std::vector<int32_t> chat_ids(const ReadCompletion& read) {
  const std::string text = read.model->chat->text_of(read.asked.messages);
  std::vector<int32_t> ids = read.model->generator->vocabulary().encode_checked(text, "messages");
  if (ids.empty()) {
    refuse_field("messages", "messages are an empty text for the chat template of the model");
  }
  return ids;
}

void check_fits(const ReadCompletion& read) {
  try {
    read.asked.options.check_fits(read.model->generator->context());
  } catch (const base::Error& error) {
    refuse_field("context_keep", error.what());
  }
}

// Encodes the prompts.
void read_prompts(ReadCompletion& read) {
  check_fits(read);
  try {
    if (read.asked.is_chat) {
      read.prompts = {chat_ids(read)};
      check_length(read, read.prompts.front());
    }
    for (const SentText& prompt : read.asked.prompts) {
      read.prompts.push_back(ids_of(prompt, *read.model->generator));
      check_length(read, read.prompts.back());
    }
  } catch (const base::Error& error) {  // of a prompt that the vocabulary cannot write or the template refuses
    refuse_field(read.asked.input_name(), error.what());
  }
}

CompletionJob job_of(const std::shared_ptr<const ReadCompletion>& read) {
  const CompletionRequest& asked = read->asked;
  CompletionJob job{.models = read->models, .model = read->model, .options = asked.options, .parts = {}, .done = {}};
  job.options.search.sampling.seed = asked.seed ? *asked.seed : std::random_device()();
  job.likeliest = asked.logprobs.value_or(0);
  job.scores_prompt = asked.echo && asked.logprobs;
  for (size_t part = 0; part < read->parts(); ++part) {
    job.parts.push_back({read->prompts[read->prompt_of(part)], part % static_cast<size_t>(asked.n)});
  }
  return job;
}

void stream_into(CompletionJob& job, const std::shared_ptr<HttpExchange>& exchange,
                 const std::shared_ptr<CompletionAnswer>& answer) {
  const auto send = [exchange](std::string events) { return events.empty() || exchange->send(std::move(events)); };
  job.on_admitted = [exchange] {
    exchange->begin_stream({.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}});
  };
  job.on_part = [answer, send](size_t part, const decoding::GeneratedPart& piece) {
    return send(answer->piece(part, piece));
  };
  job.on_finished = [answer, send](size_t part, const Continuation& text) { send(answer->end_of(part, text)); };
  job.done = [exchange, answer](const std::vector<Continuation>& texts, const std::exception_ptr& error) {
    exchange->send(error == nullptr ? answer->end(texts) : CompletionAnswer::error(error));
    exchange->end_stream();
  };
}

void complete(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange, ReadCompletion& asked,
              TurnQueue::Clock::time_point deadline) {
  read_prompts(asked);
  const auto read = std::make_shared<const ReadCompletion>(std::move(asked));
  const auto answer = std::make_shared<CompletionAnswer>(read);
  CompletionJob job = job_of(read);
  job.cancel = exchange->cancelled();
  job.deadline = deadline;
  if (read->asked.stream) {
    stream_into(job, exchange, answer);
  } else {
    job.done = [exchange, answer](const std::vector<Continuation>& texts, const std::exception_ptr& error) {
      exchange->reply(error == nullptr ? answer->whole(texts) : error_reply(kShape, error));
    };
  }
  context.completions->submit(std::move(job));
}

void check_has_chat(const ServedLanguageModel& model) {
  if (model.chat == nullptr) {
    refuse_field("model", fmt::format("{}; write the conversation as one text and send it to /v1/completions",
                                      model.chat_error.empty() ? "The model has no chat template" : model.chat_error));
  }
}

void answer_completion(ServingContext& context, WorkQueue& queue, const std::shared_ptr<HttpExchange>& exchange,
                       CompletionRequest asked) {
  const auto read = std::make_shared<ReadCompletion>();
  read->asked = std::move(asked);
  read->models = context.models.get();
  read->model = &model_named(*read->models, read->asked.model);
  if (read->asked.is_chat) {
    check_has_chat(*read->model);
  }
  admit_openai(context, exchange->request(), read->asked.characters());
  const auto deadline = TurnQueue::Clock::now() + context.request_time;
  queue.submit(exchange->cancelled(), [&context, exchange, read, deadline] {
    answer_errors(exchange, kShape, [&] { complete(context, exchange, *read, deadline); });
  });
}

}  // namespace

void add_completion_routes(Router& router, ServingContext& context, WorkQueue& queue) {
  router.add_later(
      "POST", "/v1/completions", kShape, [&context, &queue](const std::shared_ptr<HttpExchange>& exchange) {
        answer_completion(context, queue, exchange, completion_request(exchange->request(), context.limits));
      });
  router.add_later("POST", "/v1/chat/completions", kShape,
                   [&context, &queue](const std::shared_ptr<HttpExchange>& exchange) {
                     answer_completion(context, queue, exchange, chat_request(exchange->request(), context.limits));
                   });
}

}  // namespace dragoman::serving
