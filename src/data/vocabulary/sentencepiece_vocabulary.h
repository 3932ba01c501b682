#pragma once

#include <sentencepiece_processor.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/subword_sampler.h"
#include "data/vocabulary/vocabulary_model.h"

namespace dragoman::data {

/// A vocabulary from a SentencePiece model, which may have a piece list (data/vocabulary/piece_list.h).
class SentencePieceVocabulary : public VocabularyModel {
 public:
  /// Throws: Error(kBadData) for a damaged model, a wrong piece list or, without a list, special ids other than 0, 1,
  /// 2, 3.
  SentencePieceVocabulary(std::string_view serialized, std::string_view name);

  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] const SpecialIds& special() const override { return special_; }
  [[nodiscard]] const TextFrame& frame() const override { return frame_; }
  [[nodiscard]] int32_t size() const override;
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const override;
  [[nodiscard]] std::vector<int32_t> encode_sampled(std::string_view text, double alpha,
                                                    base::Random& random) const override;
  [[nodiscard]] std::optional<char32_t> first_lost(std::string_view /*text*/) const override { return std::nullopt; }
  [[nodiscard]] std::string decode(std::span<const int32_t> ids) const override;
  [[nodiscard]] std::string normalize(std::string_view text) const override;
  [[nodiscard]] const std::string& piece(int32_t id) const override;
  [[nodiscard]] std::string piece_bytes(int32_t id) const override;
  [[nodiscard]] int32_t id(std::string_view piece) const override;
  [[nodiscard]] const std::string& bytes() const override { return serialized_; }

 private:
  // The sampler of random segmentations.
  struct Sampling {
    SubwordSampler sampler;
    std::vector<int32_t> byte_ids;  // [256] when unknown characters become bytes, otherwise empty

    void append(const SubwordSampler::Segment& segment, std::vector<int32_t>& ids) const;
  };

  void check_special_ids(std::string_view name) const;
  void read_list(std::string_view name);
  // The id that a piece of SentencePiece is read as.
  int32_t id_of(std::string_view piece, int32_t sentencepiece_id) const;
  std::vector<int32_t> encode_listed(std::string_view text) const;
  void append_listed(std::string_view text, std::vector<int32_t>& ids) const;
  std::vector<std::string> spelled(std::span<const int32_t> ids) const;
  const Sampling& sampling() const;
  Sampling make_sampling() const;
  // The text as the pieces spell it, spaces as U+2581.
  std::string normalized(std::string_view text) const;

  std::string serialized_;
  SentencePieceSummary summary_;
  sentencepiece::SentencePieceProcessor processor_;
  TextFrame frame_;  // none
  SpecialIds special_{.pad = kPadId, .unk = kUnkId, .bos = kBosId, .eos = {kEosId}};
  std::vector<std::string> listed_;  // [size] the piece list; may be empty
  std::unordered_map<std::string_view, int32_t> listed_ids_;
  bool has_sentinels_ = false;            // the list has <extra_id_0>
  bool has_languages_ = false;            // the list has the codes of several languages, >>fra<<
  mutable std::once_flag sampling_once_;  // created on the first request; translation never needs it
  mutable std::optional<Sampling> sampling_made_;
};

}  // namespace dragoman::data
