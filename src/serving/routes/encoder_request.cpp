#include "serving/routes/encoder_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "serving/routes/completion_fields.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr SentTextNames kInput = {"input", "texts"};
constexpr SentTextNames kSecond = {"second", "texts"};
constexpr int64_t kMostNumber = 1'000'000;

// Reads the fields that all routes have.
EncoderRequest read_common(const CompletionFields& fields, const TextLimits& limits, std::vector<std::string> known) {
  for (const char* name : {"model", "input", "user"}) {
    known.emplace_back(name);
  }
  fields.check_known(known);
  if (!fields.has("input")) {
    refuse_field("input", "input is missing; give a text or a list of texts");
  }
  EncoderRequest asked;
  asked.model = fields.text("model");
  asked.texts = sent_texts(fields["input"], kInput, limits);
  return asked;
}

LongTexts long_texts_of(const CompletionFields& fields) {
  return fields.truth("truncate", false) ? LongTexts::kCut : LongTexts::kRefused;
}

void refuse_empty_texts(const std::vector<SentText>& texts, const char* field) {
  const bool has_empty =
      std::ranges::any_of(texts, [](const SentText& text) { return !text.has_ids && text.text.empty(); });
  if (has_empty) {
    refuse_field(field, fmt::format("{} has an empty text; leave it out", field));
  }
}

std::vector<std::string> seconds_of(const CompletionFields& fields, const EncoderRequest& asked,
                                    const TextLimits& limits) {
  std::vector<std::string> seconds;
  if (!fields.has("second")) {
    return seconds;
  }
  const std::vector<SentText> sent = sent_texts(fields["second"], kSecond, limits);
  refuse_empty_texts(sent, "second");
  const auto has_ids = [](const SentText& text) { return text.has_ids; };
  if (std::ranges::any_of(sent, has_ids) || std::ranges::any_of(asked.texts, has_ids)) {
    refuse_field("second", "second is for texts, and token ids are given; join the ids of each pair in input");
  }
  if (sent.size() != asked.texts.size()) {
    refuse_field("second", fmt::format("second has {} texts, input has {}; give a second text for each", sent.size(),
                                       asked.texts.size()));
  }
  for (const SentText& text : sent) {
    seconds.push_back(text.text);
  }
  return seconds;
}

std::optional<int64_t> whole_or_none(const CompletionFields& fields, const char* name, int64_t most) {
  return fields.has(name) ? std::optional(fields.whole(name, 1, 1, most)) : std::nullopt;
}

}  // namespace

int64_t EncoderRequest::characters() const {
  size_t sum = 0;
  for (const SentText& text : texts) {
    sum += text.characters();
  }
  for (const std::string& text : seconds) {
    sum += base::count_characters(text);
  }
  return static_cast<int64_t>(sum);
}

EncoderRequest embeddings_request(const Request& request, const TextLimits& limits) {
  const CompletionFields fields(request);
  EncoderRequest asked = read_common(fields, limits, {"encoding_format", "dimensions", "truncate"});
  refuse_empty_texts(asked.texts, "input");
  const std::string format = fields.text("encoding_format");
  if (!format.empty() && format != "float" && format != "base64") {
    refuse_field("encoding_format", "encoding_format is unknown, must be float or base64");
  }
  asked.in_base64 = format == "base64";
  asked.dimensions = whole_or_none(fields, "dimensions", kMostNumber);
  asked.long_texts = long_texts_of(fields);
  return asked;
}

EncoderRequest classify_request(const Request& request, const TextLimits& limits) {
  const CompletionFields fields(request);
  EncoderRequest asked = read_common(fields, limits, {"second", "top", "truncate"});
  refuse_empty_texts(asked.texts, "input");
  asked.seconds = seconds_of(fields, asked, limits);
  asked.top = whole_or_none(fields, "top", kMostNumber);
  asked.long_texts = long_texts_of(fields);
  return asked;
}

EncoderRequest tag_request(const Request& request, const TextLimits& limits) {
  EncoderRequest asked = read_common(CompletionFields(request), limits, {});
  if (std::ranges::any_of(asked.texts, [](const SentText& text) { return text.has_ids; })) {
    refuse_field("input", "input has token ids, must be a text or a list of texts: words are tagged");
  }
  return asked;
}

EncoderRequest fill_mask_request(const Request& request, const TextLimits& limits) {
  const CompletionFields fields(request);
  EncoderRequest asked = read_common(fields, limits, {"top", "truncate"});
  asked.top = fields.whole("top", kUsualCandidates, 1, kMostCandidates);
  asked.long_texts = long_texts_of(fields);
  return asked;
}

}  // namespace dragoman::serving
