#include "data/vocabulary/tokenizer_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_steps.h"

namespace dragoman::data {
namespace {

using base::JsonFields;
using nlohmann::json;

constexpr const char* kSpecialKey = "dragoman";
constexpr base::JsonLimits kLimits = {.max_bytes = kMaxModelBytes};
constexpr size_t kShown = 100;  // bytes of a piece in an error

std::string shown(std::string_view piece) {
  return base::dump_json(json(piece.substr(0, kShown)));
}

// The pieces of a file and their ids.
class PieceTable {
 public:
  PieceTable(TokenizerSpec& spec, std::string name) : spec_(spec), name_(std::move(name)) {}

  void read_model_pieces(const JsonFields& model) {
    const json& vocab = model.value("vocab");
    base::check_data(vocab.is_object() && !vocab.empty(), "{}: model.vocab must be an object with at least one piece",
                     name_);
    spec_.model_pieces = vocab.size();
    base::check_data(vocab.size() <= kMaxPieces, "{}: model.vocab has {} pieces, at most {} are allowed", name_,
                     vocab.size(), kMaxPieces);
    spec_.pieces.resize(vocab.size());
    std::vector<bool> seen(vocab.size());
    for (const auto& [piece, value] : vocab.items()) {
      check_length(piece);
      const size_t id = read_id(value, piece, vocab.size());
      base::check_data(!seen[id], "{}: id {} belongs to the pieces {} and {}", name_, id, shown(spec_.pieces[id]),
                       shown(piece));
      seen[id] = true;
      spec_.pieces[id] = piece;
    }
    for (size_t id = 0; id < spec_.pieces.size(); ++id) {
      ids_.emplace(spec_.pieces[id], static_cast<int32_t>(id));
    }
  }

  // The piece of an added token, which is new or one of the model's.
  void add(const std::string& content, int64_t id) {
    check_length(content);
    base::check_data(!content.empty(), "{}: added token {} is empty", name_, id);
    base::check_data(contents_.insert(content).second, "{}: added token {} stands twice", name_, shown(content));
    const auto found = ids_.find(content);
    base::check_data(found == ids_.end() || found->second == id,
                     "{}: added token {} has id {}, in model.vocab it has {}", name_, shown(content), id,
                     found == ids_.end() ? 0 : found->second);
    if (found == ids_.end()) {
      base::check_data(id == static_cast<int64_t>(spec_.pieces.size()),
                       "{}: added token {} has id {}, the next free id is {}", name_, shown(content), id,
                       spec_.pieces.size());
      base::check_data(spec_.pieces.size() < kMaxPieces, "{}: more than {} pieces", name_, kMaxPieces);
      spec_.pieces.push_back(content);
    }
  }

  std::optional<int32_t> find(std::string_view piece) const {
    const auto found = ids_.find(std::string(piece));
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void check_length(const std::string& piece) const {
    base::check_data(piece.size() <= kMaxPieceBytes, "{}: piece {}... has {} bytes, at most {} are allowed", name_,
                     shown(piece), piece.size(), kMaxPieceBytes);
  }

  size_t read_id(const json& value, const std::string& piece, size_t pieces) const {
    base::check_data(value.is_number_unsigned() && value.get<uint64_t>() < pieces,
                     "{}: piece {} of model.vocab has id {}, ids must be the integers 0 to {}", name_, shown(piece),
                     base::dump_json(value).substr(0, kShown), pieces - 1);
    return value.get<size_t>();
  }

  TokenizerSpec& spec_;
  std::string name_;
  std::unordered_map<std::string, int32_t> ids_;  // of the model's pieces
  std::unordered_set<std::string> contents_;      // of the added tokens
};

// "a b", or in newer files ["a", "b"].
std::pair<std::string, std::string> read_pair(const json& value, const std::string& name, size_t number) {
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    return {value[0].get<std::string>(), value[1].get<std::string>()};
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const size_t space = text.find(' ');
  base::check_data(space != std::string::npos && text.find(' ', space + 1) == std::string::npos,
                   "{}: merge {} is {}, must be \"LEFT RIGHT\" or [\"LEFT\", \"RIGHT\"]", name, number,
                   base::dump_json(value).substr(0, kShown));
  return {text.substr(0, space), text.substr(space + 1)};
}

std::vector<BpeMerge> read_merges(const JsonFields& model, const PieceTable& table, const std::string& name) {
  std::vector<BpeMerge> merges;
  for (const json& value : model.list("merges")) {
    const size_t number = merges.size() + 1;
    const std::pair<std::string, std::string> pair = read_pair(value, name, number);
    const std::string &left = pair.first, &right = pair.second;
    const auto id_of = [&](const std::string& piece) {
      const std::optional<int32_t> id = table.find(piece);
      base::check_data(id.has_value(), "{}: merge {} is {}, and {} is no piece of model.vocab", name, number,
                       shown(left + " " + right), shown(piece));
      return *id;
    };
    merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
  return merges;
}

bool is_word_piece(const JsonFields& model, const std::string& name) {
  const std::string type = model.text("type", model.has("merges") ? "BPE" : "");
  base::check_data(type == "BPE" || type == "WordPiece", "{}: model.type is \"{}\"; known are BPE and WordPiece", name,
                   type);
  return type == "WordPiece";
}

void check_merges_model(const JsonFields& model, const std::string& name) {
  model.check_known({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                     "byte_fallback", "ignore_merges", "vocab", "merges", kSpecialKey});
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    base::check_data(model.text(key, "").empty(), "{}: model.{} is \"{}\"; known is none", name, key,
                     model.text(key, ""));
  }
  base::check_data(model.number("dropout", 0.0) == 0.0, "{}: model.dropout is {}; known is none", name,
                   model.number("dropout", 0.0));
}

SpecialIds read_special(const JsonFields& fields, int64_t size) {
  fields.check_known({"pad", "unk", "bos", "eos"});
  const auto id = [&](const char* key) { return static_cast<int32_t>(fields.integer(key, -1, size - 1)); };
  SpecialIds special{.pad = id("pad"), .unk = id("unk"), .bos = id("bos")};
  for (const json& value : fields.list("eos")) {
    base::check_data(value.is_number_unsigned() && value.get<uint64_t>() < static_cast<uint64_t>(size),
                     "{} holds {}, ids are 0 to {}", fields.name_of("eos"), base::dump_json(value).substr(0, kShown),
                     size - 1);
    special.eos.push_back(value.get<int32_t>());
  }
  return special;
}

void read_added(const json& root, const std::string& name, PieceTable& table, TokenizerSpec& spec) {
  const JsonFields file(root, name);
  if (!file.has("added_tokens")) {
    return;
  }
  size_t index = 0;
  for (const json& value : file.list("added_tokens")) {
    const JsonFields fields(value, name, base::ErrorKind::kBadData, fmt::format("added_tokens[{}]", index++));
    fields.check_known({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    const bool special = fields.flag("special", false);
    const int64_t id = fields.integer("id", 0, kMaxPieces - 1);
    table.add(fields.text("content"), id);
    spec.added.push_back({.id = static_cast<int32_t>(id),
                          .content = fields.text("content"),
                          .single_word = fields.flag("single_word", false),
                          .lstrip = fields.flag("lstrip", false),
                          .rstrip = fields.flag("rstrip", false),
                          .normalized = fields.flag("normalized", !special),
                          .special = special});
  }
}

void read_steps(const json& root, const std::string& name, TokenizerSpec& spec) {
  bool is_byte_level = false;
  spec.normalizer = read_normalizer(root, name);
  spec.splits = read_pre_tokenizer(root, name, is_byte_level);
  spec.spelling = read_decoder(root, name);
  base::check_data(spec.spelling.byte_level == is_byte_level,
                   "{}: decoder and pre_tokenizer must both be ByteLevel, or neither", name);
  base::check_data(!is_byte_level || !spec.model.byte_fallback,
                   "{}: model.byte_fallback is true beside ByteLevel, which leaves no character unknown", name);
  spec.model.symbols = is_byte_level ? BpeSymbols::kBytes : BpeSymbols::kCharacters;
  spec.frame = read_post_processor(root, name);
  for (const int32_t id : {spec.frame.first, spec.frame.last}) {
    base::check_data(id < static_cast<int64_t>(spec.pieces.size()),
                     "{}: post_processor puts id {} beside the text, ids are 0 to {}", name, id,
                     spec.pieces.size() - 1);
  }
  base::check_data(!spec.word_piece || (spec.spelling.continued == spec.word_piece->prefix),
                   "{}: decoder.prefix is \"{}\" and model.continuing_subword_prefix \"{}\"; they must be equal", name,
                   spec.spelling.continued, spec.word_piece ? spec.word_piece->prefix : "");
  base::check_data(spec.word_piece || spec.spelling.continued.empty(), "{}: decoder is WordPiece, but model is not",
                   name);
}

int32_t unk_of(const JsonFields& model, const PieceTable& table, const std::string& name) {
  if (!model.has("unk_token")) {
    return -1;
  }
  const std::string unk = model.text("unk_token");
  const std::optional<int32_t> id = table.find(unk);
  base::check_data(id.has_value(), "{}: model.unk_token is {}, which is no piece of model.vocab", name, shown(unk));
  return *id;
}

void read_word_piece(const JsonFields& model, const PieceTable& table, const std::string& name, TokenizerSpec& spec) {
  model.check_known(
      {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab", kSpecialKey});
  spec.model.unk = unk_of(model, table, name);
  base::check_data(spec.model.unk >= 0, "{}: model.unk_token is missing; WordPiece needs one", name);
  spec.word_piece = {.unk = spec.model.unk,
                     .prefix = model.text("continuing_subword_prefix", "##"),
                     .max_characters = static_cast<size_t>(model.has("max_input_chars_per_word")
                                                               ? model.integer("max_input_chars_per_word", 1, 1'000'000)
                                                               : 100)};
  base::check_data(!spec.word_piece->prefix.empty(), "{}: model.continuing_subword_prefix is empty", name);
}

void read_merges_model(const JsonFields& model, const PieceTable& table, const std::string& name, TokenizerSpec& spec) {
  check_merges_model(model, name);
  spec.merges = read_merges(model, table, name);
  spec.model = {.unk = unk_of(model, table, name),
                .fuse_unk = model.flag("fuse_unk", false),
                .byte_fallback = model.flag("byte_fallback", false),
                .ignore_merges = model.flag("ignore_merges", false)};
}

}  // namespace

TokenizerSpec read_tokenizer_json(std::string_view text, std::string_view file_name) {
  const std::string name(file_name);
  const json root = base::parse_json(text, name, kLimits);
  const JsonFields file(root, name);
  file.check_known({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                    "decoder", "model"});
  base::check_data(file.text("version", "1.0") == "1.0", "{}: version is \"{}\"; known is 1.0", name,
                   file.text("version", "1.0"));
  const JsonFields model = file.object("model");
  const bool reads_word_piece = is_word_piece(model, name);
  TokenizerSpec spec;
  PieceTable table(spec, name);
  table.read_model_pieces(model);
  reads_word_piece ? read_word_piece(model, table, name, spec) : read_merges_model(model, table, name, spec);
  read_added(root, name, table, spec);
  read_steps(root, name, spec);
  if (model.has(kSpecialKey)) {
    spec.special = read_special(model.object(kSpecialKey), static_cast<int64_t>(spec.pieces.size()));
  }
  return spec;
}

namespace {

json pre_tokenizer_json(const TokenizerSpec& spec) {
  const bool is_gpt2 = !spec.splits.empty() && spec.splits[0].pattern == BpeSplit::kGpt2;
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", is_gpt2}};
  if (!spec.spelling.byte_level) {
    return nullptr;
  }
  if (spec.splits.empty() || is_gpt2) {
    return byte_level;
  }
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", pattern_of(spec.splits[0].pattern)}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}};
}

json decoder_json(const TokenizerSpec& spec) {
  return spec.spelling.byte_level
             ? json{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}
             : json{{"type", "Fuse"}};
}

json added_json(const TokenizerSpec& spec) {
  json tokens = json::array();
  for (const AddedToken& token : spec.added) {
    tokens.push_back({{"id", token.id},
                      {"content", token.content},
                      {"single_word", token.single_word},
                      {"lstrip", token.lstrip},
                      {"rstrip", token.rstrip},
                      {"normalized", token.normalized},
                      {"special", token.special}});
  }
  return tokens;
}

// Pieces stand in the order of their ids, and one a line, which no JSON object of the library keeps.
std::string model_text(const TokenizerSpec& spec) {
  const std::string unk =
      spec.model.unk < 0 ? "null" : base::dump_json(json(spec.pieces[static_cast<size_t>(spec.model.unk)]));
  std::string text = fmt::format(
      "{{\n\"type\": \"BPE\", \"dropout\": null, \"unk_token\": {}, \"continuing_subword_prefix\": null, "
      "\"end_of_word_suffix\": null, \"fuse_unk\": {}, \"byte_fallback\": {}, \"ignore_merges\": {},\n\"vocab\": {{",
      unk, spec.model.fuse_unk, spec.model.byte_fallback, spec.model.ignore_merges);
  for (size_t id = 0; id < spec.model_pieces; ++id) {
    text += fmt::format("{}\n{}: {}", id == 0 ? "" : ",", base::dump_json(json(spec.pieces[id])), id);
  }
  text += "\n},\n\"merges\": [";
  for (size_t i = 0; i < spec.merges.size(); ++i) {
    const auto& [left, right, result] = spec.merges[i];
    text += fmt::format(
        "{}\n{}", i == 0 ? "" : ",",
        base::dump_json(json(spec.pieces[static_cast<size_t>(left)] + " " + spec.pieces[static_cast<size_t>(right)])));
  }
  return text + "\n]\n}";
}

}  // namespace

std::string write_tokenizer_json(const TokenizerSpec& spec) {
  return fmt::format(
      "{{\n\"version\": \"1.0\",\n\"truncation\": null,\n\"padding\": null,\n\"added_tokens\": {},\n"
      "\"normalizer\": null,\n\"pre_tokenizer\": {},\n\"post_processor\": null,\n\"decoder\": {},\n\"model\": {}\n}}\n",
      base::dump_json(added_json(spec)), base::dump_json(pre_tokenizer_json(spec)), base::dump_json(decoder_json(spec)),
      model_text(spec));
}

std::string with_special_ids(std::string_view text, const SpecialIds& special) {
  json root = base::parse_json(text, "tokenizer.json", kLimits);
  root["model"][kSpecialKey] = {{"pad", special.pad}, {"unk", special.unk}, {"bos", special.bos}, {"eos", special.eos}};
  return base::dump_json(root);
}

}  // namespace dragoman::data
