#include "interop/marian_export_vocabulary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::interop {
namespace {

constexpr const char* kUnusedPiece = "<unused>";

void append(ExportedVocabulary& vocabulary, const std::string& piece, int64_t ours) {
  vocabulary.pieces.push_back(piece);
  vocabulary.ours.push_back(ours);
}

void append_pad(ExportedVocabulary& vocabulary) {
  append(vocabulary, "<pad>", data::kBosId);
}

}  // namespace

ExportedVocabulary export_vocabulary(std::string_view spm, const std::string& file_name, PadPlace pad, bool merge_pad) {
  const data::Vocabulary ours = data::Vocabulary::from_bytes(spm, file_name);
  ExportedVocabulary vocabulary;
  vocabulary.spm = data::without_piece_list(spm, file_name);
  append(vocabulary, "</s>", data::kEosId);
  append(vocabulary, "<unk>", data::kUnkId);
  if (pad == PadPlace::kThird) {
    append_pad(vocabulary);
  }
  for (int32_t id = data::kEosId + 1; id < ours.size(); ++id) {
    const std::string& piece = ours.piece(id);
    base::check_data(piece != "</s>" && piece != "<unk>" && piece != "<pad>" && piece != kUnusedPiece,
                     "{}: piece {} is '{}', a name that MarianMT needs for itself; the model cannot be exported",
                     file_name, id, piece);
    append(vocabulary, piece, id);
  }
  if (!merge_pad) {
    append(vocabulary, kUnusedPiece, data::kPadId);
  }
  if (pad == PadPlace::kLast) {
    append_pad(vocabulary);
  }
  for (const int64_t never : {int64_t{data::kUnkId}, int64_t{data::kPadId}, int64_t{data::kBosId}}) {
    const auto found = std::ranges::find(vocabulary.ours, never);
    if (found != vocabulary.ours.end()) {
      vocabulary.never_written.push_back(found - vocabulary.ours.begin());
    }
  }
  return vocabulary;
}

std::string vocabulary_json(const ExportedVocabulary& vocabulary) {
  nlohmann::json tree = nlohmann::json::object();
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    tree[vocabulary.pieces[id]] = id;
  }
  return base::dump_json(tree, 0) + "\n";
}

}  // namespace dragoman::interop
