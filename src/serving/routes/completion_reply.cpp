#include "serving/routes/completion_reply.h"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "base/json.h"
#include "base/utf8.h"
#include "serving/http/router.h"

namespace dragoman::serving {
namespace {

using decoding::Continuation;
using decoding::GeneratedPart;
using nlohmann::json;

std::string random_id(bool is_chat) {
  std::random_device device;
  return fmt::format("{}-{:08x}{:08x}{:08x}", is_chat ? "chatcmpl" : "cmpl", device(), device(), device());
}

int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string data_event(const json& data) {
  return "data: " + base::dump_json(data) + "\n\n";
}

}  // namespace

std::string ReadCompletion::echo_of(size_t part) const {
  if (!asked.echo) {
    return {};
  }
  const SentText& prompt = asked.prompts[prompt_of(part)];
  return prompt.has_ids ? base::repair_utf8(model->generator->vocabulary().decode_bytes(prompt.ids)) : prompt.text;
}

CompletionAnswer::CompletionAnswer(std::shared_ptr<const ReadCompletion> read)
    : read_(std::move(read)), id_(random_id(read_->asked.is_chat)), created_(seconds_now()) {
  growing_.resize(read_->parts(), {false, no_tokens()});
}

CompletionTokens CompletionAnswer::no_tokens() const {
  return {read_->model->generator->vocabulary(), read_->asked.logprobs.value_or(0)};
}

json CompletionAnswer::head(bool is_stream) const {
  constexpr size_t kDigits = 10;
  return {{"id", id_},
          {"object", !read_->asked.is_chat ? "text_completion"
                     : is_stream           ? "chat.completion.chunk"
                                           : "chat.completion"},
          {"created", created_},
          {"model", read_->model->id},
          {"system_fingerprint", "fp_" + read_->model->sha256.substr(0, kDigits)}};
}

json CompletionAnswer::choice(size_t part, Part kind, std::string text, json logprobs, json reason) const {
  json choice = {{"index", part}, {"logprobs", std::move(logprobs)}, {"finish_reason", std::move(reason)}};
  if (!read_->asked.is_chat) {
    choice["text"] = std::move(text);
    return choice;
  }
  json& message = choice[kind == Part::kWhole ? "message" : "delta"] = json::object();
  if (kind == Part::kWhole || kind == Part::kBegin) {
    message["role"] = "assistant";
    message["refusal"] = nullptr;
  }
  if (kind != Part::kEnd) {
    message["content"] = std::move(text);
  }
  return choice;
}

json CompletionAnswer::take_logprobs(CompletionTokens& tokens, std::string_view text) const {
  return !read_->asked.logprobs ? json() : read_->asked.is_chat ? tokens.take_for_chat(text) : tokens.take(text);
}

json CompletionAnswer::usage(const std::vector<Continuation>& texts) const {
  size_t read = 0, written = 0;
  for (const std::vector<int32_t>& prompt : read_->prompts) {
    read += prompt.size();
  }
  for (const Continuation& text : texts) {
    written += read_->asked.max_tokens == 0 ? 0 : text.ids.size();
  }
  return {{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
}

json CompletionAnswer::whole_choice(size_t part, const Continuation& text) const {
  const bool is_echo_alone = read_->asked.max_tokens == 0;
  const std::string echo = read_->echo_of(part);
  CompletionTokens tokens = no_tokens();
  if (read_->asked.echo) {
    tokens.add_prompt(text.prompt_ids, text.prompt_scores);
  }
  if (!is_echo_alone) {
    tokens.add(text.ids, text.token_scores, text.likeliest);
  }
  const std::string all = is_echo_alone ? echo : echo + text.text;
  return choice(part, Part::kWhole, all, take_logprobs(tokens, all),
                text.finish_reason == decoding::FinishReason::kLengthLimit || is_echo_alone ? "length" : "stop");
}

Reply CompletionAnswer::whole(const std::vector<Continuation>& texts) const {
  json answer = head(false);
  answer["choices"] = json::array();
  for (size_t part = 0; part < texts.size(); ++part) {
    answer["choices"].push_back(whole_choice(part, texts[part]));
  }
  answer["usage"] = usage(texts);
  return json_reply(answer);
}

std::string CompletionAnswer::event(json choices, json usage) const {
  json data = head(true);
  data["choices"] = std::move(choices);
  if (read_->asked.include_usage) {
    data["usage"] = std::move(usage);
  }
  return data_event(data);
}

// The echo of the prompt, or the role of a chat, before the first piece.
std::string CompletionAnswer::begin_of(size_t part, const GeneratedPart& piece) {
  Growing& growing = growing_[part];
  growing.is_begun = true;
  if (read_->asked.is_chat) {
    return event({choice(part, Part::kBegin, "", nullptr, nullptr)}, nullptr);
  }
  if (!read_->asked.echo) {
    return {};
  }
  const std::string echo = read_->echo_of(part);
  growing.tokens.add_prompt(read_->prompts[read_->prompt_of(part)], piece.prompt_scores);
  json logprobs = take_logprobs(growing.tokens, echo);
  return event({choice(part, Part::kBegin, echo, std::move(logprobs), nullptr)}, nullptr);
}

std::string CompletionAnswer::piece(size_t part, const GeneratedPart& piece) {
  Growing& growing = growing_[part];
  const std::string begin = growing.is_begun ? std::string() : begin_of(part, piece);
  if (read_->asked.max_tokens == 0) {
    return begin;
  }
  if (read_->asked.logprobs) {
    growing.tokens.add(piece.ids, piece.token_scores, piece.likeliest);
  }
  if (piece.text.empty()) {
    return begin;
  }
  json logprobs = take_logprobs(growing.tokens, piece.text);
  return begin + event({choice(part, Part::kPiece, piece.text, std::move(logprobs), nullptr)}, nullptr);
}

std::string CompletionAnswer::end_of(size_t part, const Continuation& text) const {
  const bool is_cut = text.finish_reason == decoding::FinishReason::kLengthLimit || read_->asked.max_tokens == 0;
  return event({choice(part, Part::kEnd, "", nullptr, is_cut ? "length" : "stop")}, nullptr);
}

std::string CompletionAnswer::end(const std::vector<Continuation>& texts) const {
  return (read_->asked.include_usage ? event(json::array(), usage(texts)) : std::string()) + "data: [DONE]\n\n";
}

std::string CompletionAnswer::error(const std::exception_ptr& error) {
  return "data: " + error_reply(ErrorShape::kOpenAi, error).body + "\n";
}

}  // namespace dragoman::serving
