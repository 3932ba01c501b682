#include "serving/routes/encoder_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "serving/routes/encoder_inputs.h"
#include "serving/routes/encoder_reply.h"
#include "serving/routes/encoder_request.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using decoding::EncoderResult;
using models::EncoderHead;
using nlohmann::json;

constexpr ErrorShape kShape = ErrorShape::kOpenAi;

// What tells the routes apart.
struct EncoderRoute {
  const char* path;
  const char* object;               // what an item of the answer is called
  std::optional<EncoderHead> head;  // none = any encoder
  EncoderResult result;
  EncoderRequest (*parse)(const Request& request, const TextLimits& limits);
  void (*read)(EncoderReading& reading);
  json (*tell)(const EncoderReading& reading, size_t input, std::span<const float> values);
};

constexpr std::array<EncoderRoute, 4> kRoutes = {{
    {"/v1/embeddings", "embedding", std::nullopt, EncoderResult::kVector, embeddings_request, read_whole_texts,
     told_vector},
    {"/v1/classify", "classification", EncoderHead::kClasses, EncoderResult::kLogits, classify_request,
     read_whole_texts, told_classes},
    {"/v1/tag", "tagging", EncoderHead::kTags, EncoderResult::kLogits, tag_request, read_words, told_tags},
    {"/v1/fill-mask", "fill_mask", EncoderHead::kWords, EncoderResult::kLogits, fill_mask_request, read_masked_texts,
     told_masks},
}};

bool has_head(const ServedEncoder& model, const EncoderRoute& route) {
  return !route.head || model.config().head == *route.head;
}

// Returns the model of this name, or the first one with the head if none is named.
const ServedEncoder& encoder_named(const ServedModels& models, const std::string& id, const EncoderRoute& route) {
  if (id.empty()) {
    const auto first =
        std::ranges::find_if(models.encoders(), [&](const ServedEncoder& model) { return has_head(model, route); });
    if (first == models.encoders().end()) {
      refuse_model(
          fmt::format("No encoder with head {} is served, which {} needs", base::name_of(*route.head), route.path));
    }
    return *first;
  }
  const ServedEncoder* model = models.find_encoder(id);
  if (model == nullptr && models.find_language_model(id) != nullptr) {
    refuse_model(fmt::format("The model `{}` is a language model; send the text to /v1/completions", id));
  }
  if (model == nullptr) {
    refuse_unknown_model(id);
  }
  if (!has_head(*model, route)) {
    refuse_model(fmt::format("The model `{}` is an encoder with head {}, {} needs {}", id,
                             base::name_of(model->config().head), route.path, base::name_of(*route.head)));
  }
  return *model;
}

// A model is not asked to leave out numbers: what is left of its vector would stand for something else.
void check_dimensions(const EncoderReading& reading) {
  const int64_t width = reading.model->config().d_model;
  if (reading.asked.dimensions.value_or(width) != width) {
    refuse_field("dimensions", fmt::format("dimensions is {}, the vectors of this model have {}; leave it out",
                                           *reading.asked.dimensions, width));
  }
}

void encode(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange, const EncoderRoute& route,
            EncoderReading reading, TurnQueue::Clock::time_point deadline) {
  try {
    route.read(reading);
  } catch (const base::Error& error) {  // of a text that the vocabulary or the model cannot take
    refuse_field("input", error.what());
  }
  struct Answer {
    EncoderReading reading;
    std::vector<json> told;  // of each input
  };
  const size_t inputs = reading.inputs.size();
  const auto answer = std::make_shared<Answer>(Answer{std::move(reading), std::vector<json>(inputs)});
  EncodingJob job{.models = answer->reading.models,
                  .model = answer->reading.model,
                  .result = route.result,
                  .inputs = answer->reading.inputs,
                  .cancel = exchange->cancelled(),
                  .deadline = deadline};
  job.on_encoded = [answer, &route](size_t input, std::span<const float> values) {
    answer->told[input] = route.tell(answer->reading, input, values);
  };
  job.done = [exchange, answer, &route](const std::exception_ptr& error) {
    exchange->reply(error == nullptr ? encoder_reply(answer->reading, route.object, std::move(answer->told))
                                     : error_reply(kShape, error));
  };
  context.encodings->submit(std::move(job));
}

void answer_encoder(ServingContext& context, WorkQueue& queue, const std::shared_ptr<HttpExchange>& exchange,
                    const EncoderRoute& route) {
  EncoderReading reading{.asked = route.parse(exchange->request(), context.limits), .models = context.models.get()};
  reading.model = &encoder_named(*reading.models, reading.asked.model, route);
  check_dimensions(reading);
  admit_openai(context, exchange->request(), reading.asked.characters());
  const auto deadline = TurnQueue::Clock::now() + context.request_time;
  const auto shared = std::make_shared<EncoderReading>(std::move(reading));
  queue.submit(exchange->cancelled(), [&context, exchange, &route, shared, deadline] {
    answer_errors(exchange, kShape, [&] { encode(context, exchange, route, std::move(*shared), deadline); });
  });
}

}  // namespace

void add_encoder_routes(Router& router, ServingContext& context, WorkQueue& queue) {
  for (const EncoderRoute& route : kRoutes) {
    router.add_later("POST", route.path, kShape,
                     [&context, &queue, &route](const std::shared_ptr<HttpExchange>& exchange) {
                       answer_encoder(context, queue, exchange, route);
                     });
  }
}

}  // namespace dragoman::serving
