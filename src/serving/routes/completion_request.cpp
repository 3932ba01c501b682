#include "serving/routes/completion_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "serving/routes/openai_access.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

const std::vector<std::string> kKnown = {
    "model", "prompt", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repetition_penalty", "n", "best_of",
    "stop", "echo", "seed", "logprobs", "stream", "stream_options", "suffix", "presence_penalty", "frequency_penalty",
    "logit_bias", "context_shift", "context_keep",
    // without effect on the answer
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"};

const SentTextNames kPrompt = {"prompt", "prompts"};

std::vector<std::string> stops_of(const CompletionFields& fields) {
  std::vector<std::string> stops = fields.texts("stop");
  if (stops.size() > kMostStops) {
    refuse_field("stop", fmt::format("stop has {} texts, at most {} are taken", stops.size(), kMostStops));
  }
  for (const std::string& stop : stops) {
    if (stop.empty() || stop.size() > kLongestStop) {
      refuse_field("stop", fmt::format("stop has a text of {} bytes, must be 1 to {}", stop.size(), kLongestStop));
    }
  }
  return stops;
}

decoding::SamplingOptions sampling_of(const CompletionFields& fields) {
  constexpr double kHottest = 100.0;
  constexpr int64_t kMostCandidates = 1'000'000;
  decoding::SamplingOptions sampling;
  sampling.temperature = fields.number("temperature", 1.0, 0.0, kHottest);
  sampling.top_p = fields.number("top_p", 1.0, 0.0, 1.0);
  sampling.top_k = static_cast<int>(std::max<int64_t>(0, fields.whole("top_k", 0, -1, kMostCandidates)));
  sampling.min_p = fields.number("min_p", 0.0, 0.0, 1.0);
  // The likeliest token alone reaches a share of 0; without a temperature nothing is drawn.
  if (sampling.temperature == 0.0 || sampling.top_p == 0.0) {
    return {};
  }
  return sampling;
}

std::optional<uint64_t> seed_of(const CompletionFields& fields) {
  const json& seed = fields["seed"];
  if (seed.is_null()) {
    return std::nullopt;
  }
  if (seed.is_number_unsigned()) {
    return seed.get<uint64_t>();
  }
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  return static_cast<uint64_t>(fields.whole("seed", 0, kLeast, std::numeric_limits<int64_t>::max()));
}

bool usage_included(const CompletionFields& fields, bool is_stream) {
  const json& options = fields["stream_options"];
  if (options.is_null()) {
    return false;
  }
  if (!options.is_object() || !is_stream) {
    refuse_field("stream_options", is_stream
                                       ? fmt::format("stream_options is {}, must be an object", shown(options))
                                       : "stream_options: is for streams; give \"stream\": true, or leave it out");
  }
  const CompletionFields inner(options, "stream_options.");
  inner.check_known({"include_usage", "include_obfuscation"});
  return inner.truth("include_usage", false);
}

// What the fields say together.
void check_together(const CompletionFields& fields, const CompletionRequest& asked, const TextLimits& limits) {
  if (fields.whole("best_of", asked.n, 1, kMostNewTokens) != asked.n) {
    refuse_field("best_of", "best_of is not supported; leave it out, and use n");
  }
  if (asked.prompts.size() * static_cast<size_t>(asked.n) > limits.texts) {
    refuse_field("n", fmt::format("n is {} with {} prompts, together at most {} texts are taken", asked.n,
                                  asked.prompts.size(), limits.texts));
  }
  if (asked.options.context_keep > 0 && !asked.options.context_shift) {
    refuse_field("context_keep",
                 "context_keep is for a context that slides; give \"context_shift\": true, or leave it out");
  }
  if (asked.max_tokens == 0 && !asked.echo) {
    refuse_field("max_tokens", "max_tokens is 0, must be 1 or more without \"echo\": true");
  }
}

}  // namespace

int64_t CompletionRequest::characters() const {
  size_t sum = 0;
  for (const SentText& prompt : prompts) {
    sum += prompt.characters();
  }
  for (const data::ChatMessage& message : messages) {
    sum += base::count_characters(message.content) + base::count_characters(message.name);
  }
  return static_cast<int64_t>(sum);
}

void read_common_fields(const CompletionFields& fields, const TextLimits& limits, CompletionRequest& asked) {
  for (const auto& [name, neutral] : {std::pair("presence_penalty", json(0)), std::pair("frequency_penalty", json(0)),
                                      std::pair("logit_bias", json::object())}) {
    fields.check_neutral(name, neutral);
  }
  asked.model = fields.text("model");
  asked.n = static_cast<int>(fields.whole("n", 1, 1, static_cast<int64_t>(limits.texts)));
  asked.stream = fields.truth("stream", false);
  asked.include_usage = usage_included(fields, asked.stream);
  asked.seed = seed_of(fields);
  asked.options.stop = stops_of(fields);
  asked.options.search.sampling = sampling_of(fields);
  asked.options.search.rules.repetition_penalty = fields.number("repetition_penalty", 1.0, 1.0, 10.0);
}

CompletionRequest completion_request(const Request& request, const TextLimits& limits) {
  const CompletionFields fields(request);
  fields.check_known(kKnown);
  fields.check_neutral("suffix", json(""));
  CompletionRequest asked;
  read_common_fields(fields, limits, asked);
  const json& prompt = fields["prompt"];
  asked.prompts = sent_texts(prompt.is_null() ? json("") : prompt, kPrompt, limits);
  asked.max_tokens = fields.whole("max_tokens", asked.max_tokens, 0, kMostNewTokens);
  asked.echo = fields.truth("echo", false);
  if (fields.has("logprobs")) {
    asked.logprobs = static_cast<int>(fields.whole("logprobs", 0, 0, kMostLogprobs));
  }
  asked.options.max_tokens = std::max<int64_t>(1, asked.max_tokens);
  asked.options.context_shift = fields.truth("context_shift", false);
  asked.options.context_keep = fields.whole("context_keep", 0, 0, kMostNewTokens);
  asked.options.search.output.scores = asked.logprobs.has_value();
  check_together(fields, asked, limits);
  return asked;
}

}  // namespace dragoman::serving
