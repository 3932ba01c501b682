#include "data/vocabulary/tokenizer_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json_fields.h"
#include "data/vocabulary/sentencepiece_check.h"

namespace dragoman::data {
namespace {

using base::JsonFields;
using nlohmann::json;

constexpr size_t kMaxSteps = 64;

// A part of the file with its type and the place where it stands.
struct Component {
  std::string type;
  std::string place;
  JsonFields fields;
};

void collect(const json& value, const std::string& name, const std::string& place, const std::string& list_key,
             std::vector<Component>& found) {
  const JsonFields fields(value, name, base::ErrorKind::kBadData, place);
  const std::string& type = fields.text("type");
  if (type != "Sequence") {
    base::check_data(found.size() < kMaxSteps, "{}: {}: more than {} parts; is the file damaged?", name, place,
                     kMaxSteps);
    found.push_back({type, place, fields});
    return;
  }
  fields.check_known({"type", list_key});
  size_t index = 0;
  for (const json& part : fields.list(list_key)) {
    collect(part, name, fmt::format("{}.{}[{}]", place, list_key, index++), list_key, found);
  }
}

// The parts below `key` in order, sequences resolved.
std::vector<Component> components(const json& root, const std::string& name, const std::string& key,
                                  const std::string& list_key) {
  std::vector<Component> found;
  if (const JsonFields fields(root, name); fields.has(key)) {
    collect(fields.value(key), name, key, list_key, found);
  }
  return found;
}

[[noreturn]] void refuse(const Component& component, const std::string& name,
                         const std::vector<std::string_view>& known) {
  base::fail(base::ErrorKind::kBadData, "{}: {}.type is \"{}\"; known are {}", name, component.place, component.type,
             fmt::join(known, ", "));
}

const std::string& short_text(const JsonFields& fields, const std::string& key) {
  const std::string& text = fields.text(key);
  base::check_data(!text.empty() && text.size() <= kMaxPieceBytes, "{} has {} bytes, must have 1 to {}",
                   fields.name_of(key), text.size(), kMaxPieceBytes);
  return text;
}

// The string of {"String": "..."}.
std::string string_pattern(const Component& component) {
  const JsonFields pattern = component.fields.object("pattern");
  pattern.check_known({"String"});
  return short_text(pattern, "String");
}

// "prepend_scheme", or in older files "add_prefix_space".
SplitStep::Prefix prefix_of(const Component& component, const std::string& name) {
  using Prefix = SplitStep::Prefix;
  const JsonFields& fields = component.fields;
  const std::string scheme = fields.text("prepend_scheme", fields.flag("add_prefix_space", true) ? "always" : "never");
  base::check_data(scheme == "always" || scheme == "first" || scheme == "never",
                   "{}: {}.prepend_scheme is \"{}\", must be always, first or never", name, component.place, scheme);
  return scheme == "always" ? Prefix::kAlways : scheme == "first" ? Prefix::kFirst : Prefix::kNever;
}

void check_metaspace(const Component& component) {
  component.fields.check_known({"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
}

SplitStep split_step(const Component& component, const std::string& name) {
  const JsonFields& fields = component.fields;
  fields.check_known({"type", "pattern", "behavior", "invert"});
  const JsonFields pattern = fields.object("pattern");
  pattern.check_known({"Regex"});
  const std::optional<BpeSplit> split = split_of_pattern(pattern.text("Regex"));
  base::check_data(split.has_value(),
                   "{}: {}.pattern.Regex is \"{}\"; known are the expressions of GPT-2, Llama-3 and Qwen2", name,
                   component.place, pattern.text("Regex").substr(0, 200));
  base::check_data(fields.text("behavior") == "Isolated" && !fields.flag("invert", false),
                   "{}: {}: behavior must be Isolated and invert false", name, component.place);
  return {.kind = SplitStep::Kind::kPattern, .pattern = *split};
}

void append_byte_level(const Component& component, std::vector<SplitStep>& steps) {
  const JsonFields& fields = component.fields;
  fields.check_known({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (fields.flag("add_prefix_space", true)) {
    steps.push_back({.kind = SplitStep::Kind::kPrefixSpace});
  }
  if (fields.flag("use_regex", true)) {
    steps.push_back({.kind = SplitStep::Kind::kPattern, .pattern = BpeSplit::kGpt2});
  }
}

// The token of {"SpecialToken": {"id": "<s>", ...}} and its number.
int32_t template_token(const JsonFields& token, const JsonFields& tokens, const std::string& name) {
  const JsonFields known = tokens.object(token.text("id"));
  const json& ids = known.list("ids");
  base::check_data(ids.size() == 1 && ids[0].is_number_unsigned() && ids[0] < kMaxPieces, "{}: {} must be one id", name,
                   known.name_of("ids"));
  return ids[0].get<int32_t>();
}

constexpr int32_t kText = -1;

// The ids of a template, with kText for a text.
std::vector<int32_t> template_ids(const Component& component, const std::string& key, const std::string& name) {
  const JsonFields tokens = component.fields.object("special_tokens");
  std::vector<int32_t> ids;
  for (const json& part : component.fields.list(key)) {
    base::check_data(ids.size() < kMaxSteps, "{}: {}.{} has more than {} parts", name, component.place, key, kMaxSteps);
    const JsonFields fields(part, name, base::ErrorKind::kBadData, component.place + "." + key);
    fields.check_known({"SpecialToken", "Sequence"});
    ids.push_back(fields.has("Sequence") ? kText : template_token(fields.object("SpecialToken"), tokens, name));
  }
  return ids;
}

// What the ids of the template of one text say.
std::optional<TextFrame> frame_of(const std::vector<int32_t>& single) {
  const auto text = std::ranges::find(single, kText);
  const auto before = text - single.begin();
  const auto behind = single.end() - text - 1;
  if (text == single.end() || before > 1 || behind > 1) {
    return std::nullopt;
  }
  return TextFrame{.first = before == 1 ? single.front() : -1, .last = behind == 1 ? single.back() : -1};
}

// The ids of two texts in this frame.
std::vector<int32_t> pair_in(const TextFrame& frame) {
  std::vector<int32_t> ids;
  const auto append = [&](int32_t id, int32_t times) { ids.insert(ids.end(), id < 0 ? 0 : times, id); };
  append(frame.first, 1);
  ids.push_back(kText);
  append(frame.last, frame.separators);
  ids.push_back(kText);
  append(frame.last, 1);
  return ids;
}

// A template of a pair that no encoder has, for example with <s> before the second text, counts as one separator.
TextFrame template_frame(const Component& component, const std::string& name) {
  component.fields.check_known({"type", "single", "pair", "special_tokens"});
  std::optional<TextFrame> frame = frame_of(template_ids(component, "single", name));
  base::check_data(frame.has_value(), "{}: {}.single must be one text with at most one token before and one behind it",
                   name, component.place);
  TextFrame twice = *frame;
  twice.separators = 2;
  if (component.fields.has("pair") && template_ids(component, "pair", name) == pair_in(twice)) {
    return twice;
  }
  return *frame;
}

// The id of ["[SEP]", 102].
int32_t named_id(const JsonFields& fields, const std::string& key, const std::string& name) {
  const json& value = fields.list(key);
  base::check_data(value.size() == 2 && value[0].is_string() && value[1].is_number_unsigned() && value[1] < kMaxPieces,
                   "{}: {} must be a piece and its id", name, fields.name_of(key));
  return value[1].get<int32_t>();
}

TextFrame named_frame(const Component& component, const std::string& name, int32_t separators) {
  component.fields.check_known({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
  return {.first = named_id(component.fields, "cls", name),
          .last = named_id(component.fields, "sep", name),
          .separators = separators};
}

// "strip_accents" null means: as "lowercase".
NormalizerStep bert_step(const JsonFields& fields) {
  fields.check_known({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const bool lower_cases = fields.flag("lowercase", true);
  return {.kind = NormalizerStep::Kind::kBert,
          .bert = {.cleans = fields.flag("clean_text", true),
                   .spaces_chinese = fields.flag("handle_chinese_chars", true),
                   .strips_accents = fields.flag("strip_accents", lower_cases),
                   .lower_cases = lower_cases}};
}

}  // namespace

std::vector<NormalizerStep> read_normalizer(const json& root, const std::string& name) {
  using Kind = NormalizerStep::Kind;
  std::vector<NormalizerStep> steps;
  for (const Component& component : components(root, name, "normalizer", "normalizers")) {
    const std::string& type = component.type;
    if (type == "Prepend") {
      component.fields.check_known({"type", "prepend"});
      steps.push_back({.kind = Kind::kPrepend, .content = short_text(component.fields, "prepend")});
    } else if (type == "Replace") {
      component.fields.check_known({"type", "pattern", "content"});
      steps.push_back({Kind::kReplace, string_pattern(component), component.fields.text("content", "")});
    } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      component.fields.check_known({"type"});
      steps.push_back({type == "NFC"    ? Kind::kNfc
                       : type == "NFD"  ? Kind::kNfd
                       : type == "NFKC" ? Kind::kNfkc
                                        : Kind::kNfkd});
    } else if (type == "BertNormalizer") {
      steps.push_back(bert_step(component.fields));
    } else {
      refuse(component, name, {"BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Prepend", "Replace", "Sequence"});
    }
  }
  return steps;
}

std::vector<SplitStep> read_pre_tokenizer(const json& root, const std::string& name, bool& is_byte_level) {
  std::vector<SplitStep> steps;
  is_byte_level = false;
  for (const Component& component : components(root, name, "pre_tokenizer", "pretokenizers")) {
    base::check_data(!is_byte_level, "{}: {} stands behind ByteLevel, which must be the last", name, component.place);
    const JsonFields& fields = component.fields;
    if (component.type == "ByteLevel") {
      append_byte_level(component, steps);
      is_byte_level = true;
    } else if (component.type == "Split") {
      steps.push_back(split_step(component, name));
    } else if (component.type == "Digits") {
      fields.check_known({"type", "individual_digits"});
      steps.push_back({.kind = SplitStep::Kind::kDigits, .individual_digits = fields.flag("individual_digits", false)});
    } else if (component.type == "Metaspace") {
      check_metaspace(component);
      steps.push_back({.kind = SplitStep::Kind::kMetaspace,
                       .mark = short_text(fields, "replacement"),
                       .prefix = prefix_of(component, name),
                       .cuts_at_marks = fields.flag("split", true)});
    } else if (component.type == "BertPreTokenizer") {
      fields.check_known({"type"});
      steps.push_back({.kind = SplitStep::Kind::kBert});
    } else {
      refuse(component, name, {"BertPreTokenizer", "ByteLevel", "Digits", "Metaspace", "Sequence", "Split"});
    }
  }
  return steps;
}

PieceSpelling read_decoder(const json& root, const std::string& name) {
  PieceSpelling spelling;
  const std::vector<Component> found = components(root, name, "decoder", "decoders");
  base::check_data(!found.empty(),
                   "{}: decoder is missing, so pieces would be joined with spaces; known are "
                   "ByteLevel, ByteFallback, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece",
                   name);
  for (const Component& component : found) {
    const JsonFields& fields = component.fields;
    if (component.type == "ByteLevel") {
      spelling.byte_level = true;
    } else if (component.type == "ByteFallback") {
      spelling.byte_pieces = true;
    } else if (component.type == "Metaspace") {
      check_metaspace(component);
      spelling.mark = short_text(fields, "replacement");
      spelling.strips_first_space = prefix_of(component, name) != SplitStep::Prefix::kNever;
    } else if (component.type == "Replace") {
      spelling.mark = string_pattern(component);
      base::check_data(fields.text("content") == " ", "{}: {} must be a space", name, fields.name_of("content"));
    } else if (component.type == "Strip") {
      base::check_data(
          fields.text("content") == " " && fields.integer("start", 0, 1) == 1 && fields.integer("stop", 0, 0) == 0,
          "{}: {} must take one space before the text and none behind it", name, component.place);
      spelling.strips_first_space = true;
    } else if (component.type == "WordPiece") {
      fields.check_known({"type", "prefix", "cleanup"});
      spelling.continued = short_text(fields, "prefix");
      spelling.joins_marks = fields.flag("cleanup", true);
      spelling.strips_first_space = true;
    } else if (component.type != "Fuse") {
      refuse(component, name,
             {"ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace", "Sequence", "Strip", "WordPiece"});
    }
  }
  return spelling;
}

TextFrame read_post_processor(const json& root, const std::string& name) {
  TextFrame frame;
  for (const Component& component : components(root, name, "post_processor", "processors")) {
    if (component.type == "ByteLevel") {
      continue;
    }
    TextFrame found;
    if (component.type == "TemplateProcessing") {
      found = template_frame(component, name);
    } else if (component.type == "BertProcessing") {
      found = named_frame(component, name, 1);
    } else if (component.type == "RobertaProcessing") {
      found = named_frame(component, name, 2);
    } else {
      refuse(component, name, {"BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"});
    }
    base::check_data(frame == TextFrame{} || found == TextFrame{},
                     "{}: {} puts tokens around the text a second time; known is once", name, component.place);
    frame = found == TextFrame{} ? frame : found;
  }
  return frame;
}

}  // namespace dragoman::data
