#include "serving/http/router.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dragoman::serving {
namespace {

using nlohmann::json;

json null_if_empty(const std::string& text) {
  return text.empty() ? json() : json(text);
}

json openai_body(int status, const std::string& message, const std::string& param, const std::string& code) {
  const char* type = status >= status::kInternal          ? "server_error"
                     : status == status::kTooManyRequests ? "rate_limit_error"
                                                          : "invalid_request_error";
  return {{"error",
           {{"message", message}, {"type", type}, {"param", null_if_empty(param)}, {"code", null_if_empty(code)}}}};
}

Reply shaped(ErrorShape shape, int status, const std::string& message, std::vector<Header> headers,
             const std::string& detail = {}) {
  if (shape == ErrorShape::kOpenAi) {
    Reply reply = json_reply(openai_body(status, message, {}, {}), status);
    reply.headers = std::move(headers);
    return reply;
  }
  json body = {{shape == ErrorShape::kDeepl ? "message" : "error", message}};
  if (shape == ErrorShape::kDeepl && !detail.empty()) {
    body["detail"] = detail;
  }
  Reply reply = json_reply(body, status);
  reply.headers = std::move(headers);
  return reply;
}

// Removes the first segment of a path with its slash, and returns the segment.
std::string_view cut_segment(std::string_view& path) {
  const std::string_view segment = path.substr(0, path.find('/', 1));
  path.remove_prefix(segment.size());
  return segment;
}

// Compares segment by segment. A segment in braces stands for any one that is not empty.
bool is_path_of(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = cut_segment(pattern);
    const std::string_view seen = cut_segment(path);
    if (expected != seen && (!expected.starts_with("/{") || seen.size() < 2)) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

}  // namespace

Reply error_reply(ErrorShape shape, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OpenAiError& known) {
    Reply reply = json_reply(openai_body(known.status(), known.what(), known.param(), known.code()), known.status());
    reply.headers = known.headers();
    return reply;
  } catch (const HttpError& known) {
    return shaped(shape, known.status(), known.what(), known.headers(), known.detail());
  } catch (...) {
    return shaped(shape, status::kInternal, "internal error", {});
  }
}

void answer_errors(const std::shared_ptr<HttpExchange>& exchange, ErrorShape shape,
                   const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    exchange->reply(error_reply(shape, std::current_exception()));
  }
}

void Router::add(const std::string& method, const std::string& path, ErrorShape shape,
                 std::function<Reply(const Request&)> answer) {
  add_later(method, path, shape, [answer = std::move(answer)](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->reply(answer(exchange->request()));
  });
}

void Router::add_later(const std::string& method, const std::string& path, ErrorShape shape, Handler handler) {
  routes_.push_back(
      {.method = method, .path = path, .is_prefix = false, .shape = shape, .handler = std::move(handler)});
}

void Router::add_prefix(const std::string& method, const std::string& prefix, ErrorShape shape,
                        std::function<Reply(const Request&)> answer) {
  add(method, prefix, shape, std::move(answer));
  routes_.back().is_prefix = true;
}

bool Router::leads_to(const Route& route, const std::string& path) {
  return route.is_prefix ? path.starts_with(route.path) : is_path_of(route.path, path);
}

std::string path_segment(const Request& request, size_t number) {
  std::string_view path = request.path;
  for (; number > 0 && !path.empty(); --number) {
    cut_segment(path);
  }
  const std::string_view segment = cut_segment(path);
  return std::string(segment.substr(std::min<size_t>(1, segment.size())));
}

void Router::handle(const std::shared_ptr<HttpExchange>& exchange) const {
  const Request& request = exchange->request();
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  for (const Route& route : routes_) {
    if (route.method == method && leads_to(route, request.path)) {
      return answer_errors(exchange, route.shape, [&] { route.handler(exchange); });
    }
  }
  exchange->reply(no_route(request));
}

// The shape of errors at a path without a route: that of the routes with its first segment.
ErrorShape Router::shape_below(const std::string& path) const {
  const std::string beginning = path.substr(0, path.find('/', 1) + 1);
  const auto of = [&](const std::string& other) { return !beginning.empty() && other.starts_with(beginning); };
  const auto is_openai = [&](const Route& route) { return route.shape == ErrorShape::kOpenAi && of(route.path); };
  if (std::ranges::any_of(routes_, is_openai)) {
    return ErrorShape::kOpenAi;
  }
  return beginning == "/v2/" || beginning == "/v3/" ? ErrorShape::kDeepl : ErrorShape::kLibreTranslate;
}

Reply Router::no_route(const Request& request) const {
  std::string allowed;
  ErrorShape shape = shape_below(request.path);
  for (const Route& route : routes_) {
    if (leads_to(route, request.path) || request.path == "*") {
      allowed += route.method + (route.method == "GET" ? ", HEAD, " : ", ");
      shape = route.shape;
    }
  }
  if (allowed.empty()) {
    return shaped(shape, status::kNotFound, "Not found", {});
  }
  const Header allow{"Allow", allowed + "OPTIONS"};
  if (request.method != "OPTIONS") {
    return shaped(shape, status::kMethodNotAllowed, "Method not allowed", {allow});
  }
  Reply reply{.status = status::kNoContent, .content_type = "", .headers = {allow}};
  if (other_origins_ == OtherOrigins::kAllowed) {
    reply.headers.push_back({"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE"});
    reply.headers.push_back({"Access-Control-Allow-Headers", "Authorization, Content-Type"});
    reply.headers.push_back({"Access-Control-Max-Age", "86400"});
  }
  return reply;
}

std::vector<Header> headers_of_every_answer(OtherOrigins other_origins) {
  return other_origins == OtherOrigins::kAllowed ? std::vector<Header>{{"Access-Control-Allow-Origin", "*"}}
                                                 : std::vector<Header>();
}

bool Router::has(const std::string& path) const {
  return std::ranges::any_of(routes_, [&](const Route& route) { return leads_to(route, path); });
}

std::string Router::label_of(const Request& request) const {
  const auto found = std::ranges::find_if(routes_, [&](const Route& route) { return leads_to(route, request.path); });
  return found == routes_.end() ? "other" : found->path;
}

}  // namespace dragoman::serving
