#include "serving/serve.h"

#include <fmt/format.h>

#include "serving/health_routes.h"
#include "serving/libretranslate_routes.h"
#include "serving/page_assets.h"
#include "serving/router.h"
#include "serving/serving_context.h"

namespace dragoman::serving {
namespace {

Reply page_file(const Request& request) {
  const Asset* asset = find_asset(request.path);
  if (asset == nullptr) {
    throw HttpError(status::kNotFound, "Not found");
  }
  return {.content_type = std::string(asset->content_type), .body = std::string(asset->bytes)};
}

void add_page_routes(Router& router) {
  router.add("GET", "/", ErrorShape::kLibreTranslate, page_file);
  router.add_prefix("GET", "/assets/", ErrorShape::kLibreTranslate, page_file);
}

std::string address_of(const Listen& listen, uint16_t port) {
  const bool is_v6 = listen.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(is_v6 ? "http://[{}]:{}" : "http://{}:{}"), listen.host, port);
}

// A running server: its parts, in the order they depend on each other.
class Serving {
 public:
  explicit Serving(const ServeOptions& options)
      : options_(options),
        router_(options.allow_other_origins),
        server_(options.listen, options.http,
                {.handle = [this](std::shared_ptr<Exchange> exchange) { router_.handle(exchange); }}),
        models_(ServedModels::load(options.load)),
        service_(decoding::worker_count(options.workers), batch_tokens(), options.longest_wait),
        context_{.models = models_,
                 .service = service_,
                 .limits = options.texts,
                 .request_time = options.request_time} {
    add_page_routes(router_);
    add_health_routes(router_, context_);
    add_libretranslate_routes(router_, context_);
  }

  void run() {
    context_.is_ready = true;
    options_.say(fmt::format("serving at {}", address_of(options_.listen, server_.port())));
    server_.run([this] { end(); }, [] {});
  }

 private:
  int64_t batch_tokens() const { return models_.get()->all().front().search.batch_tokens; }

  void end() {
    if (!context_.is_ready.exchange(false)) {
      return server_.stop();
    }
    options_.say("stopping: what is under way will be answered");
    server_.drain(options_.drain_time);
  }

  const ServeOptions& options_;
  Router router_;
  HttpServer server_;  // listens before the models are loaded, so that a taken port is told at once
  CurrentModels models_;
  TranslationService service_;
  ServingContext context_;
};

}  // namespace

void serve(const ServeOptions& options) {
  Serving(options).run();
}

}  // namespace dragoman::serving
