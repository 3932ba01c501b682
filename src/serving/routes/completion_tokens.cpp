#include "serving/routes/completion_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "data/vocabulary/shown_pieces.h"

namespace dragoman::serving {
namespace {

using decoding::LikelyToken;
using nlohmann::json;

size_t characters_begun(std::string_view bytes) {
  return static_cast<size_t>(std::ranges::count_if(bytes, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

void CompletionTokens::add_token(int32_t id, std::optional<float> log_prob, std::vector<LikelyToken> likeliest) {
  waiting_.push_back({id, log_prob, std::move(likeliest), bytes_, characters_});
  const std::string bytes = vocabulary_.piece_bytes(id);
  bytes_ += bytes.size();
  characters_ += characters_begun(bytes);
}

void CompletionTokens::add_prompt(const std::vector<int32_t>& ids, const decoding::PromptScores& scores) {
  add_token(ids.front(), std::nullopt, {});
  add({ids.begin() + 1, ids.end()}, scores.token_scores, scores.likeliest);
}

void CompletionTokens::add(const std::vector<int32_t>& ids, const std::vector<float>& scores,
                           const std::vector<std::vector<LikelyToken>>& likeliest) {
  for (size_t i = 0; i < ids.size() && i < scores.size(); ++i) {
    add_token(ids[i], scores[i], i < likeliest.size() ? likeliest[i] : std::vector<LikelyToken>());
  }
}

// Two tokens may have one text; the likelier one is told. The token itself is told too, however unlikely.
json CompletionTokens::alternatives_of(const Token& token) const {
  if (!token.log_prob) {
    return nullptr;
  }
  json alternatives = json::object();
  for (const LikelyToken& one : token.likeliest) {
    alternatives.emplace(data::token_text(vocabulary_, one.id), base::decimal(one.log_prob));
  }
  alternatives.emplace(data::token_text(vocabulary_, token.id), base::decimal(*token.log_prob));
  return alternatives;
}

std::vector<CompletionTokens::Token> CompletionTokens::take_tokens(std::string_view text) {
  told_bytes_ += text.size();
  std::vector<Token> taken;
  for (; !waiting_.empty() && waiting_.front().begin < told_bytes_; waiting_.pop_front()) {
    taken.push_back(std::move(waiting_.front()));
  }
  return taken;
}

json CompletionTokens::take(std::string_view text) {
  json tokens = json::array(), scores = json::array(), offsets = json::array(), alternatives = json::array();
  for (const Token& token : take_tokens(text)) {
    tokens.push_back(data::token_text(vocabulary_, token.id));
    scores.push_back(token.log_prob ? json(base::decimal(*token.log_prob)) : json());
    offsets.push_back(token.character);
    alternatives.push_back(alternatives_of(token));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(scores)},
          {"top_logprobs", alternatives_ > 0 ? std::move(alternatives) : json()},
          {"text_offset", std::move(offsets)}};
}

// A part of a character has its bytes too, from which a client puts the character together.
json CompletionTokens::chat_token(int32_t id, float log_prob) const {
  json bytes = json::array();
  for (const char byte : vocabulary_.piece_bytes(id)) {
    bytes.push_back(static_cast<unsigned char>(byte));
  }
  return {
      {"token", data::token_text(vocabulary_, id)}, {"logprob", base::decimal(log_prob)}, {"bytes", std::move(bytes)}};
}

json CompletionTokens::take_for_chat(std::string_view text) {
  json content = json::array();
  for (const Token& token : take_tokens(text)) {
    json told = chat_token(token.id, token.log_prob.value_or(0.0F));
    told["top_logprobs"] = json::array();
    for (const LikelyToken& one : token.likeliest) {
      told["top_logprobs"].push_back(chat_token(one.id, one.log_prob));
    }
    content.push_back(std::move(told));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

}  // namespace dragoman::serving
