#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "serving/service/api_keys.h"
#include "serving/service/metrics.h"
#include "serving/service/served_models.h"
#include "serving/service/translated_files.h"
#include "serving/service/translation_service.h"
#include "serving/text/text_limits.h"

namespace dragoman::serving {

/// Something that is replaced as a whole while others use it; who has got it keeps it. Safe for use by any number of
/// threads.
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

/// What routes work with. Outlives them.
struct ServingContext {
  Current<const ServedModels>& models;  ///< that new requests get
  Current<ApiKeys>& keys;               ///< null = no key is needed
  TranslationService& service;
  Metrics& metrics;
  TextLimits limits;
  std::chrono::milliseconds request_time{30000};  ///< until an answer, from the request's last byte
  TranslatedFiles files = {};
  std::atomic<int64_t> characters{0};  ///< taken for translation since the start
  std::atomic<bool> is_ready{false};   ///< warm, and not draining

  /// Lets a request with so many characters pass and counts them. Throws HttpError: 403 for a key that is missing or
  /// unknown, 429 with Retry-After for one that is used too much.
  void admit_key(std::string_view key, int64_t characters_of_request);
};

}  // namespace dragoman::serving
