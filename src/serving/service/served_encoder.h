#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "decoding/encoder_service.h"
#include "decoding/text_labeler.h"
#include "kernels/precision.h"

namespace dragoman::serving {

/// A loaded encoder with everything that the routes need of it.
struct ServedEncoder {
  std::string id;  ///< by which clients name it, see model_id
  std::filesystem::path folder;
  std::string sha256;                                    ///< of its weights, from the manifest
  std::shared_ptr<const decoding::TextLabeler> labeler;  ///< the model with its vocabulary and labels
  std::shared_ptr<decoding::EncoderService> service;     ///< of the model of `labeler`
  std::string card = "{}";                               ///< JSON of GET /v1/model, see model_card
  int64_t created = 0;                                   ///< when its folder was published, in seconds since 1970
  double rate = 0.0;                                     ///< tokens per second of the warm-up

  const models::EncoderOnlyConfig& config() const { return labeler->model().encoder_config(); }
};

/// Reads the folder and encodes some texts, so that the memory is warm and the speed is roughly known.
/// @param batch_tokens  of the texts that one worker encodes together
/// Throws: Error(kBadData) for a folder that cannot be used.
[[nodiscard]] ServedEncoder load_served_encoder(const std::filesystem::path& folder,
                                                std::optional<kernels::Precision> precision,
                                                const decoding::ServiceThreads& threads, int64_t batch_tokens);

}  // namespace dragoman::serving
