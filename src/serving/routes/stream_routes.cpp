#include "serving/routes/stream_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "serving/routes/asked_translation.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

std::string event_of(std::string_view name, const json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, base::dump_json(data));
}

std::string error_event(const std::exception_ptr& error) {
  const Reply reply = error_reply(ErrorShape::kLibreTranslate, error);
  json data = json::parse(reply.body);
  data["code"] = reply.status;
  return event_of("error", data);
}

json token_data(size_t line, const decoding::StreamedToken& token) {
  return {{"line", line}, {"position", token.position}, {"piece", token.piece}, {"text", token.text}};
}

void stream(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange) {
  const RequestFields fields(exchange->request());
  const auto asked = std::make_shared<const AskedTranslation>(asked_translation(fields, context));
  if (asked->is_batch || asked->alternatives > 0 || fields.text("format") == "html") {
    bad_request("Invalid request: a stream takes one plain text without alternatives");
  }
  TextsRequest request = asked->texts_request();
  constexpr int64_t kMostBeams = 16;
  request.beam_size = static_cast<int>(std::clamp<int64_t>(fields.number("beam_size", 0), 0, kMostBeams + 1));
  if (is_given(fields, "beam_size") && (request.beam_size < 1 || request.beam_size > kMostBeams)) {
    bad_request(fmt::format("Invalid request: beam_size parameter must be 1 to {}", kMostBeams));
  }
  request.on_token = [exchange](size_t line, const decoding::StreamedToken& token) {
    return exchange->send(event_of("token", token_data(line, token)));
  };
  request.on_admitted = [exchange] {
    exchange->begin_stream({.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}});
  };
  translate_texts(
      context, *exchange, std::move(request),
      [exchange, asked](const std::vector<TranslatedText>& texts, const std::exception_ptr& error) {
        if (error != nullptr) {
          exchange->send(error_event(error));
        } else {
          json data = {{"translatedText", texts.front().text}};
          if (asked->is_auto) {
            data["detectedLanguage"] = {{"confidence", asked->source.confidence}, {"language", asked->source.code}};
          }
          exchange->send(event_of("done", data));
        }
        exchange->end_stream();
      });
}

}  // namespace

void add_stream_routes(Router& router, ServingContext& context) {
  router.add_later("POST", "/v1/stream", ErrorShape::kLibreTranslate,
                   [&context](const std::shared_ptr<HttpExchange>& exchange) { stream(context, exchange); });
}

}  // namespace dragoman::serving
