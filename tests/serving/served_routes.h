#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/sha256.h"
#include "recorded_exchange.h"
#include "served_tiny_model.h"
#include "serving/routes/deepl_routes.h"
#include "serving/routes/file_routes.h"
#include "serving/routes/glossary_routes.h"
#include "serving/routes/health_routes.h"
#include "serving/routes/libretranslate_routes.h"
#include "serving/routes/metrics_routes.h"
#include "serving/routes/page_routes.h"
#include "serving/routes/spec_routes.h"
#include "serving/routes/stream_routes.h"
#include "support/temporary_folder.h"

namespace dragoman::serving {

using nlohmann::json;
using testing::HasSubstr;

/// All routes except inspection, as functions of a request: no connection, random models.
class Routes : public testing::Test {
 protected:
  Routes() {
    context_.is_ready = true;
    add_page_routes(router_);
    add_spec_routes(router_, context_);
    add_health_routes(router_, context_);
    add_metrics_routes(router_, context_, [] { return ConnectionCounts(); });
    add_libretranslate_routes(router_, context_);
    add_file_routes(router_, context_);
    add_deepl_routes(router_, context_);
    add_glossary_routes(router_, context_, glossary_work_, [this](const std::string& line) { said_ = line; });
    add_stream_routes(router_, context_);
  }

  Reply ask(const Request& request) {
    const auto exchange = std::make_shared<RecordedExchange>(request);
    router_.handle(exchange);
    const Reply reply = exchange->answer();
    EXPECT_EQ(exchange->answers(), 1U);
    return reply;
  }
  json ask_json(const Request& request, int status = 200) {
    const Reply reply = ask(request);
    EXPECT_EQ(reply.status, status) << request.path << " " << request.body << "\n" << reply.body;
    EXPECT_EQ(reply.content_type, "application/json");
    return json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  void expect_error(const Request& request, int status, const std::string& text) {
    EXPECT_EQ(ask_json(request, status), json({{"error", text}})) << request.body;
  }
  void expect_message(const Request& request, int status, const std::string& text) {
    EXPECT_EQ(ask_json(request, status), json({{"message", text}})) << request.body;
  }
  std::string translated(const std::string& line, size_t model = 0) const {
    const ServedModel& served = models_.get()->all()[model];
    return served.translator->translate({&line, 1}, served.search).front().text;
  }
  // After this call the server accepts only `key`.
  void lock(const std::string& key, const std::string& limits = "") {
    base::write_file_atomic(folder_.path() / "keys",
                            "# people\n" + base::sha256_hex(key) + " someone " + limits + "\n");
    keys_.set(std::make_shared<ApiKeys>(folder_.path() / "keys"));
  }

  test_support::TemporaryFolder folder_;
  Metrics metrics_;
  Current<ApiKeys> keys_{nullptr};
  Current<const ServedModels> models_{served_tiny_models({{"en", "de"}, {"de", "en"}, {"fr", "pt-BR"}})};
  TranslationService service_{2, 2048, std::chrono::seconds(2)};
  GlossaryStore glossaries_{folder_.path() / "glossaries"};
  ServingContext context_{.models = models_,
                          .keys = keys_,
                          .service = service_,
                          .metrics = metrics_,
                          .limits = {},
                          .glossaries = &glossaries_};
  Router router_;
  std::string said_;  // the last line of the log
  WorkQueue glossary_work_{kMostGlossaryRequests};
};

inline const std::string kCat = "the cat runs";
inline const std::string kDog = "the dog sleeps and the mouse runs.";
inline const std::string kFrench = "Le chat dort dans la maison et le chien mange.";
inline const std::string kGerman = "Die Katze schläft im Haus und der Hund frisst.";

/// Returns a body of DeepL with two texts, with `more` fields.
inline json deepl(const json& more = json::object()) {
  json body = {{"text", {kCat, kDog}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  body.update(more);
  return body;
}

}  // namespace dragoman::serving
