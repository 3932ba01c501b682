#include "serving/routes/metrics_routes.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/memory.h"
#include "models/model_device.h"

namespace dragoman::serving {
namespace {

// The language of a side, or their number.
std::string shown_languages(const std::vector<models::ModelLanguage>& languages) {
  return languages.size() == 1 ? languages.front().code : fmt::format("{} languages", languages.size());
}

std::string models_text(const ServedModels& models) {
  std::vector<std::pair<std::string, double>> values;
  for (const ServedModel& model : models.all()) {
    values.emplace_back(fmt::format("sha256=\"{}\",source=\"{}\",target=\"{}\"", label_value(model.sha256),
                                    label_value(shown_languages(model.languages.sources)),
                                    label_value(shown_languages(model.languages.targets))),
                        1.0);
  }
  for (const ServedLanguageModel& model : models.language_models()) {
    values.emplace_back(fmt::format("sha256=\"{}\",name=\"{}\"", label_value(model.sha256), label_value(model.id)),
                        1.0);
  }
  for (const ServedEncoder& model : models.encoders()) {
    values.emplace_back(fmt::format("sha256=\"{}\",name=\"{}\"", label_value(model.sha256), label_value(model.id)),
                        1.0);
  }
  return metric_text("dragoman_model_info", "Models served.", "gauge", values);
}

std::string devices_text(const ServedModels& models) {
  std::set<std::string> names;
  for (const ServedModel& model : models.all()) {
    names.insert(models::device_of(model.translator->model()).name());
  }
  for (const ServedLanguageModel& model : models.language_models()) {
    names.insert(models::device_of(model.generator->model()).name());
  }
  for (const ServedEncoder& model : models.encoders()) {
    names.insert(models::device_of(model.labeler->model()).name());
  }
  std::vector<std::pair<std::string, double>> values;
  for (const std::string& name : names) {
    values.emplace_back(fmt::format("device=\"{}\"", name), 1.0);
  }
  return metric_text("dragoman_device_info", "Devices that compute.", "gauge", values);
}

void add_counts(ServiceCounts& all, const ServiceCounts& more) {
  all.waiting_cost += more.waiting_cost;
  all.jobs += more.jobs;
  all.source_tokens += more.source_tokens;
  all.target_tokens += more.target_tokens;
  all.rejected += more.rejected;
  all.cancelled += more.cancelled;
  all.timed_out += more.timed_out;
  all.failed += more.failed;
}

// The counters of all kinds of models together. The speed is that of translations, if there are any, or of completions.
ServiceCounts counts_of(const ServingContext& context) {
  ServiceCounts all = context.service.counts();
  const auto models = context.models.get();
  if (context.completions != nullptr) {
    const ServiceCounts more = context.completions->counts();
    add_counts(all, more);
    all.rate = models->all().empty() ? more.rate : all.rate;
  }
  if (context.encodings != nullptr) {
    const ServiceCounts more = context.encodings->counts();
    add_counts(all, more);
    all.rate = models->all().empty() && models->language_models().empty() ? more.rate : all.rate;
  }
  return all;
}

std::string encodings_text(const ServingContext& context) {
  const ServiceCounts counts = context.encodings == nullptr ? ServiceCounts() : context.encodings->counts();
  return metric_text("dragoman_encoded_tokens_total", "Tokens read by encoders.", "counter",
                     {{"", static_cast<double>(counts.source_tokens)}}) +
         metric_text("dragoman_encoded_tokens_per_second", "Tokens of encoders a second while busy.", "gauge",
                     {{"", counts.rate}});
}

std::string completions_text(const ServingContext& context) {
  const ServiceCounts counts = context.completions == nullptr ? ServiceCounts() : context.completions->counts();
  return metric_text("dragoman_completion_tokens_total", "Tokens written by language models.", "counter",
                     {{"", static_cast<double>(counts.target_tokens)}}) +
         metric_text("dragoman_completion_tokens_per_second", "Tokens of completions a second while busy.", "gauge",
                     {{"", counts.rate}});
}

std::string service_text(const ServiceCounts& counts) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return metric_text("dragoman_requests_in_flight", "Requests to models admitted and not answered.", "gauge",
                     {{"", number(counts.jobs)}}) +
         metric_text("dragoman_queue_tokens", "Estimated tokens admitted and not done.", "gauge",
                     {{"", number(counts.waiting_cost)}}) +
         metric_text("dragoman_tokens_per_second", "Estimated tokens a second while busy.", "gauge",
                     {{"", counts.rate}}) +
         metric_text("dragoman_cancelled_total", "Requests whose client went away.", "counter",
                     {{"", number(counts.cancelled)}}) +
         metric_text("dragoman_tokens_total", "Tokens read and written.", "counter",
                     {{"direction=\"source\"", number(counts.source_tokens)},
                      {"direction=\"target\"", number(counts.target_tokens)}}) +
         metric_text("dragoman_failed_total", "Requests to models that failed by an error of their own.", "counter",
                     {{"", number(counts.failed)}});
}

std::string rejected_text(const ServiceCounts& counts, const ConnectionCounts& connections) {
  return metric_text("dragoman_rejected_total", "Refused for lack of capacity or time.", "counter",
                     {{"reason=\"queue\"", static_cast<double>(counts.rejected)},
                      {"reason=\"deadline\"", static_cast<double>(counts.timed_out)},
                      {"reason=\"connections\"", static_cast<double>(connections.refused)}});
}

double open_descriptors() {
  std::error_code ignored;
  std::filesystem::directory_iterator files("/proc/self/fd", ignored);
  return static_cast<double>(std::distance(begin(files), end(files)));
}

std::string process_text(const ConnectionCounts& connections) {
  return metric_text("dragoman_connections", "Connections open.", "gauge",
                     {{"", static_cast<double>(connections.open)}}) +
         metric_text("dragoman_connections_total", "Connections accepted.", "counter",
                     {{"", static_cast<double>(connections.accepted)}}) +
         metric_text("process_resident_memory_bytes", "Memory in RAM.", "gauge",
                     {{"", static_cast<double>(base::resident_memory())}}) +
         metric_text("process_open_fds", "Files open.", "gauge", {{"", open_descriptors()}});
}

}  // namespace

void add_metrics_routes(Router& router, ServingContext& context, std::function<ConnectionCounts()> connections) {
  router.add("GET", "/metrics", ErrorShape::kLibreTranslate,
             [&context, connections = std::move(connections)](const Request&) {
               const ServiceCounts counts = counts_of(context);
               const ConnectionCounts open = connections();
               return Reply{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                            .body = context.metrics.text() + service_text(counts) + completions_text(context) +
                                    encodings_text(context) + rejected_text(counts, open) +
                                    models_text(*context.models.get()) + devices_text(*context.models.get()) +
                                    process_text(open)};
             });
}

}  // namespace dragoman::serving
