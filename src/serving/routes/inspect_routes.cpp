#include "serving/routes/inspect_routes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "serving/http/charset.h"
#include "serving/http/request_fields.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

constexpr ErrorShape kShape = ErrorShape::kLibreTranslate;

// Returns the model of a pair, or the first model if no pair is given.
const ServedModel& asked_model(const ServedModels& models, const std::string& source, const std::string& target) {
  if (source.empty() && target.empty()) {
    return models.all().front();
  }
  const ServedModel* model = models.find(source, target);
  if (model == nullptr) {
    throw HttpError(status::kNotFound, fmt::format("no model from \"{}\" to \"{}\" is served", source, target));
  }
  return *model;
}

// Answers errors of the client with 400 and their text, and rethrows all others.
[[noreturn]] void refuse(const base::Error& error) {
  if (error.kind() == base::ErrorKind::kUsage || error.kind() == base::ErrorKind::kBadData) {
    bad_request(error.what());
  }
  throw error;
}

Reply inspect(const InspectBody& body, const ServedModel& model) {
  try {
    body.inspection.check_goes_on();  // it may have waited in the queue
    return {.body = inspect_reply(*model.translator, body)};
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

void answer_inspect(ServingContext& context, WorkQueue& queue, const std::shared_ptr<HttpExchange>& exchange) {
  const auto models = context.models.get();
  InspectBody body = parse(exchange->request());
  const ServedModel& model = asked_model(*models, body.source, body.target);
  body.complete(model.search);
  context.admit_key(body.api_key, static_cast<int64_t>(count_characters(body.inspection.text)));
  body.inspection.cancel = exchange->cancelled();
  body.inspection.deadline = std::chrono::steady_clock::now() + context.request_time;
  queue.submit(exchange->cancelled(), [exchange, models, &model, body = std::move(body)] {
    answer_errors(exchange, kShape, [&] { exchange->reply(inspect(body, model)); });
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
    return Reply{.body = asked_model(*models, fields.text("source"), fields.text("target")).card};
  });
}

}  // namespace dragoman::serving
