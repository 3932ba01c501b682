#pragma once

#include <string>
#include <string_view>

namespace dragoman::interop {

/// Returns the text of the tokenizer.json that gives the ids of a SentencePiece model of a Llama (tokenizer.model), in
/// the form in which folders of Llama 2 have it. A pair of pieces is merged the earlier, the higher the score of its
/// piece. Throws: Error(kBadData), as data::check_sentencepiece_model, and for a model that works otherwise:
/// "m/tokenizer.model: is a unigram model; dragoman reads BPE models of Llama".
/// @param adds_bos  whether bos stands before each text
[[nodiscard]] std::string tokenizer_json_of_sentencepiece(std::string_view serialized, const std::string& name,
                                                          bool adds_bos);

}  // namespace dragoman::interop
