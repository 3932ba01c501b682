#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "data/vocabulary/bert_text.h"
#include "data/vocabulary/bpe_split.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// The added token with which the vocabularies made here end a text, and begin one.
constexpr std::string_view kEndOfText = "<|endoftext|>";

/// What a character vocabulary has beside the characters.
struct CharacterOptions {
  bool with_unk = false;          ///< a piece <unk> for all other characters
  bool with_end_of_text = false;  ///< <|endoftext|>, which gets the last id
  /// What encoders need: [UNK] for all other characters, [CLS] and [SEP] around texts, [PAD] and [MASK].
  bool of_encoder = false;
};

/// Returns the vocabulary of the characters of `text`, which are numbered by their code points. Its file is a
/// tokenizer.json without merges. Without `with_unk` other characters are an error of `Vocabulary::encode_checked`, and
/// language models use this function: a character that silently disappeared would change the text.
/// Throws: Error(kBadData) if `text` is empty, "vocabulary: the text is empty; give a text with at least one
/// character".
Vocabulary character_tokenizer(std::string_view text, const CharacterOptions& options = {});

/// Returns the vocabulary of the two files of GPT-2, with the split kGpt2. <|endoftext|> becomes an added token if
/// it is a piece.
/// @param vocab_json  text of vocab.json, pieces and their ids
/// @param merges_txt  text of merges.txt, "LEFT RIGHT" on each line; a first line "#version ..." is left out
/// Throws: Error(kBadData), "merges.txt: line 7 is "th", must be two pieces with a space between them"; and as
/// read_tokenizer_json.
Vocabulary from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt);

/// The same for the two files of a RoBERTa or BART: <s> and </s> stand around texts, and <s>, <pad>, </s>, <unk> and
/// <mask> are added tokens. Throws: Error(kBadData), "vocab.json: no piece <s>; ..."; and as from_vocab_and_merges.
Vocabulary from_roberta_files(std::string_view vocab_json, std::string_view merges_txt);

/// Returns the vocabulary of BERT's vocab.txt, one piece a line, whose number is its id. [CLS] and [SEP] stand around
/// texts. Throws: Error(kBadData), "vocab.txt: no piece [UNK]; is it a file of BERT?", "vocab.txt: line 7 is empty";
/// and as read_tokenizer_json.
Vocabulary from_vocab_txt(std::string_view vocab_txt, const BertCleaning& cleaning);

}  // namespace dragoman::data
