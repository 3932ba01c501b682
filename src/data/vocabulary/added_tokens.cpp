#include "data/vocabulary/added_tokens.h"

#include <unicode/uchar.h>

#include <utility>

#include "base/utf8.h"

namespace dragoman::data {
namespace {

std::vector<ScoredPiece> trie_pieces(const std::vector<AddedToken>& tokens) {
  std::vector<ScoredPiece> pieces;
  for (const AddedToken& token : tokens) {
    pieces.push_back({.text = token.content, .score = 0, .id = token.id});
  }
  return pieces;
}

bool is_word_character(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  constexpr uint32_t kCategories = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return u_hasBinaryProperty(code, UCHAR_ALPHABETIC) || (U_GET_GC_MASK(code) & kCategories) != 0 ||
         u_hasBinaryProperty(code, UCHAR_JOIN_CONTROL);
}

// The place where the character before `end` begins. Requires: end > 0.
size_t previous(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
    --at;
  }
  return at;
}

bool is_space_at(std::string_view text, size_t at) {
  return u_isUWhiteSpace(static_cast<UChar32>(base::code_point_at(text, at).value));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), trie_(trie_pieces(tokens_)) {
  for (const AddedToken& token : tokens_) {
    begins_[static_cast<unsigned char>(token.content[0])] = true;
  }
}

const AddedToken* AddedTokenFinder::find(std::string_view text, size_t& at) const {
  for (; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) {
      continue;
    }
    const AddedToken* longest = nullptr;
    trie_.for_each_prefix(text.substr(at), [&](size_t /*bytes*/, size_t index) { longest = &tokens_[index]; });
    if (longest != nullptr) {
      return longest;
    }
  }
  return nullptr;
}

bool AddedTokenFinder::fits(const AddedToken& token, std::string_view text, size_t at) {
  if (!token.single_word) {
    return true;
  }
  const size_t end = at + token.content.size();
  const bool left = at == 0 || !is_word_character(base::code_point_at(text, previous(text, at)).value);
  return left && (end == text.size() || !is_word_character(base::code_point_at(text, end).value));
}

size_t AddedTokenFinder::spaces_begin(std::string_view text, size_t least, size_t end) {
  while (end > least && is_space_at(text, previous(text, end))) {
    end = previous(text, end);
  }
  return end;
}

size_t AddedTokenFinder::spaces_end(std::string_view text, size_t begin) {
  while (begin < text.size() && is_space_at(text, begin)) {
    begin += base::code_point_at(text, begin).bytes;
  }
  return begin;
}

}  // namespace dragoman::data
