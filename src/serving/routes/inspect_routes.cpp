#include "serving/routes/inspect_routes.h"

#include <fmt/format.h>

#include <functional>

#include "base/error.h"
#include "base/utf8.h"
#include "serving/http/charset.h"
#include "serving/http/request_fields.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

constexpr ErrorShape kShape = ErrorShape::kLibreTranslate;

// Returns the model of a pair, or the first model if no pair is given.
ServedPair asked_model(const ServedModels& models, const std::string& source, const std::string& target) {
  if (models.all().empty()) {
    throw HttpError(status::kNotFound, "no model that translates is served; name a language model");
  }
  if (source.empty() && target.empty()) {
    return {&models.all().front()};
  }
  const ServedPair pair = models.find(source, target);
  if (pair.model == nullptr) {
    throw HttpError(status::kNotFound, fmt::format("no model from \"{}\" to \"{}\" is served", source, target));
  }
  return pair;
}

// Returns the language model of this name, or the first one if none is given.
const ServedLanguageModel& asked_language_model(const ServedModels& models, const std::string& id) {
  const bool is_first = id.empty() && !models.language_models().empty();
  const ServedLanguageModel* model = is_first ? &models.language_models().front() : models.find_language_model(id);
  if (model == nullptr) {
    throw HttpError(status::kNotFound, fmt::format("no language model \"{}\" is served", id));
  }
  return *model;
}

// Returns the encoder of this name, or the first one if none is given and no language model is served. Null if a
// language model is meant.
const ServedEncoder* asked_encoder(const ServedModels& models, const std::string& id) {
  const bool is_first = id.empty() && models.language_models().empty() && !models.encoders().empty();
  return is_first ? &models.encoders().front() : models.find_encoder(id);
}

const std::string& card_of_named(const ServedModels& models, const std::string& id) {
  const ServedEncoder* encoder = asked_encoder(models, id);
  return encoder == nullptr ? asked_language_model(models, id).card : encoder->card;
}

// A server without models that translate answers for its models with names.
bool means_named_model(const ServedModels& models, const std::string& id, const std::string& source,
                       const std::string& target) {
  return !id.empty() || (models.all().empty() && source.empty() && target.empty());
}

// Answers errors of the client with 400 and their text, and rethrows all others.
[[noreturn]] void refuse(const base::Error& error) {
  if (error.kind() == base::ErrorKind::kUsage || error.kind() == base::ErrorKind::kBadData) {
    bad_request(error.what());
  }
  throw error;
}

template <typename Engine>
Reply inspect(const InspectBody& body, const Engine& engine) {
  try {
    body.inspection.check_goes_on();  // it may have waited in the queue
    return {.body = inspect_reply(engine, body)};
  } catch (const decoding::InspectionStopped& stopped) {
    const bool is_late = stopped.reason() == decoding::FinishReason::kDeadline;
    throw HttpError(is_late ? status::kGatewayTimeout : status::kUnavailable,
                    is_late ? "the inspection took too long" : "the request was cancelled");
  } catch (const base::Error& error) {
    refuse(error);
  }
}

InspectBody parse(const Request& request) {
  try {
    return parse_inspect_body(document_as_utf8(request.body, charset_of(request)));
  } catch (const base::Error& error) {
    refuse(error);
  }
}

// Returns what computes the answer, once it is the turn of the request.
std::function<Reply()> inspection_of(const std::shared_ptr<const ServedModels>& models, InspectBody body) try {
  const bool is_named = means_named_model(*models, body.model, body.source, body.target);
  const ServedEncoder* const encoder = is_named ? asked_encoder(*models, body.model) : nullptr;
  if (encoder != nullptr) {
    body.complete_for_encoder();
    return [models, encoder, body = std::move(body)] { return inspect(body, *encoder->labeler); };
  }
  if (is_named) {
    const ServedLanguageModel& model = asked_language_model(*models, body.model);
    body.complete_for_language_model();
    return [models, &model, body = std::move(body)] { return inspect(body, *model.generator); };
  }
  const auto [model, tokens] = asked_model(*models, body.source, body.target);
  if (model->languages.has_codes() && !tokens.target) {
    bad_request("inspect: source and target are missing; the model translates between several languages");
  }
  body.complete(model->search);
  body.inspection.languages = tokens;
  return [models, model = model, body = std::move(body)] { return inspect(body, *model->translator); };
} catch (const base::Error& error) {
  refuse(error);
}

void answer_inspect(ServingContext& context, WorkQueue& queue, const std::shared_ptr<HttpExchange>& exchange) {
  InspectBody body = parse(exchange->request());
  body.inspection.cancel = exchange->cancelled();
  body.inspection.deadline = std::chrono::steady_clock::now() + context.request_time;
  const auto characters = static_cast<int64_t>(base::count_characters(body.inspection.text));
  const std::string key = body.api_key;
  std::function<Reply()> compute = inspection_of(context.models.get(), std::move(body));
  context.admit_key(key, characters);
  queue.submit(exchange->cancelled(), [exchange, compute = std::move(compute)] {
    answer_errors(exchange, kShape, [&] { exchange->reply(compute()); });
  });
}

}  // namespace

void add_inspect_routes(Router& router, ServingContext& context, WorkQueue& queue) {
  router.add_later("POST", "/v1/inspect", kShape, [&context, &queue](const std::shared_ptr<HttpExchange>& exchange) {
    answer_inspect(context, queue, exchange);
  });
  router.add("GET", "/v1/model", kShape, [&context](const Request& request) {
    const RequestFields fields(request);
    const auto models = context.models.get();
    const std::string id = fields.text("model"), source = fields.text("source"), target = fields.text("target");
    return Reply{.body = means_named_model(*models, id, source, target)
                             ? card_of_named(*models, id)
                             : asked_model(*models, source, target).model->card};
  });
}

}  // namespace dragoman::serving
