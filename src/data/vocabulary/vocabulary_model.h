#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/vocabulary/special_ids.h"

namespace dragoman::data {

/// What `Vocabulary` asks a vocabulary for; `Vocabulary` states the contracts and checks the ids. There are two
/// implementations: SentencePiece models and tokenizer.json files. Threads: any number; the object is immutable.
class VocabularyModel {
 public:
  struct Traits {
    bool has_piece_list = false;
    bool is_bpe = false;
    bool has_byte_fallback = false;
    bool adds_bos = false;
    bool has_merges = true;  ///< otherwise the pieces are characters
  };

  VocabularyModel() = default;
  virtual ~VocabularyModel() = default;
  VocabularyModel(const VocabularyModel&) = delete;
  VocabularyModel& operator=(const VocabularyModel&) = delete;

  [[nodiscard]] virtual Traits traits() const = 0;
  [[nodiscard]] virtual const SpecialIds& special() const = 0;
  [[nodiscard]] virtual const TextFrame& frame() const = 0;
  [[nodiscard]] virtual int32_t size() const = 0;
  [[nodiscard]] virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  [[nodiscard]] virtual std::vector<int32_t> encode_sampled(std::string_view text, double alpha,
                                                            base::Random& random) const = 0;
  /// Returns the first character of `text` that no piece spells and no unk stands for; empty if there is none.
  [[nodiscard]] virtual std::optional<char32_t> first_lost(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string decode(std::span<const int32_t> ids) const = 0;
  [[nodiscard]] virtual std::string normalize(std::string_view text) const = 0;
  [[nodiscard]] virtual const std::string& piece(int32_t id) const = 0;
  [[nodiscard]] virtual std::string piece_bytes(int32_t id) const = 0;
  [[nodiscard]] virtual int32_t id(std::string_view piece) const = 0;
  [[nodiscard]] virtual const std::string& bytes() const = 0;
};

}  // namespace dragoman::data
