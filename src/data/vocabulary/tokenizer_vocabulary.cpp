#include "data/vocabulary/tokenizer_vocabulary.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/utf8.h"
#include "data/vocabulary/byte_level.h"
#include "data/vocabulary/byte_piece.h"
#include "data/vocabulary/tokenizer_json.h"

namespace dragoman::data {
namespace {

// A file whose text is one word still has words if no merge crosses the marks of spaces: cutting there makes the same
// ids in less time.
void cut_at_safe_marks(TokenizerSpec& spec, const BpeModel& bpe) {
  std::vector<SplitStep>& splits = spec.splits;
  const bool is_one_word = splits.empty() || (splits.size() == 1 && splits[0].kind == SplitStep::Kind::kMetaspace &&
                                              !splits[0].cuts_at_marks);
  const std::string& mark = splits.empty() ? spec.spelling.mark : splits[0].mark;
  if (is_one_word && !mark.empty() && bpe.may_cut_before(mark)) {
    splits.push_back({.kind = SplitStep::Kind::kMarkRuns, .mark = mark});
  }
}

// The tokens that are found in normalised text, normalised like the text, or all others.
std::vector<AddedToken> tokens_of(const TokenizerSpec& spec, bool in_normalized) {
  std::vector<AddedToken> tokens;
  std::unordered_set<std::string> contents;
  for (AddedToken token : spec.added) {
    if (token.normalized == in_normalized) {
      token.content = in_normalized ? normalized(token.content, spec.normalizer) : token.content;
      if (!token.content.empty() && contents.insert(token.content).second) {
        tokens.push_back(std::move(token));
      }
    }
  }
  return tokens;
}

std::string word_piece_text(const std::string& piece, const PieceSpelling& spelling) {
  constexpr std::array<std::string_view, 9> kJoined = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  if (piece.starts_with(spelling.continued)) {
    return piece.substr(spelling.continued.size());
  }
  const bool is_joined = spelling.joins_marks &&
                         std::ranges::any_of(kJoined, [&](std::string_view end) { return piece.starts_with(end); });
  return is_joined ? piece : " " + piece;
}

// Text as the reader of lines hands it out, but with NUL, which byte-level pieces can spell.
std::string as_utf8(std::string_view text) {
  return base::is_valid_utf8(text) ? std::string(text) : base::encode_utf8(base::decode_utf8(text));
}

}  // namespace

TokenizerVocabulary::TokenizerVocabulary(std::string_view text, std::string_view name)
    : text_(text),
      spec_(read_tokenizer_json(text, name)),
      raw_tokens_(tokens_of(spec_, false)),
      normalized_tokens_(tokens_of(spec_, true)) {
  for (size_t id = 0; id < spec_.pieces.size(); ++id) {
    ids_.emplace(spec_.pieces[id], static_cast<int32_t>(id));
    bytes_of_.push_back(spelled_text(spec_.pieces[id]));
  }
  for (const AddedToken& token : spec_.added) {
    if (token.special) {
      bytes_of_[static_cast<size_t>(token.id)].clear();
    }
  }
  special_ = spec_.special.value_or(found_special());
  words_ = make_words();
}

std::unique_ptr<WordModel> TokenizerVocabulary::make_words() {
  if (spec_.word_piece) {
    return std::make_unique<WordPieceModel>(spellings(), *spec_.word_piece);
  }
  auto bpe = std::make_unique<BpeModel>(spellings(), spec_.merges, spec_.model);
  cut_at_safe_marks(spec_, *bpe);
  return bpe;
}

// What the words of a text are compared with; a byte-level piece with other characters is spelled by no word.
std::vector<std::string> TokenizerVocabulary::spellings() const {
  std::vector<std::string> spellings(spec_.pieces.begin(),
                                     spec_.pieces.begin() + static_cast<std::ptrdiff_t>(spec_.model_pieces));
  for (std::string& spelling : spellings) {
    if (spec_.spelling.byte_level) {
      spelling = from_byte_level(spelling).value_or("");
    }
  }
  return spellings;
}

std::string TokenizerVocabulary::spelled_text(const std::string& piece) const {
  if (spec_.spelling.byte_level) {
    return from_byte_level(piece).value_or(piece);
  }
  if (const std::optional<char> byte = byte_of_piece(piece); spec_.spelling.byte_pieces && byte) {
    return std::string(1, *byte);
  }
  if (!spec_.spelling.continued.empty()) {
    return word_piece_text(piece, spec_.spelling);
  }
  return spec_.spelling.mark.empty() ? piece : replaced(piece, spec_.spelling.mark, " ");
}

int32_t TokenizerVocabulary::id_of_any(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(spec_.added, name, &AddedToken::content);
    if (found != spec_.added.end()) {
      return found->id;
    }
  }
  return -1;
}

// <|endoftext|> begins and ends texts where no other piece does, as in GPT-2.
SpecialIds TokenizerVocabulary::found_special() const {
  SpecialIds special{.pad = id_of_any({"<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"}),
                     .unk = spec_.model.unk,
                     .bos = spec_.frame.first};
  if (special.bos < 0) {
    special.bos = id_of_any({"<s>", "<bos>", "<|begin_of_text|>", "<|endoftext|>"});
  }
  if (spec_.frame.last >= 0) {
    special.eos.push_back(spec_.frame.last);
  }
  for (const std::string_view name :
       {"</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|im_end|>"}) {
    if (const int32_t id = id_of_any({name}); id >= 0 && id != spec_.frame.last) {
      special.eos.push_back(id);
    }
  }
  return special;
}

VocabularyModel::Traits TokenizerVocabulary::traits() const {
  return {.has_piece_list = false,
          .is_bpe = !spec_.word_piece.has_value(),
          .has_byte_fallback = spec_.model.byte_fallback,
          .adds_bos = spec_.frame.first >= 0,
          .has_merges = !spec_.merges.empty()};
}

void TokenizerVocabulary::for_each_word(std::string_view text, const UseWord& use_word,
                                        const UseToken& use_token) const {
  raw_tokens_.for_each_part(text, [&](const AddedTokenFinder::Part& part) {
    if (part.id >= 0) {
      use_token(part);
      return;
    }
    const bool is_first = part.text.data() == text.data();
    const std::string changed = normalized(part.text, spec_.normalizer);
    normalized_tokens_.for_each_part(changed, [&](const AddedTokenFinder::Part& inner) {
      if (inner.id >= 0) {
        use_token(inner);
      } else {
        split_words(inner.text, is_first && inner.text.data() == changed.data(), spec_.splits, use_word);
      }
    });
  });
}

std::vector<int32_t> TokenizerVocabulary::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  for_each_word(
      as_utf8(text), [&](std::string_view word) { words_->encode(word, ids); },
      [&](const AddedTokenFinder::Part& token) { ids.push_back(token.id); });
  return ids;
}

std::vector<int32_t> TokenizerVocabulary::encode_sampled(std::string_view text, double alpha,
                                                         base::Random& /*random*/) const {
  base::check_usage(alpha == 0.0,
                    "vocabulary: sub-word sampling is {}, a vocabulary from tokenizer.json has none; set it to 0",
                    alpha);
  return encode(text);
}

std::optional<char32_t> TokenizerVocabulary::first_lost(std::string_view text) const {
  std::optional<char32_t> lost;
  for_each_word(
      as_utf8(text),
      [&](std::string_view word) {
        size_t at = lost ? std::string_view::npos : words_->first_lost(word);
        if (at == std::string_view::npos) {
          return;
        }
        while (at > 0 && (static_cast<unsigned char>(word[at]) & 0xC0U) == 0x80U) {  // a byte inside a character
          --at;
        }
        lost = base::code_point_at(word, at).value;
      },
      [](const AddedTokenFinder::Part&) {});
  return lost;
}

std::string TokenizerVocabulary::without_marks(std::string text) const {
  if (!spec_.spelling.mark.empty()) {
    text = replaced(text, spec_.spelling.mark, " ");
  }
  return spec_.spelling.strips_first_space && text.starts_with(' ') ? text.substr(1) : text;
}

std::string TokenizerVocabulary::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    text += bytes_of_[static_cast<size_t>(id)];
  }
  if (spec_.spelling.strips_first_space && text.starts_with(' ')) {
    text.erase(0, 1);
  }
  return as_utf8(text);
}

std::string TokenizerVocabulary::normalize(std::string_view text) const {
  std::string all;
  for_each_word(
      as_utf8(text), [&](std::string_view word) { all += word; },
      [&](const AddedTokenFinder::Part& token) { all += token.text; });
  return without_marks(std::move(all));
}

int32_t TokenizerVocabulary::id(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? special_.unk : found->second;
}

}  // namespace dragoman::data
