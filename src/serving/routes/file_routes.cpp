#include "serving/routes/file_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/decompressor.h"
#include "base/error.h"
#include "base/utf8.h"
#include "serving/http/charset.h"
#include "serving/http/http_limits.h"
#include "serving/routes/asked_translation.h"

namespace dragoman::serving {
namespace {

constexpr ErrorShape kFileShape = ErrorShape::kLibreTranslate;
constexpr std::string_view kDownloads = "/download_file/";

// A compressed file has no more text than a file that is not.
constexpr size_t kMostTextBytes = HttpLimits().body_bytes;

bool is_text_file(const std::string& name) {
  constexpr std::string_view kEndings[] = {".txt", ".txt.gz", ".txt.xz", ".txt.zst"};
  const std::string lower = base::ascii_lower_case(name);
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

// Returns the text of an upload; its first bytes say whether it is compressed.
std::string text_of(const Upload& file) {
  if (base::compression_of(file.bytes) == base::Compression::kNone) {
    return file.bytes;
  }
  try {
    return document_as_utf8(base::decompressed(file.bytes, kMostTextBytes, file.file_name), {});
  } catch (const base::Error& error) {
    bad_request(std::string("Invalid request: ") + error.what());
  }
}

std::string file_text(const RequestFields& fields) {
  const auto found = std::ranges::find(fields.uploads(), "file", &Upload::field);
  if (found == fields.uploads().end()) {
    bad_request("Invalid request: missing file parameter");
  }
  if (found->file_name.empty()) {
    bad_request("Invalid request: empty file");
  }
  if (!is_text_file(found->file_name)) {
    bad_request("Invalid request: file format not supported");
  }
  return base::repair_utf8(text_of(*found));
}

// Returns the address of the file, with the host name that the client used.
std::string url_of(const Request& request, const std::string& name) {
  const std::string_view host = request.header("Host");
  return (host.empty() ? std::string() : "http://" + std::string(host)) + std::string(kDownloads) + name;
}

void translate_file(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange) {
  const RequestFields fields(exchange->request());
  const std::string text = file_text(fields);
  TextsRequest request{.models = context.models.get()};
  DetectedLanguage source;
  const ServedPair pair =
      model_between(*request.models, required_text(fields, "source"), required_text(fields, "target"), text, source);
  request.texts.push_back({plan_text(text, context.limits.sentences, source.code), pair.model, pair.tokens});
  context.admit_key(fields.text("api_key"), static_cast<int64_t>(base::count_characters(text)));
  translate_texts(context, *exchange, std::move(request),
                  [exchange, &context](const std::vector<TranslatedText>& texts, const std::exception_ptr& error) {
                    if (error != nullptr) {
                      return exchange->reply(error_reply(kFileShape, error));
                    }
                    const std::string name = context.files.keep(texts.front().text);
                    exchange->reply(json_reply({{"translatedFileUrl", url_of(exchange->request(), name)}}));
                  });
}

Reply download(const Request& request, ServingContext& context) {
  const auto bytes = context.files.find(request.path.substr(kDownloads.size()));
  if (!bytes) {
    throw HttpError(status::kNotFound, "File not found");
  }
  return {.content_type = "text/plain; charset=utf-8",
          .body = *bytes,
          .headers = {{"Content-Disposition", "attachment; filename=\"translation.txt\""}}};
}

}  // namespace

void add_file_routes(Router& router, ServingContext& context) {
  router.add_later("POST", "/translate_file", kFileShape,
                   [&context](const std::shared_ptr<HttpExchange>& exchange) { translate_file(context, exchange); });
  router.add_prefix("GET", std::string(kDownloads), kFileShape,
                    [&context](const Request& request) { return download(request, context); });
}

}  // namespace dragoman::serving
