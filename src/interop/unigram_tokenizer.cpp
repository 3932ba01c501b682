#include "interop/unigram_tokenizer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/protobuf.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_steps.h"

namespace dragoman::interop {
namespace {

using base::check_data;
using base::JsonFields;
using nlohmann::json;

constexpr std::string_view kWordMark = "\u2581";
constexpr const char* kHowToFix =
    "keep spiece.model beside it, which the tokenizer was made from, or save the tokenizer with T5Tokenizer of "
    "transformers";

// SentencePiece.Type of sentencepiece_model.proto.
enum class UnigramType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUnused = 5 };

struct UnigramPiece {
  std::string text;
  float score = 0.0F;
  UnigramType type = UnigramType::kNormal;
};

// How text is changed and cut before the model sees it.
struct UnigramText {
  std::string character_map;  // of the Precompiled normalizer
  bool cuts_at_marks = true;  // no piece goes on behind a space
  bool joins_spaces = false;  // the normalizer makes one of several, and none at the ends
  bool cuts_at_white = false;
};

// One part of the file: its place and its fields.
struct UnigramPart {
  std::string place;
  JsonFields fields;
};

// The parts below `key`, which is one part, a Sequence of parts, or nothing.
std::vector<UnigramPart> parts_of(const json& root, const std::string& name, const std::string& key,
                                  const std::string& list) {
  const JsonFields file(root, name);
  if (!file.has(key)) {
    return {};
  }
  const JsonFields whole = file.object(key);
  if (whole.text("type") != "Sequence") {
    return {{key, whole}};
  }
  whole.check_known({"type", list});
  std::vector<UnigramPart> parts;
  for (const json& part : whole.list(list)) {
    const std::string place = fmt::format("{}.{}[{}]", key, list, parts.size());
    parts.push_back({place, JsonFields(part, name, base::ErrorKind::kBadData, place)});
  }
  return parts;
}

[[noreturn]] void refuse_part(const UnigramPart& part, const std::string& name, const char* known) {
  base::fail(base::ErrorKind::kBadData, "{}: {} is {}; known is {}. Try: {}", name, part.place,
             base::dump_json(json(part.fields.text("type"))), known, kHowToFix);
}

// Replace of two spaces or more by one, spelled either way.
bool joins_spaces(const UnigramPart& part) {
  part.fields.check_known({"type", "pattern", "content"});
  const JsonFields pattern = part.fields.object("pattern");
  const std::string content = part.fields.text("content", "");
  return pattern.text("Regex", "") == " {2,}" && (content == " " || content == kWordMark);
}

bool strips_end(const UnigramPart& part) {
  part.fields.check_known({"type", "strip_left", "strip_right"});
  return part.fields.flag("strip_right", false);
}

void read_unigram_normalizer(const json& root, const std::string& name, UnigramText& text) {
  constexpr const char* kKnown =
      "Precompiled first, and behind it Strip of the end and Replace of \" {2,}\" by one space, both or neither";
  bool strips = false, joins = false;
  for (const UnigramPart& part : parts_of(root, name, "normalizer", "normalizers")) {
    const std::string& type = part.fields.text("type");
    if (type == "Precompiled" && text.character_map.empty() && !strips && !joins) {
      part.fields.check_known({"type", "precompiled_charsmap"});
      const std::string& map = part.fields.text("precompiled_charsmap");
      text.character_map = base::from_base64(map, fmt::format("{}: {}.precompiled_charsmap", name, part.place));
    } else if (type == "Strip" && !strips && strips_end(part)) {
      strips = true;
    } else if (type == "Replace" && !joins && joins_spaces(part)) {
      joins = true;
    } else {
      refuse_part(part, name, kKnown);
    }
  }
  check_data(strips == joins, "{}: normalizer has {} alone; known are both Strip and Replace, or neither. Try: {}",
             name, strips ? "Strip" : "Replace", kHowToFix);
  text.joins_spaces = joins;
}

bool is_metaspace(const JsonFields& fields, const std::string& name) {
  if (fields.text("type") != "Metaspace") {
    return false;
  }
  fields.check_known({"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
  const std::string scheme = fields.text("prepend_scheme", fields.flag("add_prefix_space", true) ? "always" : "never");
  check_data(fields.text("replacement") == kWordMark && scheme == "always",
             "{}: {} is {}, must put U+2581 before each part and in place of spaces (prepend_scheme always). Try: {}",
             name, fields.name_of("prepend_scheme"), base::dump_json(json(scheme)), kHowToFix);
  return true;
}

void read_unigram_splits(const json& root, const std::string& name, UnigramText& text) {
  constexpr const char* kKnown = "Metaspace, with WhitespaceSplit before it or without";
  bool has_mark = false;
  for (const UnigramPart& part : parts_of(root, name, "pre_tokenizer", "pretokenizers")) {
    if (!has_mark && is_metaspace(part.fields, name)) {
      has_mark = true;
      text.cuts_at_marks = text.cuts_at_white || part.fields.flag("split", true);
    } else if (!has_mark && !text.cuts_at_white && part.fields.text("type") == "WhitespaceSplit") {
      part.fields.check_known({"type"});
      text.cuts_at_white = true;
    } else {
      refuse_part(part, name, kKnown);
    }
  }
  check_data(has_mark, "{}: pre_tokenizer has no Metaspace; known is {}. Try: {}", name, kKnown, kHowToFix);
  check_data(text.cuts_at_white || text.joins_spaces,
             "{}: keeps several spaces in a row, and spaces at the ends of a text, which no T5 does; known is "
             "WhitespaceSplit in pre_tokenizer, or Strip and Replace in normalizer. Try: {}",
             name, kHowToFix);
}

UnigramPiece read_unigram_piece(const json& entry, size_t id, const std::string& name) {
  check_data(entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number(),
             "{}: model.vocab[{}] is {}, must be a piece and its score", name, id,
             base::dump_json(entry).substr(0, 100));
  const auto score = static_cast<float>(entry[1].get<double>());
  check_data(std::isfinite(score), "{}: the score of model.vocab[{}] is {}, must be a number of float32", name, id,
             entry[1].get<double>());
  return {entry[0].get<std::string>(), score};
}

// All pieces of the model by id.
std::vector<UnigramPiece> read_unigram_pieces(const JsonFields& model, const std::string& name) {
  model.check_known({"type", "unk_id", "vocab", "byte_fallback"});
  check_data(model.text("type") == "Unigram", "{}: model.type is {}, must be Unigram for a T5", name,
             base::dump_json(json(model.text("type"))));
  check_data(!model.flag("byte_fallback", false), "{}: model.byte_fallback is true; a T5 has no pieces for bytes",
             name);
  const json& vocab = model.list("vocab");
  check_data(!vocab.empty() && vocab.size() <= static_cast<size_t>(data::kMaxPieces),
             "{}: model.vocab has {} pieces, 1 to {} are allowed", name, vocab.size(), data::kMaxPieces);
  std::vector<UnigramPiece> pieces;
  std::unordered_map<std::string, size_t> ids;
  for (const json& entry : vocab) {
    const size_t id = pieces.size();
    pieces.push_back(read_unigram_piece(entry, id, name));
    const auto [place, is_new] = ids.emplace(pieces.back().text, id);
    check_data(is_new, "{}: model.vocab[{}] is {}, as is model.vocab[{}]", name, id,
               base::dump_json(entry[0]).substr(0, 100), place->second);
  }
  check_data(ids.contains(std::string(kWordMark)), "{}: model.vocab has no piece \"{}\", which a T5 has. Try: {}", name,
             kWordMark, kHowToFix);
  const int64_t unknown = model.integer("unk_id", 0, static_cast<int64_t>(pieces.size()) - 1);
  pieces[static_cast<size_t>(unknown)].type = UnigramType::kUnknown;
  return pieces;
}

bool is_sentinel(const std::string& text) {
  return text.starts_with(data::kSentinelBegin) && text.ends_with(">");
}

// Marks the added tokens that are pieces, and appends those that are none. Each must be a piece of a T5 or a sentinel.
void read_unigram_added(const JsonFields& file, const std::string& name, std::vector<UnigramPiece>& pieces) {
  if (!file.has("added_tokens")) {
    return;
  }
  size_t index = 0;
  for (const json& value : file.list("added_tokens")) {
    const std::string place = fmt::format("added_tokens[{}]", index++);
    const JsonFields token(value, name, base::ErrorKind::kBadData, place);
    const std::string& text = token.text("content");
    const bool is_special = text == "<pad>" || text == "</s>" || text == "<unk>";
    check_data(is_special || is_sentinel(text),
               "{}: {} is {}; known are <pad>, </s>, <unk> and sentinels <extra_id_N>. Try: {}", name, place,
               base::dump_json(json(text)).substr(0, 100), kHowToFix);
    const auto id = static_cast<size_t>(token.integer("id", 0, static_cast<int64_t>(pieces.size())));
    if (id == pieces.size()) {
      pieces.push_back({text, 0.0F});
    }
    check_data(pieces[id].text == text, "{}: {} is {} with id {}, in model.vocab it is {}", name, place, text, id,
               base::dump_json(json(pieces[id].text)).substr(0, 100));
    if (is_special && pieces[id].type == UnigramType::kNormal) {
      pieces[id].type = UnigramType::kControl;
    }
  }
}

// Takes the sentinels from the end, and returns how many these were.
int64_t take_sentinels(std::vector<UnigramPiece>& pieces, const std::string& name) {
  int64_t count = 0;
  while (!pieces.empty() && pieces.back().text == data::sentinel_piece(count)) {
    pieces.pop_back();
    ++count;
  }
  for (size_t id = 0; id < pieces.size(); ++id) {
    check_data(!is_sentinel(pieces[id].text),
               "{}: piece {} is {}; sentinels must be the last pieces, <extra_id_0> the very last", name, id,
               pieces[id].text);
  }
  return count;
}

// Whether the piece goes on behind a space: no such piece is found where text is cut at spaces.
bool spans_words(const UnigramPiece& piece) {
  return piece.type == UnigramType::kNormal && piece.text.find(kWordMark, 1) != std::string::npos;
}

// ModelProto: pieces = 1, trainer_spec = 2, normalizer_spec = 3.
std::string spm_of(const std::vector<UnigramPiece>& pieces, const UnigramText& text) {
  base::ProtobufMessage model;
  for (const UnigramPiece& piece : pieces) {
    const bool is_unused = text.cuts_at_marks && spans_words(piece);
    const UnigramType type = is_unused ? UnigramType::kUnused : piece.type;
    base::ProtobufMessage entry;
    entry.add_bytes(1, piece.text).add_float(2, piece.score);
    if (type != UnigramType::kNormal) {
      entry.add_varint(3, static_cast<uint64_t>(type));
    }
    model.add_message(1, entry);
  }
  constexpr uint64_t kUnigram = 1;
  model.add_message(2, base::ProtobufMessage().add_varint(3, kUnigram).add_varint(4, pieces.size()));
  base::ProtobufMessage normalizer;
  normalizer.add_bytes(1, text.character_map.empty() ? "identity" : "user_defined");
  if (!text.character_map.empty()) {
    normalizer.add_bytes(2, text.character_map);
  }
  normalizer.add_varint(3, 1).add_varint(4, 1).add_varint(5, 1);  // a space first, no two beside each other, as U+2581
  return model.add_message(3, normalizer).bytes();
}

// What stands around a text, and how pieces are joined.
void check_unigram_ends(const json& root, const std::string& name, const std::vector<UnigramPiece>& pieces) {
  const data::TextFrame frame = data::read_post_processor(root, name);
  const bool ends = frame.first < 0 && frame.last >= 0 && static_cast<size_t>(frame.last) < pieces.size() &&
                    pieces[static_cast<size_t>(frame.last)].text == "</s>";
  check_data(ends, "{}: post_processor does not put </s> behind a text and nothing before it, as a T5 does", name);
  const data::PieceSpelling spelling = data::read_decoder(root, name);
  check_data(spelling.mark == kWordMark && spelling.strips_first_space && !spelling.byte_level,
             "{}: decoder must be a Metaspace that reads U+2581 as a space. Try: {}", name, kHowToFix);
}

}  // namespace

UnigramModel unigram_of_tokenizer_json(std::string_view text, const std::string& name) {
  const json root = base::parse_json(text, name, {.max_bytes = data::kMaxModelBytes});
  const JsonFields file(root, name);
  file.check_known({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                    "decoder", "model"});
  std::vector<UnigramPiece> pieces = read_unigram_pieces(file.object("model"), name);
  read_unigram_added(file, name, pieces);
  UnigramText steps;
  read_unigram_normalizer(root, name, steps);
  read_unigram_splits(root, name, steps);
  check_unigram_ends(root, name, pieces);
  UnigramModel model;
  model.sentinels = take_sentinels(pieces, name);
  model.spm = spm_of(pieces, steps);
  data::check_sentencepiece_model(model.spm, name);
  if (steps.character_map.empty()) {
    model.notes.push_back(
        fmt::format("{}: normalizer changes no characters; white space other than spaces cuts no words here, in "
                    "tokenizers it does",
                    name));
  }
  return model;
}

}  // namespace dragoman::interop
