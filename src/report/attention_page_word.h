#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/attention_page_data.h"
#include "report/attention_page_token.h"

namespace dragoman::report {

/// The pieces [begin, end) of the source that spell a word.
struct WordPlace {
  size_t begin = 0, end = 0;
};

/// Returns the first place where pieces spell `data.from_word`, a whole word if there is one: "it" is rather the word
/// than the end of "with". Blanks do not count.
/// Throws: Error(kUsage), "attention: the sentence has no word 'it'; its pieces are The, animal, ...".
WordPlace find_word(const AttentionPageData& data);

/// Returns the attention of one encoder layer from the word, whose pieces are one token. As a query the token has the
/// mean of its pieces' weights, as a key their sum.
TokenAttention attention_from(const AttentionPageData& data, const WordPlace& word, size_t layer);

/// The head in which the word looks most at another word.
struct StrongestLink {
  size_t layer = 0, head = 0;
  std::string token;  ///< the piece that it looks at
  float weight = 0.0F;
};

/// Returns nothing if there is no other word. Punctuation and the end token are no words.
std::optional<StrongestLink> strongest_link(const AttentionPageData& data, const WordPlace& word);

}  // namespace dragoman::report
