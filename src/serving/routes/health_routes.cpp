#include "serving/routes/health_routes.h"

#include <nlohmann/json.hpp>

namespace dragoman::serving {

void add_health_routes(Router& router, ServingContext& context) {
  constexpr ErrorShape kShape = ErrorShape::kLibreTranslate;
  router.add("GET", "/health", kShape, [&context](const Request&) {
    return context.is_ready ? json_reply({{"status", "ok"}})
                            : json_reply({{"error", "the server is stopping"}}, status::kUnavailable);
  });
  router.add("GET", "/v2/health/live", kShape, [](const Request&) { return Reply{.content_type = ""}; });
  router.add("GET", "/v2/health/ready", kShape, [&context](const Request&) {
    return Reply{.status = context.is_ready ? status::kOk : status::kUnavailable, .content_type = ""};
  });
}

}  // namespace dragoman::serving
