#pragma once

#include <string>
#include <vector>

#include "data/vocabulary/piece_list.h"
#include "decoding/translator.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {

/// The own codes of the languages of `many_translator`.
inline const std::vector<std::string> kOwnCodes = {"deu_Latn", "eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant"};

/// Returns the pieces of tiny_vocabulary.h, and the codes of languages behind them.
inline data::Vocabulary many_vocabulary() {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < vocabulary().size(); ++id) {
    pieces.push_back(vocabulary().piece(id));
  }
  for (const std::string& code : kOwnCodes) {
    pieces.push_back(data::language_piece(code));
  }
  return data::Vocabulary::from_bytes(data::with_piece_list(vocabulary().bytes(), pieces, "vocabulary"), "vocabulary");
}

/// Returns a random model that translates between all these languages.
inline std::shared_ptr<const Translator> many_translator(uint64_t seed = 1, int64_t max_positions = 80) {
  const data::Vocabulary pieces = many_vocabulary();
  return std::make_shared<const Translator>(
      tiny_model(nn::NormOrder::kPre, seed, pieces.size(), max_positions), pieces, pieces,
      TranslatorSetup{.threads = {.workers = 2}, .languages = models::languages_between(kOwnCodes)});
}

}  // namespace dragoman::decoding
