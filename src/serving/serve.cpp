#include "serving/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "decoding/in_groups.h"
#include "serving/http/router.h"
#include "serving/routes/completion_routes.h"
#include "serving/routes/deepl_routes.h"
#include "serving/routes/encoder_routes.h"
#include "serving/routes/file_routes.h"
#include "serving/routes/glossary_routes.h"
#include "serving/routes/health_routes.h"
#include "serving/routes/inspect_routes.h"
#include "serving/routes/libretranslate_routes.h"
#include "serving/routes/metrics_routes.h"
#include "serving/routes/model_list_routes.h"
#include "serving/routes/page_routes.h"
#include "serving/routes/page_settings.h"
#include "serving/routes/spec_routes.h"
#include "serving/routes/stream_routes.h"
#include "serving/service/reloader.h"
#include "serving/service/serving_context.h"
#include "tensor/device_scope.h"

namespace dragoman::serving {
namespace {

std::shared_ptr<ApiKeys> load_keys(const std::filesystem::path& file) {
  return file.empty() ? nullptr : std::make_shared<ApiKeys>(file);
}

std::unique_ptr<GlossaryStore> open_glossaries(const std::filesystem::path& folder) {
  return folder.empty() ? nullptr : std::make_unique<GlossaryStore>(folder);
}

// The rate of the slowest model, 0 if there is none.
template <typename Models>
double slowest_rate(const Models& models) {
  const auto slowest = std::ranges::min_element(models, {}, &Models::value_type::rate);
  return slowest == models.end() ? 0.0 : slowest->rate;
}

// The workers of a model on the current device.
int worker_count(const LoadOptions& options) {
  return decoding::worker_count(options.threads.workers, tensor::Arena::current()->device());
}

// The models on a device, in memory that it has back when they are replaced.
std::shared_ptr<const ServedModels> load_models(const LoadOptions& options, tensor::Device device) {
  if (device.is_host()) {
    return ServedModels::load(options);
  }
  const tensor::ArenaScope memory(tensor::memory_of(device)->another());
  return ServedModels::load(options);
}

// The source tokens that all workers of a model have in work at most.
int64_t batch_tokens(const LoadOptions& options) {
  return worker_count(options) * options.search({}).execution.batch_tokens;
}

// A completion takes as many steps as it has tokens, however few run beside it. So many of them run together, as long
// as each is done within half of the time of a request.
AdmissionLimits completion_limits(const ServeOptions& options) {
  constexpr int64_t kBatches = 4;
  return {.in_work = kBatches * batch_tokens(options.load),
          .longest_wait = options.longest_wait,
          .work_time = std::chrono::duration<double>(options.request_time) / 2};
}

// The routes of a server are those of the kinds of models with which it began.
void check_kinds(const ServedModels& current, const ServedModels& next) {
  const bool is_same = current.all().empty() == next.all().empty() &&
                       current.language_models().empty() == next.language_models().empty() &&
                       current.encoders().empty() == next.encoders().empty();
  base::check_usage(is_same, "the folders hold models of another kind than before; start a new server for them");
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
        models_(load_models(options.load, device_)),
        service_(worker_count(options.load), options.load.search({}).execution.batch_tokens, options.longest_wait,
                 slowest_rate(models_.get()->all())),
        completions_(completion_limits(options), slowest_rate(models_.get()->language_models()),
                     {.begun = [this](double seconds) { metrics_.add_queue_wait(seconds); },
                      .first_token = [this](double seconds) { metrics_.add_first_token(seconds); }}),
        encodings_({.in_work = batch_tokens(options.load), .longest_wait = options.longest_wait},
                   slowest_rate(models_.get()->encoders()),
                   [this](double seconds) { metrics_.add_queue_wait(seconds); }),
        context_{.models = models_,
                 .keys = keys_,
                 .service = service_,
                 .metrics = metrics_,
                 .limits = options.texts,
                 .request_time = options.request_time,
                 .completions = &completions_,
                 .encodings = &encodings_,
                 .glossaries = glossaries_.get()},
        reloader_([this] { reload(); }, [this](const std::string& line) { say(line); }) {
    service_.on_begun = [this](double seconds) { metrics_.add_queue_wait(seconds); };
    add_spec_routes(router_, context_);
    add_health_routes(router_, context_);
    add_metrics_routes(router_, context_, [this] { return server_.counts(); });
    const auto models = models_.get();
    if (!models->language_models().empty() || !models->encoders().empty()) {
      add_model_list_routes(router_, context_);
    }
    if (!models->language_models().empty()) {
      add_completion_routes(router_, context_, prompts_);
    }
    if (!models->encoders().empty()) {
      add_encoder_routes(router_, context_, prompts_);
    }
    add_page_routes(router_);
    add_inspect_routes(router_, context_, inspections_);
    if (models->all().empty()) {
      add_page_settings(router_, context_);
    } else {
      add_translation_routes();
    }
  }

  void run() {
    context_.is_ready = true;
    for (const ServedModel& model : models_.get()->all()) {
      const auto& [sources, targets] = model.languages;
      const std::string languages = model.languages.has_codes()
                                        ? fmt::format("{} languages to {}", sources.size(), targets.size())
                                        : fmt::format("{} to {}", sources.front().code, targets.front().code);
      say(fmt::format("model {}: {}", languages, model.folder.string()));
    }
    for (const ServedLanguageModel& model : models_.get()->language_models()) {
      say(fmt::format("language model {}: {}", model.id, model.folder.string()));
    }
    for (const ServedEncoder& model : models_.get()->encoders()) {
      say(fmt::format("encoder {}: {}", model.id, model.folder.string()));
    }
    if (!device_.is_host()) {
      say(fmt::format("the models compute on {}", device_.name()));
    }
    say(fmt::format("serving at {}", address_of(options_.listen.host, server_.port())));
    server_.run([this] { end(); }, [this] { reloader_.ask(); });
    say("stopped");
  }

 private:
  void add_translation_routes() {
    add_libretranslate_routes(router_, context_);
    add_file_routes(router_, context_);
    add_deepl_routes(router_, context_);
    add_glossary_routes(router_, context_, glossary_work_, [this](const std::string& line) { say(line); });
    add_stream_routes(router_, context_);
  }

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
    const auto models = load_models(options_.load, device_);
    check_kinds(*models_.get(), *models);
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
  const tensor::Device device_ = tensor::Arena::current()->device();  // of the models, those of a reload too
  std::mutex saying_;
  Metrics metrics_;
  Router router_;
  HttpServer server_;  // listens before the models are loaded, so that a port in use is reported at once
  Current<ApiKeys> keys_;
  std::unique_ptr<GlossaryStore> glossaries_;  // null if no folder was named
  Current<const ServedModels> models_;
  TranslationService service_;
  CompletionService completions_;
  EncodingService encodings_;
  ServingContext context_;
  WorkQueue inspections_{kMostInspections};  // ends before the server, through which it answers
  WorkQueue glossary_work_{kMostGlossaryRequests};
  WorkQueue prompts_{kMostUnreadPrompts};
  Reloader reloader_;
};

}  // namespace

void serve(const ServeOptions& options) {
  Serving(options).run();
}

}  // namespace dragoman::serving
