#include "data/vocabulary/tokenizer_steps.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
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

int32_t template_first(const Component& component, const std::string& name) {
  component.fields.check_known({"type", "single", "pair", "special_tokens"});
  const JsonFields tokens = component.fields.object("special_tokens");
  int32_t first = -1;
  bool text_seen = false;
  for (const json& part : component.fields.list("single")) {
    const JsonFields fields(part, name, base::ErrorKind::kBadData, component.place + ".single");
    fields.check_known({"SpecialToken", "Sequence"});
    if (fields.has("Sequence")) {
      text_seen = true;
      continue;
    }
    const JsonFields token = fields.object("SpecialToken");
    base::check_data(!text_seen && first < 0,
                     "{}: {}.single puts \"{}\" behind the text or behind another token; known is one token before it",
                     name, component.place, token.text("id"));
    first = template_token(token, tokens, name);
  }
  return first;
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
    } else {
      refuse(component, name, {"NFC", "NFD", "NFKC", "NFKD", "Prepend", "Replace", "Sequence"});
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
    } else {
      refuse(component, name, {"ByteLevel", "Digits", "Metaspace", "Sequence", "Split"});
    }
  }
  return steps;
}

PieceSpelling read_decoder(const json& root, const std::string& name) {
  PieceSpelling spelling;
  const std::vector<Component> found = components(root, name, "decoder", "decoders");
  base::check_data(!found.empty(),
                   "{}: decoder is missing, so pieces would be joined with spaces; known are "
                   "ByteLevel, ByteFallback, Fuse, Metaspace, Replace, Sequence, Strip",
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
    } else if (component.type != "Fuse") {
      refuse(component, name, {"ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace", "Sequence", "Strip"});
    }
  }
  return spelling;
}

int32_t read_post_processor(const json& root, const std::string& name) {
  int32_t first = -1;
  for (const Component& component : components(root, name, "post_processor", "processors")) {
    if (component.type == "TemplateProcessing") {
      const int32_t id = template_first(component, name);
      base::check_data(first < 0 || id < 0, "{}: {} puts a second token before the text; known is one", name,
                       component.place);
      first = id >= 0 ? id : first;
    } else if (component.type != "ByteLevel") {
      refuse(component, name, {"ByteLevel", "Sequence", "TemplateProcessing"});
    }
  }
  return first;
}

}  // namespace dragoman::data
