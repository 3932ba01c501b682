#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "serving/service/api_keys.h"
#include "serving/service/completion_service.h"
#include "serving/service/encoding_service.h"
#include "serving/service/glossary_store.h"
#include "serving/service/metrics.h"
#include "serving/service/served_models.h"
#include "serving/service/translated_files.h"
#include "serving/service/translation_service.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// A shared value that can be replaced while it is in use. Callers of `get` keep the value that they got.
/// Threads: safe for use by any number of threads.
template <typename Value>
class Current {
 public:
  explicit Current(std::shared_ptr<Value> value) : value_(std::move(value)) {}
  std::shared_ptr<Value> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<Value> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Value> value_;
};

/// The parts of the server that routes use. Requires: it outlives the routes.
struct ServingContext {
  Current<const ServedModels>& models;  ///< the models for new requests
  Current<ApiKeys>& keys;               ///< null = no key is needed
  TranslationService& service;
  Metrics& metrics;
  TextLimits limits;
  std::chrono::milliseconds request_time{30000};  ///< limit from the last byte of a request to its answer
  CompletionService* completions = nullptr;       ///< null = there is no place for language models
  EncodingService* encodings = nullptr;           ///< null = there is no place for encoders
  GlossaryStore* glossaries = nullptr;            ///< null = no folder for glossaries was named
  TranslatedFiles files = {};
  std::atomic<int64_t> characters{0};  ///< characters admitted since the start
  std::atomic<bool> is_ready{false};   ///< the models are warm and the server is not draining

  /// Checks the key of a request with this number of characters, and counts the characters.
  /// Throws: HttpError(403): "Invalid API key". HttpError(429) with Retry-After for a key beyond its limits.
  void admit_key(std::string_view key, int64_t characters_of_request);
};

}  // namespace dragoman::serving
