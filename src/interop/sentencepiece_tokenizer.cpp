#include "interop/sentencepiece_tokenizer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/protobuf.h"
#include "data/vocabulary/sentencepiece_check.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using base::FieldReader;
using base::ProtobufField;
using nlohmann::json;

constexpr size_t kLongestPiece = 256;  // bytes; each place of a piece may be that of its merge
constexpr const char* kMark = "\u2581";

// The kinds of pieces of sentencepiece_model.proto that matter here.
enum class PieceType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };

struct Piece {
  std::string_view text;
  float score = 0.0F;
  PieceType type = PieceType::kNormal;
};

// What a model says of itself, with the defaults of sentencepiece_model.proto.
struct Spec {
  std::vector<Piece> pieces;
  bool byte_fallback = false;
  bool adds_prefix = true;
  bool removes_spaces = true;
  bool escapes_spaces = true;
  bool has_map = false;
  bool suffix_marks = false;
};

Piece read_piece(std::string_view message, const std::string& name) {
  Piece piece;
  FieldReader reader(message, name);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == 1 && field.type == ProtobufField::kBytes) {
      piece.text = field.bytes;
    } else if (field.number == 2 && field.type == ProtobufField::kFixed32) {
      piece.score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
    } else if (field.number == 3 && field.type == ProtobufField::kVarint) {
      piece.type = static_cast<PieceType>(field.value);
    }
  }
  return piece;
}

// TrainerSpec: treat_whitespace_as_suffix = 24. NormalizerSpec: precompiled_charsmap = 2, add_dummy_prefix = 3,
// remove_extra_whitespaces = 4, escape_whitespaces = 5.
void read_spec(const ProtobufField& part, const std::string& name, Spec& spec) {
  FieldReader reader(part.bytes, name);
  for (ProtobufField field; reader.next(field);) {
    const bool is_set = field.value != 0;
    if (part.number == 2) {
      spec.suffix_marks = field.number == 24 ? is_set : spec.suffix_marks;
      continue;
    }
    switch (field.number) {
      case 2:
        spec.has_map = !field.bytes.empty();
        break;
      case 3:
        spec.adds_prefix = is_set;
        break;
      case 4:
        spec.removes_spaces = is_set;
        break;
      case 5:
        spec.escapes_spaces = is_set;
        break;
      default:
        break;
    }
  }
}

Spec read_model(std::string_view serialized, const std::string& name) {
  const data::SentencePieceSummary summary = data::check_sentencepiece_model(serialized, name);
  check_data(summary.is_bpe, "{}: is a unigram model; dragoman reads BPE models of Llama", name);
  Spec spec;
  spec.byte_fallback = summary.byte_fallback;
  FieldReader reader(serialized, name);
  for (ProtobufField field; reader.next(field);) {
    if (field.type != ProtobufField::kBytes) {
      continue;
    }
    if (field.number == 1) {
      spec.pieces.push_back(read_piece(field.bytes, name));
      check_data(spec.pieces.back().text.size() <= kLongestPiece, "{}: piece {} has {} bytes, at most {} are taken",
                 name, spec.pieces.size() - 1, spec.pieces.back().text.size(), kLongestPiece);
    } else if (field.number == 2 || field.number == 3) {
      read_spec(field, name, spec);
    }
  }
  check_data(!spec.has_map && !spec.removes_spaces && spec.escapes_spaces && !spec.suffix_marks,
             "{}: changes text before it is cut; dragoman reads models that leave it as it is, as those of Llama",
             name);
  return spec;
}

// The pairs of pieces that are pieces, in the order in which they are merged.
json merges_of(const Spec& spec) {
  std::unordered_map<std::string_view, int64_t> ids;
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    ids.emplace(spec.pieces[id].text, static_cast<int64_t>(id));
  }
  std::vector<std::tuple<float, int64_t, int64_t, int64_t>> found;  // minus the score, id, left, right
  for (const auto& [text, id] : ids) {
    const Piece& piece = spec.pieces[static_cast<size_t>(id)];
    if (piece.type != PieceType::kNormal) {
      continue;
    }
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = ids.find(text.substr(0, cut)), right = ids.find(text.substr(cut));
      if (left != ids.end() && right != ids.end()) {
        found.emplace_back(-piece.score, id, left->second, right->second);
      }
    }
  }
  std::ranges::sort(found);
  json merges = json::array();
  for (const auto& [score, id, left, right] : found) {
    merges.push_back({spec.pieces[static_cast<size_t>(left)].text, spec.pieces[static_cast<size_t>(right)].text});
  }
  return merges;
}

json model_of(const Spec& spec, const std::string& name) {
  json vocab = json::object(), unknown;
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    const std::string text(spec.pieces[id].text);
    check_data(vocab.emplace(text, id).second, "{}: piece {} stands twice", name, base::dump_json(json(text)));
    unknown = spec.pieces[id].type == PieceType::kUnknown ? json(text) : unknown;
  }
  return {{"type", "BPE"},          {"dropout", nullptr},
          {"unk_token", unknown},   {"continuing_subword_prefix", nullptr},
          {"fuse_unk", true},       {"end_of_word_suffix", nullptr},
          {"ignore_merges", false}, {"byte_fallback", spec.byte_fallback},
          {"vocab", vocab},         {"merges", merges_of(spec)}};
}

json added_tokens_of(const Spec& spec) {
  json tokens = json::array();
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    const Piece& piece = spec.pieces[id];
    if (piece.type == PieceType::kUnknown || piece.type == PieceType::kControl ||
        piece.type == PieceType::kUserDefined) {
      tokens.push_back({{"id", id},
                        {"content", piece.text},
                        {"single_word", false},
                        {"lstrip", false},
                        {"rstrip", false},
                        {"normalized", false},
                        {"special", piece.type != PieceType::kUserDefined}});
    }
  }
  return tokens;
}

// bos before each text. Llama's bos is the piece <s>.
json post_processor_of(const Spec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.pieces, std::string_view("<s>"), &Piece::text);
  check_data(found != spec.pieces.end(), "{}: has no piece <s>, which stands before each text of a Llama", name);
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json bos = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  return {{"type", "TemplateProcessing"},
          {"single", json::array({bos, text})},
          {"pair", json::array({bos, text, bos, text})},
          {"special_tokens",
           {{"<s>",
             {{"id", "<s>"}, {"ids", json::array({found - spec.pieces.begin()})}, {"tokens", json::array({"<s>"})}}}}}};
}

// Spaces become marks, and a mark stands before each text.
json normalizer_of(bool adds_prefix) {
  json steps = json::array();
  if (adds_prefix) {
    steps.push_back({{"type", "Prepend"}, {"prepend", kMark}});
  }
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMark}});
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

json decoder_of(bool adds_prefix) {
  json decoders = json::array({{{"type", "Replace"}, {"pattern", {{"String", kMark}}}, {"content", " "}},
                               {{"type", "ByteFallback"}},
                               {{"type", "Fuse"}}});
  if (adds_prefix) {
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", decoders}};
}

}  // namespace

std::string tokenizer_json_of_sentencepiece(std::string_view serialized, const std::string& name, bool adds_bos) {
  const Spec spec = read_model(serialized, name);
  const json tree = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added_tokens_of(spec)},
                     {"normalizer", normalizer_of(spec.adds_prefix)},
                     {"pre_tokenizer", nullptr},
                     {"post_processor", adds_bos ? post_processor_of(spec, name) : json()},
                     {"decoder", decoder_of(spec.adds_prefix)},
                     {"model", model_of(spec, name)}};
  return base::dump_json(tree);
}

}  // namespace dragoman::interop
