#include "interop/hf_languages.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/spm_pieces.h"
#include "interop/model_source.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using base::check_data;
using nlohmann::json;

constexpr const char* kTokensName = "special_tokens_map.json";
constexpr const char* kLanguagesKey = "additional_special_tokens";
const std::vector<std::string> kFirstPieces = {"<s>", "<pad>", "</s>", "<unk>"};

std::string code_of_token(const std::string& token) {
  constexpr std::string_view kBars = "__";
  const bool has_bars = token.size() > 2 * kBars.size() && token.starts_with(kBars) && token.ends_with(kBars);
  return has_bars ? token.substr(kBars.size(), token.size() - 2 * kBars.size()) : token;
}

// The pieces of vocab.json by id, without gaps.
std::vector<std::string> listed_pieces(const fs::path& folder) {
  const std::string name = (folder / kLanguagesPiecesName).string();
  const json tree = base::parse_json(read_json(folder, kLanguagesPiecesName), name);
  check_data(tree.is_object() && !tree.empty(), "{}: must be a JSON object of pieces and ids", name);
  std::vector<std::string> pieces(tree.size());
  for (const auto& [piece, id] : tree.items()) {
    check_data(id.is_number_integer() && id >= json(0) && id < json(tree.size()) && pieces[id.get<size_t>()].empty(),
               "{}: the id of '{}' must be an integer from 0 to {} that no other piece has", name, piece,
               tree.size() - 1);
    pieces[id.get<size_t>()] = piece;
  }
  return pieces;
}

}  // namespace

std::vector<std::string> fairseq_pieces(const std::vector<data::SpmPiece>& spm) {
  constexpr size_t kOwnSpecial = 3;
  std::vector<std::string> pieces = kFirstPieces;
  for (size_t id = kOwnSpecial; id < spm.size(); ++id) {
    pieces.push_back(spm[id].text);
  }
  return pieces;
}

void check_fairseq_pieces(const std::vector<std::string>& pieces, const std::string& file) {
  for (size_t id = 0; id < kFirstPieces.size(); ++id) {
    check_data(id < pieces.size() && pieces[id] == kFirstPieces[id], "{}: id {} is not {}, as in fairseq", file, id,
               kFirstPieces[id]);
  }
}

std::string languages_tokenizer_config(const char* tokenizer_class, const std::vector<std::string>& tokens,
                                       int64_t max_positions) {
  const json tree = {{"tokenizer_class", tokenizer_class},
                     {kLanguagesKey, tokens},
                     {"model_max_length", max_positions},
                     {"clean_up_tokenization_spaces", false},
                     {"bos_token", "<s>"},
                     {"cls_token", "<s>"},
                     {"pad_token", "<pad>"},
                     {"eos_token", "</s>"},
                     {"sep_token", "</s>"},
                     {"unk_token", "<unk>"}};
  return base::dump_json(tree, 2) + "\n";
}

std::vector<std::string> read_languages(const fs::path& folder) {
  for (const char* file : {kHfTokenizerConfigName, kTokensName}) {
    if (!is_there(folder / file)) {
      continue;
    }
    const std::string name = (folder / file).string();
    const json tree = base::parse_json(read_json(folder, file), name);
    const base::JsonFields fields(tree, name);
    if (!fields.has(kLanguagesKey)) {
      continue;
    }
    std::vector<std::string> languages;
    for (const json& token : fields.list(kLanguagesKey)) {
      check_data(token.is_string(), "{}: {} must be a list of texts", name, kLanguagesKey);
      languages.push_back(code_of_token(token.get<std::string>()));
    }
    return languages;
  }
  base::fail(base::ErrorKind::kBadData, "{}: neither {} nor {} has {}, which are the languages of the model",
             folder.string(), kHfTokenizerConfigName, kTokensName, kLanguagesKey);
}

PieceOrder read_pieces_with_languages(const fs::path& folder, const std::string& spm,
                                      const std::vector<std::string>& languages, int64_t vocab_size,
                                      const SpecialPieces& special) {
  const std::string file = (folder / kLanguagesSpmName).string();
  std::vector<std::string> pieces =
      is_there(folder / kLanguagesPiecesName) ? listed_pieces(folder) : fairseq_pieces(data::spm_pieces(spm, file));
  for (const std::string& code : languages) {
    pieces.push_back(data::language_piece(code));
  }
  check_data(static_cast<int64_t>(pieces.size()) <= vocab_size,
             "{}: {} pieces and languages, config.json has a vocab_size of {}; the files are of different models", file,
             pieces.size(), vocab_size);
  check_fairseq_pieces(pieces, file);
  while (static_cast<int64_t>(pieces.size()) < vocab_size) {
    pieces.push_back(no_piece(pieces.size()));
  }
  return order_pieces(pieces, special);
}

}  // namespace dragoman::interop
