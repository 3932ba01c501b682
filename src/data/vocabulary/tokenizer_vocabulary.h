#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/vocabulary/added_tokens.h"
#include "data/vocabulary/bpe_model.h"
#include "data/vocabulary/text_steps.h"
#include "data/vocabulary/tokenizer_spec.h"
#include "data/vocabulary/vocabulary_model.h"

namespace dragoman::data {

/// A vocabulary from a tokenizer.json file. It gives the ids that the `tokenizers` package gives without special
/// tokens.
class TokenizerVocabulary : public VocabularyModel {
 public:
  /// Throws: Error(kBadData), as read_tokenizer_json.
  TokenizerVocabulary(std::string_view text, std::string_view name);

  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] const SpecialIds& special() const override { return special_; }
  [[nodiscard]] const TextFrame& frame() const override { return spec_.frame; }
  [[nodiscard]] int32_t size() const override { return static_cast<int32_t>(spec_.pieces.size()); }
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const override;
  [[nodiscard]] std::vector<int32_t> encode_sampled(std::string_view text, double alpha,
                                                    base::Random& random) const override;
  [[nodiscard]] std::optional<char32_t> first_lost(std::string_view text) const override;
  [[nodiscard]] std::string decode(std::span<const int32_t> ids) const override;
  [[nodiscard]] std::string normalize(std::string_view text) const override;
  [[nodiscard]] const std::string& piece(int32_t id) const override { return spec_.pieces[static_cast<size_t>(id)]; }
  [[nodiscard]] std::string piece_bytes(int32_t id) const override { return bytes_of_[static_cast<size_t>(id)]; }
  [[nodiscard]] int32_t id(std::string_view piece) const override;
  [[nodiscard]] const std::string& bytes() const override { return text_; }

 private:
  using UseToken = std::function<void(const AddedTokenFinder::Part& token)>;

  std::unique_ptr<WordModel> make_words();
  std::vector<std::string> spellings() const;
  std::string spelled_text(const std::string& piece) const;
  int32_t id_of_any(std::initializer_list<std::string_view> names) const;
  SpecialIds found_special() const;
  // Calls use_word for each word of `text` and use_token for each added token, in the order of the text.
  void for_each_word(std::string_view text, const UseWord& use_word, const UseToken& use_token) const;
  std::string without_marks(std::string text) const;

  std::string text_;
  TokenizerSpec spec_;
  std::unordered_map<std::string_view, int32_t> ids_;
  SpecialIds special_;
  std::vector<std::string> bytes_of_;  // [size] what the piece adds to a text
  std::unique_ptr<WordModel> words_;
  AddedTokenFinder raw_tokens_;         // found before the text is normalised
  AddedTokenFinder normalized_tokens_;  // found behind that
};

}  // namespace dragoman::data
