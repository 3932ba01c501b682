#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/checked_folder.h"
#include "data/chat/chat_template.h"
#include "decoding/generator.h"
#include "kernels/precision.h"

namespace dragoman::serving {

/// A loaded language model with everything that the routes need of it.
struct ServedLanguageModel {
  std::string id;  ///< by which clients name it, see model_id
  std::filesystem::path folder;
  std::string sha256;  ///< of its weights, from the manifest
  std::shared_ptr<const decoding::Generator> generator;
  std::string card = "{}";                              ///< JSON of GET /v1/model, see model_card
  int64_t created = 0;                                  ///< when its folder was published, in seconds since 1970
  double rate = 0.0;                                    ///< tokens per second of the warm-up; full batches are faster
  std::shared_ptr<const data::ChatTemplate> chat = {};  ///< null if the folder has none that can be used
  std::string chat_error = {};                          ///< why a chat template of the folder cannot be used
};

/// Reads the folder and continues some texts, so that the memory is warm and the speed is roughly known.
/// Throws: Error(kBadData) for a folder that cannot be used.
[[nodiscard]] ServedLanguageModel load_language_model(const std::filesystem::path& folder,
                                                      std::optional<kernels::Precision> precision,
                                                      const decoding::ServiceThreads& threads);

}  // namespace dragoman::serving
