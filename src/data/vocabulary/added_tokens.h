#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/vocabulary/subword_sampler.h"
#include "data/vocabulary/tokenizer_spec.h"

namespace dragoman::data {

/// A finder of added tokens in a text. Of the tokens that begin at one place the longest counts, and tokens do not
/// overlap. Threads: any number; the object is immutable.
class AddedTokenFinder {
 public:
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  /// A part of a text: an added token, or text between two tokens, which has the id -1.
  struct Part {
    std::string_view text;
    int32_t id = -1;
  };

  /// Calls use(Part) for all parts of `text` in their order, none of them empty text. White space that a token takes
  /// is in no part.
  template <typename Use>
  void for_each_part(std::string_view text, Use&& use) const {
    size_t begin = 0;
    for (size_t at = 0; const AddedToken* token = find(text, at);) {
      const size_t end = at + token->content.size();
      if (fits(*token, text, at)) {
        const size_t text_end = token->lstrip ? spaces_begin(text, begin, at) : at;
        if (begin < text_end) {
          use(Part{text.substr(begin, text_end - begin), -1});
        }
        use(Part{text.substr(at, token->content.size()), token->id});
        begin = token->rstrip ? spaces_end(text, end) : end;
      }
      at = end;
    }
    if (begin < text.size()) {
      use(Part{text.substr(begin), -1});
    }
  }

 private:
  // The next token at or after `at`, which becomes its place; null if there is none.
  const AddedToken* find(std::string_view text, size_t& at) const;
  static bool fits(const AddedToken& token, std::string_view text, size_t at);
  static size_t spaces_begin(std::string_view text, size_t least, size_t end);
  static size_t spaces_end(std::string_view text, size_t begin);

  std::vector<AddedToken> tokens_;
  PieceTrie trie_;
  std::array<bool, 256> begins_{};  // bytes that a token begins with
};

}  // namespace dragoman::data
