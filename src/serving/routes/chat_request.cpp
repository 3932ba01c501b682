#include "serving/routes/chat_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serving/routes/openai_access.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

const std::vector<std::string> kChatFields = {
    "model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p",
    "repetition_penalty", "n", "stop", "seed", "logprobs", "top_logprobs", "stream", "stream_options",
    "presence_penalty", "frequency_penalty", "logit_bias", "response_format", "modalities", "tools", "tool_choice",
    "functions", "function_call", "audio", "prediction", "web_search_options",
    // without effect on the answer
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "parallel_tool_calls"};

std::string role_of(const CompletionFields& fields, const std::string& place) {
  constexpr size_t kShown = 40;
  const std::string role = fields.text("role");
  if (role == "developer") {  // the newer name of the role
    return "system";
  }
  if (role != "system" && role != "user" && role != "assistant") {
    refuse_field("messages", fmt::format("{}role is \"{}\", must be system, developer, user or assistant", place,
                                         role.substr(0, kShown)));
  }
  return role;
}

// A text, or the texts of a list of parts.
std::string content_of(const json& content, const std::string& place) {
  if (content.is_string()) {
    return content.get<std::string>();
  }
  if (!content.is_array()) {
    refuse_field("messages", fmt::format("{}content is {}, must be a text or a list of texts", place, shown(content)));
  }
  std::string text;
  for (const json& part : content) {
    if (!part.is_object() || part.value("type", json()) != json("text") || !part.value("text", json()).is_string()) {
      refuse_field("messages", fmt::format("{}content has a part that is no text; the model reads text alone", place));
    }
    text += part["text"].get<std::string>();
  }
  return text;
}

data::ChatMessage message_of(const json& value, size_t number) {
  const std::string place = fmt::format("messages[{}].", number);
  if (!value.is_object()) {
    refuse_field("messages", fmt::format("messages[{}] is {}, must be an object", number, shown(value)));
  }
  const CompletionFields fields(value, place);
  fields.check_known({"role", "content", "name", "refusal", "annotations", "audio", "tool_calls", "function_call"});
  for (const char* name : {"refusal", "audio", "function_call"}) {
    fields.check_neutral(name, nullptr);
  }
  fields.check_neutral("tool_calls", json::array());
  return {role_of(fields, place), content_of(fields["content"], place), fields.text("name")};
}

void read_messages(const json& list, const TextLimits& limits, CompletionRequest& asked) {
  if (!list.is_array() || list.empty() || list.size() > kMostMessages) {
    refuse_field("messages",
                 fmt::format("messages is {}, must be a list of 1 to {} messages",
                             list.is_array() ? fmt::format("a list of {}", list.size()) : shown(list), kMostMessages));
  }
  for (const json& value : list) {
    asked.messages.push_back(message_of(value, asked.messages.size()));
  }
  if (const int64_t characters = asked.characters(); characters > static_cast<int64_t>(limits.characters)) {
    refuse_field("messages", fmt::format("messages have {} characters, at most {} are taken; leave out old ones, or "
                                         "start the server with a larger --max-characters",
                                         characters, limits.characters));
  }
}

void check_neutral_fields(const CompletionFields& fields) {
  for (const auto& [name, neutral] :
       {std::pair("tools", json::array()), std::pair("functions", json::array()), std::pair("audio", json()),
        std::pair("prediction", json()), std::pair("web_search_options", json()),
        std::pair("response_format", json{{"type", "text"}}), std::pair("modalities", json::array({"text"}))}) {
    fields.check_neutral(name, neutral);
  }
  for (const char* name : {"tool_choice", "function_call"}) {
    if (fields[name] != json("auto")) {
      fields.check_neutral(name, "none");
    }
  }
}

// The newer name counts. Without a number a text may fill the context of the model.
int64_t max_tokens_of(const CompletionFields& fields) {
  const int64_t older = fields.whole("max_tokens", kMostNewTokens, 1, kMostNewTokens);
  return fields.whole("max_completion_tokens", older, 1, kMostNewTokens);
}

}  // namespace

CompletionRequest chat_request(const Request& request, const TextLimits& limits) {
  const CompletionFields fields(request);
  fields.check_known(kChatFields);
  check_neutral_fields(fields);
  CompletionRequest asked;
  asked.is_chat = true;
  read_common_fields(fields, limits, asked);
  read_messages(fields["messages"], limits, asked);
  asked.max_tokens = asked.options.max_tokens = max_tokens_of(fields);
  const int alternatives = static_cast<int>(fields.whole("top_logprobs", 0, 0, kMostLogprobs));
  if (fields.truth("logprobs", false)) {
    asked.logprobs = alternatives;
  } else if (fields.has("top_logprobs")) {
    refuse_field("top_logprobs", "top_logprobs needs \"logprobs\": true");
  }
  asked.options.search.output.scores = asked.logprobs.has_value();
  return asked;
}

}  // namespace dragoman::serving
