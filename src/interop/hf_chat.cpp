#include "interop/hf_chat.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/utf8.h"
#include "data/chat/template_parser.h"
#include "interop/model_source.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTemplateName = "chat_template.jinja";
constexpr const char* kSpecialTokensName = "special_tokens_map.json";
constexpr const char* kTemplateKey = "chat_template";

// The fields of a JSON file; empty if the folder does not have it.
json tree_of(const fs::path& folder, const char* name) {
  return is_there(folder / name) ? base::parse_json(read_json(folder, name), (folder / name).string()) : json::object();
}

// The template of tokenizer_config.json, or an empty text.
std::string written_template(const json& config, const std::string& file) {
  const auto found = config.find(kTemplateKey);
  if (found == config.end() || found->is_null()) {
    return {};
  }
  if (found->is_string()) {
    return found->get<std::string>();
  }
  base::check_data(found->is_array(), "{}: {} must be a text or a list of named templates", file, kTemplateKey);
  for (size_t i = 0; i < found->size(); ++i) {
    const base::JsonFields fields((*found)[i], file, base::ErrorKind::kBadData, fmt::format("{}[{}]", kTemplateKey, i));
    if (fields.text("name") == "default") {
      return fields.text("template");
    }
  }
  base::fail(base::ErrorKind::kBadData, "{}: {} has no template with the name \"default\"", file, kTemplateKey);
}

// Takes the tokens of a file: "bos_token": "<s>", or {"content": "<s>", ...}.
void add_tokens(const json& tree, std::map<std::string, std::string>& tokens) {
  for (const char* name :
       {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"}) {
    const auto found = tree.find(name);
    if (found == tree.end()) {
      continue;
    }
    const json& value = found->is_object() && found->contains("content") ? (*found)["content"] : *found;
    if (value.is_string()) {
      tokens.emplace(name, value.get<std::string>());
    }
  }
}

}  // namespace

std::string import_hf_chat(const fs::path& folder, std::vector<std::string>& notes) {
  const std::string file = (folder / kHfTokenizerConfigName).string();
  const json config = tree_of(folder, kHfTokenizerConfigName);
  base::check_data(config.is_object(), "{}: must be a JSON object", file);
  const bool has_file = is_there(folder / kTemplateName);
  data::ChatFile chat{.source = has_file ? base::read_file(folder / kTemplateName, data::kMostTemplateBytes)
                                         : written_template(config, file),
                      .tokens = {}};
  if (chat.source.empty()) {
    return {};
  }
  const std::string name = has_file ? (folder / kTemplateName).string() : file + ": " + kTemplateKey;
  base::check_data(base::is_valid_utf8(chat.source), "{}: is not UTF-8", name);
  add_tokens(config, chat.tokens);
  add_tokens(tree_of(folder, kSpecialTokensName), chat.tokens);
  try {
    static_cast<void>(data::ChatTemplate(chat, name));
  } catch (const base::Error& error) {
    notes.push_back(fmt::format("the model has no chat here: {}", error.what()));
  }
  return data::chat_file_json(chat);
}

}  // namespace dragoman::interop
