#include "data/vocabulary/tokenizer_makers.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_json.h"

namespace dragoman::data {
namespace {

using nlohmann::json;

constexpr const char* kUnknown = "<unk>";
constexpr const char* kVocabJson = "vocab.json";
constexpr const char* kMergesTxt = "merges.txt";
constexpr const char* kVocabTxt = "vocab.txt";
constexpr const char* kCharacterVocabulary = "character vocabulary";

json merges_json(std::string_view merges_txt) {
  json merges = json::array();
  size_t number = 0;
  for (std::string& line : base::split_lines(merges_txt)) {
    ++number;
    if (number == 1 && line.starts_with("#version")) {
      continue;
    }
    const size_t space = line.find(' ');
    base::check_data(space != std::string::npos && space > 0 && space + 1 < line.size() &&
                         line.find(' ', space + 1) == std::string::npos && base::is_valid_utf8(line),
                     "{}: line {} is \"{}\", must be two pieces with a space between them", kMergesTxt, number,
                     base::repair_utf8(line.substr(0, 100)));
    merges.push_back(std::move(line));
  }
  return merges;
}

json special_token(const json& id, std::string_view content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

json pieces_by_line(std::string_view text, const char* name) {
  json pieces = json::object();
  size_t number = 0;
  for (const std::string& line : base::split_lines(text)) {
    ++number;
    base::check_data(!line.empty() && base::is_valid_utf8(line), "{}: line {} is {}; each line must be a piece", name,
                     number, line.empty() ? "empty" : "no valid UTF-8");
    base::check_data(pieces.emplace(line, number - 1).second, "{}: line {} repeats the piece \"{}\"", name, number,
                     line.substr(0, 100));
  }
  return pieces;
}

// [CLS] A [SEP], and [CLS] A [SEP] B [SEP].
json bert_frame(const json& pieces) {
  const auto token = [](const char* piece, int type) {
    return json{{"SpecialToken", {{"id", piece}, {"type_id", type}}}};
  };
  const auto text = [](const char* name, int type) { return json{{"Sequence", {{"id", name}, {"type_id", type}}}}; };
  json tokens = json::object();
  for (const char* piece : {"[CLS]", "[SEP]"}) {
    tokens[piece] = {{"id", piece}, {"ids", json::array({pieces.at(piece)})}, {"tokens", json::array({piece})}};
  }
  return {{"type", "TemplateProcessing"},
          {"single", {token("[CLS]", 0), text("A", 0), token("[SEP]", 0)}},
          {"pair", {token("[CLS]", 0), text("A", 0), token("[SEP]", 0), text("B", 1), token("[SEP]", 1)}},
          {"special_tokens", std::move(tokens)}};
}

json read_vocab_json(std::string_view text) {
  json vocab = base::parse_json(text, kVocabJson, {.max_bytes = kMaxModelBytes});
  base::check_data(vocab.is_object(), "{}: must be a JSON object of pieces and their ids", kVocabJson);
  return vocab;
}

// Byte-level BPE with the split of GPT-2. @param frame  the post-processor; may be null
Vocabulary byte_level_vocabulary(json vocab, std::string_view merges_txt, json added, const json& frame) {
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const json root = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", std::move(added)},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", byte_level},
                     {"post_processor", frame},
                     {"decoder", byte_level},
                     {"model",
                      {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", std::move(vocab)},
                       {"merges", merges_json(merges_txt)}}}};
  return Vocabulary::from_bytes(base::dump_json(root), "vocab.json and merges.txt");
}

}  // namespace

Vocabulary character_tokenizer(std::string_view text, const CharacterOptions& options) {
  base::check_data(!text.empty(), "vocabulary: the text is empty; give a text with at least one character");
  std::vector<bool> occurs(0x110000);
  for (size_t at = 0; at < text.size();) {
    const base::CodePoint c = base::code_point_at(text, at);
    occurs[c.is_valid ? c.value : 0xFFFD] = true;
    at += c.bytes;
  }
  TokenizerSpec spec;
  for (char32_t c = 0; c < occurs.size(); ++c) {
    if (occurs[c]) {
      spec.pieces.push_back(base::encode_utf8(std::u32string_view(&c, 1)));
    }
  }
  const auto add_special = [&](std::string_view piece) {
    spec.added.push_back(
        {.id = static_cast<int32_t>(spec.pieces.size()), .content = std::string(piece), .special = true});
    spec.pieces.emplace_back(piece);
  };
  if (options.with_unk || options.of_encoder) {
    spec.model.unk = static_cast<int32_t>(spec.pieces.size());
    spec.pieces.emplace_back(options.of_encoder ? "[UNK]" : kUnknown);
  }
  spec.model_pieces = spec.pieces.size();
  if (options.with_end_of_text) {
    add_special(kEndOfText);
  }
  if (!options.of_encoder) {
    return Vocabulary::from_bytes(write_tokenizer_json(spec), kCharacterVocabulary);
  }
  for (const char* piece : {"[PAD]", "[CLS]", "[SEP]", "[MASK]"}) {
    add_special(piece);
  }
  json ids = json::object();
  for (const AddedToken& token : spec.added) {
    ids[token.content] = token.id;
  }
  json file = base::parse_json(write_tokenizer_json(spec), kCharacterVocabulary, {.max_bytes = kMaxModelBytes});
  file["post_processor"] = bert_frame(ids);
  return Vocabulary::from_bytes(base::dump_json(file), kCharacterVocabulary);
}

Vocabulary from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt) {
  json vocab = read_vocab_json(vocab_json);
  json added = json::array();
  if (const auto end = vocab.find(kEndOfText); end != vocab.end()) {
    added.push_back(special_token(*end, kEndOfText));
  }
  return byte_level_vocabulary(std::move(vocab), merges_txt, std::move(added), nullptr);
}

Vocabulary from_roberta_files(std::string_view vocab_json, std::string_view merges_txt) {
  json vocab = read_vocab_json(vocab_json);
  json added = json::array();
  for (const char* piece : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    const auto found = vocab.find(piece);
    base::check_data(found != vocab.end(), "{}: no piece {}; is it a file of RoBERTa or BART?", kVocabJson, piece);
    added.push_back(special_token(*found, piece));
  }
  added.back()["lstrip"] = true;  // of <mask>
  const json frame = {{"type", "RobertaProcessing"},
                      {"sep", {"</s>", vocab["</s>"]}},
                      {"cls", {"<s>", vocab["<s>"]}},
                      {"trim_offsets", true},
                      {"add_prefix_space", false}};
  return byte_level_vocabulary(std::move(vocab), merges_txt, std::move(added), frame);
}

Vocabulary from_vocab_txt(std::string_view vocab_txt, const BertCleaning& cleaning) {
  json pieces = pieces_by_line(vocab_txt, kVocabTxt);
  json added = json::array();
  for (const char* piece : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    const auto found = pieces.find(piece);
    base::check_data(found != pieces.end(), "{}: no piece {}; is it a file of BERT?", kVocabTxt, piece);
    added.push_back(special_token(*found, piece));
  }
  const json root = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", std::move(added)},
                     {"normalizer",
                      {{"type", "BertNormalizer"},
                       {"clean_text", cleaning.cleans},
                       {"handle_chinese_chars", cleaning.spaces_chinese},
                       {"strip_accents", cleaning.strips_accents},
                       {"lowercase", cleaning.lower_cases}}},
                     {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                     {"post_processor", bert_frame(pieces)},
                     {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                     {"model",
                      {{"type", "WordPiece"},
                       {"unk_token", "[UNK]"},
                       {"continuing_subword_prefix", "##"},
                       {"max_input_chars_per_word", 100},
                       {"vocab", std::move(pieces)}}}};
  return Vocabulary::from_bytes(base::dump_json(root), kVocabTxt);
}

}  // namespace dragoman::data
