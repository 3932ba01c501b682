#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "serving/served_models.h"
#include "serving/text_limits.h"
#include "serving/translation_service.h"

namespace dragoman::serving {

/// The set of models that new requests get. Safe for use by any number of threads.
class CurrentModels {
 public:
  explicit CurrentModels(std::shared_ptr<const ServedModels> models) : models_(std::move(models)) {}
  std::shared_ptr<const ServedModels> get() const {
    const std::lock_guard lock(mutex_);
    return models_;
  }
  void set(std::shared_ptr<const ServedModels> models) {
    const std::lock_guard lock(mutex_);
    models_.swap(models);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ServedModels> models_;
};

/// What routes work with. Outlives them.
struct ServingContext {
  CurrentModels& models;
  TranslationService& service;
  TextLimits limits;
  std::chrono::milliseconds request_time{30000};  ///< until an answer, from the request's last byte
  std::atomic<bool> is_ready{false};              ///< warm, and not draining
};

}  // namespace dragoman::serving
