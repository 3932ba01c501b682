#include "interop/marian_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/spm_pieces.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using nlohmann::json;

// Returns the pieces in the order of their ids. Each id has one piece.
std::vector<std::string> pieces_by_id(const json& tree, const std::string& file_name, int64_t size) {
  check_data(tree.is_object(), "{}: must be a JSON object of pieces and ids", file_name);
  check_data(static_cast<int64_t>(tree.size()) == size,
             "{}: has {} pieces, config.json has embeddings for {}; the files are of different models", file_name,
             tree.size(), size);
  std::vector<std::string> pieces(static_cast<size_t>(size));
  std::vector<bool> known(static_cast<size_t>(size), false);
  for (const auto& [piece, id] : tree.items()) {
    check_data(id.is_number_integer() && id >= json(0) && id < json(size),
               "{}: the id of '{}' is {}, must be an integer from 0 to {}", file_name, piece, base::dump_json(id),
               size - 1);
    const auto index = id.get<size_t>();
    check_data(!known[index], "{}: '{}' and '{}' both have the id {}", file_name, pieces[index], piece, index);
    known[index] = true;
    pieces[index] = piece;
  }
  return pieces;
}

int64_t id_of_unk(const std::vector<std::string>& pieces, const std::string& file_name) {
  const auto found = std::find(pieces.begin(), pieces.end(), "<unk>");
  check_data(found != pieces.end(), "{}: has no piece <unk>; is this the vocabulary of a MarianMT model?", file_name);
  return found - pieces.begin();
}

void check_special(const std::vector<std::string>& pieces, int64_t id, const char* name, const std::string& file_name) {
  check_data(id < static_cast<int64_t>(pieces.size()), "{}: has no id {}, which config.json calls {}", file_name, id,
             name);
  const std::string& piece = pieces[static_cast<size_t>(id)];
  check_data(piece == name, "{}: id {} is '{}', config.json calls it {}", file_name, id, piece, name);
}

}  // namespace

MarianVocabulary marian_vocabulary_from_json(std::string_view text, const std::string& file_name, int64_t size,
                                             const MarianConfig& config) {
  const std::vector<std::string> theirs = pieces_by_id(base::parse_json(text, file_name), file_name, size);
  const int64_t unk = id_of_unk(theirs, file_name);
  check_special(theirs, config.pad_id, "<pad>", file_name);
  check_special(theirs, config.eos_id, "</s>", file_name);
  check_data(config.start_id < size, "{}: has no id {}, the decoder_start_token_id of config.json", file_name,
             config.start_id);
  MarianVocabulary vocabulary{{data::kSpecialPieces.begin(), data::kSpecialPieces.end()},
                              {config.pad_id, unk, config.start_id, config.eos_id}};
  for (int64_t id = 0; id < size; ++id) {
    if (id != config.pad_id && id != unk && id != config.eos_id) {
      vocabulary.pieces.push_back(theirs[static_cast<size_t>(id)]);
      vocabulary.marian_ids.push_back(id);
    }
  }
  return vocabulary;
}

std::string with_marian_ids(std::string_view spm, const std::string& file_name, const MarianVocabulary& vocabulary,
                            std::vector<std::string>& notes) {
  data::check_sentencepiece_model(spm, file_name);
  const std::string bare = data::without_piece_list(spm, file_name);
  const std::unordered_set<std::string_view> known(vocabulary.pieces.begin() + data::kEosId + 1,
                                                   vocabulary.pieces.end());
  const std::vector<std::string> written = data::written_pieces(bare, file_name);
  const auto missing =
      std::count_if(written.begin(), written.end(), [&](const auto& piece) { return !known.contains(piece); });
  check_data(2 * missing <= static_cast<int64_t>(written.size()),
             "{}: {} of its {} pieces are not in vocab.json; the files are of different models", file_name, missing,
             written.size());
  if (missing > 0) {
    notes.push_back(fmt::format("{}: {} of its {} pieces are not in vocab.json and are read as <unk>", file_name,
                                missing, written.size()));
  }
  std::string listed = data::with_piece_list(bare, vocabulary.pieces, file_name);
  data::Vocabulary::from_bytes(listed, file_name);  // as `translate` does
  return listed;
}

}  // namespace dragoman::interop
