#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "data/encoder_input.h"
#include "data/vocabulary/vocabulary.h"
#include "models/encoder_only/encoder_only.h"

namespace dragoman::decoding {

/// How texts are encoded. Only `stride` changes a result, that of texts longer than the model takes.
struct EncodeOptions {
  int64_t batch_tokens = 0;
  int workers = 0;
  int64_t stride = 0;

  static constexpr const char* kTitle = "Speed";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void EncodeOptions::fields(Visit&& visit) {
  using base::Field;
  using O = EncodeOptions;
  visit(Field("batch_tokens", &O::batch_tokens, "Tokens encoded together; 0 = 512, on a GPU 8192", {0, 1 << 24},
              "tokens"));
  visit(Field("workers", &O::workers, "Batches encoded at a time; 0 = one for each core", {0, 1024}, "threads"));
  visit(Field(
      "stride", &O::stride,
      "Texts longer than the model takes are read in windows, which share as many tokens; 0 = they lose their end",
      {0, 1 << 20}, "tokens"));
}

/// The vectors of some texts.
struct Embeddings {
  std::vector<float> values;  ///< [B, D]
  int64_t width = 0;          ///< D
  int64_t cut = 0;            ///< texts that were longer than the model takes, which lost their end

  std::span<const float> of(size_t text) const {
    return std::span(values).subspan(text * static_cast<size_t>(width), static_cast<size_t>(width));
  }
};

/// The inputs that go through an encoder together.
using EncoderBatch = std::span<const data::EncoderInput* const>;
/// Is given what an encoder computed for one input of a batch, by its index.
using UseEncoded = std::function<void(size_t index, std::span<const float> values)>;

/// Computes the vector [D] of each input; see TextEncoder::embed.
void embed_batch(const models::EncoderOnly& model, EncoderBatch batch, const UseEncoded& use);

/// An encoder with its vocabulary.
/// Threads: any number may use one object.
class TextEncoder {
 public:
  TextEncoder(std::shared_ptr<const models::EncoderOnly> model, data::Vocabulary vocabulary);

  /// Computes a vector for each text: the mean of its rows, its first row, or that row behind the pooler, divided by
  /// its length where the model says so. The pieces around a text (data::TextFrame) are rows like the others. A text in
  /// windows (EncodeOptions::stride) has the mean of their vectors. Returns: the same bits for a text alone and in any
  /// batch.
  /// Throws: Error(kUsage) as data::encoder_windows.
  Embeddings embed(std::span<const std::string> texts, const EncodeOptions& options = {}) const;

  const models::EncoderOnly& model() const { return *model_; }
  const data::Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  std::shared_ptr<const models::EncoderOnly> model_;
  data::Vocabulary vocabulary_;
};

/// An encoder from its folder. Throws: as load_model; Error(kUsage) for a model of another architecture, "DIR: holds a
/// decoder-only model, which is no encoder".
TextEncoder load_encoder(const std::filesystem::path& folder, std::optional<kernels::Precision> precision = {});

}  // namespace dragoman::decoding
