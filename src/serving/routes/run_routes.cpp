#include "serving/routes/run_routes.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/json.h"
#include "report/attention_history.h"
#include "report/samples_file.h"
#include "serving/http/request_fields.h"
#include "serving/inspect/json_numbers.h"
#include "serving/service/training_curves.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kRunShape = ErrorShape::kLibreTranslate;
constexpr base::JsonLimits kRunLimits{size_t{64} << 20, 8};

// Returns the sets of steps after `after` in a file of the trainer. The run goes on beside this server, so a file may
// be missing.
json later_sets(const std::filesystem::path& file, int64_t after) {
  json sets = json::array();
  try {
    for (json& set : base::parse_json(base::read_file(file), file.string(), kRunLimits)) {
      if (set.at("step").get<int64_t>() > after) {
        sets.push_back(std::move(set));
      }
    }
  } catch (const std::exception&) {
    sets = json::array();
  }
  return sets;
}

// Returns the time since the run wrote to its log, or null if there is none.
json idle_seconds(const std::filesystem::path& log) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(log, error);
  if (error) {
    return nullptr;
  }
  const std::chrono::duration<double> idle = std::filesystem::file_time_type::clock::now() - written;
  return rounded(std::max(idle.count(), 0.0));
}

// Returns the last event, unless training went on after it.
json last_event(const report::MetricsHistory& history) {
  const int64_t trained = history.train.empty() ? 0 : history.train.back().step;
  if (history.events.empty() || history.events.back().step < trained) {
    return nullptr;
  }
  const report::EventRow& event = history.events.back();
  return {{"name", event.name}, {"text", event.text}};
}

Reply answer_run(const Request& request, const std::filesystem::path& folder) {
  const int64_t after = RequestFields(request).number("after", -1);
  const report::MetricsHistory history = report::read_metrics(folder / report::kMetricsName);
  json answer = training_curves(history);
  const bool has_trained = !history.train.empty();
  answer["name"] = std::filesystem::absolute(folder).lexically_normal().filename().string();
  answer["step"] = has_trained ? history.train.back().step : 0;
  answer["seconds"] = has_trained ? rounded(history.train.back().seconds) : json(0);
  answer["idle_seconds"] = idle_seconds(folder / report::kMetricsName);
  answer["event"] = last_event(history);
  answer["samples"] = later_sets(folder / report::kSamplesName, after);
  answer["attention"] = later_sets(folder / report::kAttentionHistoryName, after);
  return {.body = base::dump_json(answer), .headers = {{"Cache-Control", "no-store"}}};
}

}  // namespace

void add_run_routes(Router& router, std::filesystem::path folder) {
  router.add("GET", "/v1/run", kRunShape,
             [folder = std::move(folder)](const Request& request) { return answer_run(request, folder); });
  router.add("GET", "/frontend/settings", kRunShape, [](const Request&) {
    return json_reply({{"keyRequired", false}, {"watch", true}});
  });
}

}  // namespace dragoman::serving
