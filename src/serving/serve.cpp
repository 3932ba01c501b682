#include "serving/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/cpu.h"
#include "serving/http/router.h"
#include "serving/routes/deepl_routes.h"
#include "serving/routes/file_routes.h"
#include "serving/routes/glossary_routes.h"
#include "serving/routes/health_routes.h"
#include "serving/routes/inspect_routes.h"
#include "serving/routes/libretranslate_routes.h"
#include "serving/routes/metrics_routes.h"
#include "serving/routes/page_routes.h"
#include "serving/routes/spec_routes.h"
#include "serving/routes/stream_routes.h"
#include "serving/service/reloader.h"
#include "serving/service/serving_context.h"

namespace dragoman::serving {
namespace {

std::shared_ptr<ApiKeys> load_keys(const std::filesystem::path& file) {
  return file.empty() ? nullptr : std::make_shared<ApiKeys>(file);
}

std::unique_ptr<GlossaryStore> open_glossaries(const std::filesystem::path& folder) {
  return folder.empty() ? nullptr : std::make_unique<GlossaryStore>(folder);
}

double slowest_rate(const ServedModels& models) {
  return std::ranges::min_element(models.all(), {}, &ServedModel::rate)->rate;
}

// A running server. Each part depends only on the parts before it.
class Serving {
 public:
  explicit Serving(const ServeOptions& options)
      : options_(options),
        router_(other_origins()),
        server_(options.listen, options.http, hooks()),
        keys_(load_keys(options.api_keys)),
        glossaries_(open_glossaries(options.glossaries)),
        models_(ServedModels::load(options.load)),
        service_(base::thread_count(options.load.threads.workers),
                 models_.get()->all().front().search.execution.batch_tokens, options.longest_wait,
                 slowest_rate(*models_.get())),
        context_{.models = models_,
                 .keys = keys_,
                 .service = service_,
                 .metrics = metrics_,
                 .limits = options.texts,
                 .request_time = options.request_time,
                 .glossaries = glossaries_.get()},
        reloader_([this] { reload(); }, [this](const std::string& line) { say(line); }) {
    service_.on_begun = [this](double seconds) { metrics_.add_queue_wait(seconds); };
    add_page_routes(router_);
    add_inspect_routes(router_, context_, inspections_);
    add_spec_routes(router_, context_);
    add_health_routes(router_, context_);
    add_metrics_routes(router_, context_, [this] { return server_.counts(); });
    add_libretranslate_routes(router_, context_);
    add_file_routes(router_, context_);
    add_deepl_routes(router_, context_);
    add_glossary_routes(router_, context_, glossary_work_, [this](const std::string& line) { say(line); });
    add_stream_routes(router_, context_);
  }

  void run() {
    context_.is_ready = true;
    for (const ServedModel& model : models_.get()->all()) {
      say(fmt::format("model {} to {}: {}", model.pair.source, model.pair.target, model.folder.string()));
    }
    say(fmt::format("serving at {}", address_of(options_.listen.host, server_.port())));
    server_.run([this] { end(); }, [this] { reloader_.ask(); });
    say("stopped");
  }

 private:
  OtherOrigins other_origins() const {
    return options_.allow_other_origins ? OtherOrigins::kAllowed : OtherOrigins::kRefused;
  }

  HttpHooks hooks() {
    return {.handle = [this](std::shared_ptr<HttpExchange> exchange) { router_.handle(exchange); },
            .answered = [this](const Request& request, int status,
                               double seconds) { metrics_.add_request(router_.label_of(request), status, seconds); },
            .headers = headers_of_every_answer(other_origins())};
  }

  void say(const std::string& line) {
    const std::lock_guard lock(saying_);
    options_.say(line);
  }

  // Loads keys and models beside the current ones, which live until the last request that uses them is answered.
  void reload() {
    const auto keys = load_keys(options_.api_keys);
    const auto models = ServedModels::load(options_.load);
    keys_.set(keys);
    models_.set(models);
    say("reloaded");
  }

  void end() {
    if (!context_.is_ready.exchange(false)) {
      return server_.stop();
    }
    say("stopping: the requests under way will be answered");
    server_.drain(options_.drain_time);
  }

  const ServeOptions& options_;
  std::mutex saying_;
  Metrics metrics_;
  Router router_;
  HttpServer server_;  // listens before the models are loaded, so that a port in use is reported at once
  Current<ApiKeys> keys_;
  std::unique_ptr<GlossaryStore> glossaries_;  // null if no folder was named
  Current<const ServedModels> models_;
  TranslationService service_;
  ServingContext context_;
  WorkQueue inspections_{kMostInspections};  // ends before the server, through which it answers
  WorkQueue glossary_work_{kMostGlossaryRequests};
  Reloader reloader_;
};

}  // namespace

void serve(const ServeOptions& options) {
  Serving(options).run();
}

}  // namespace dragoman::serving
