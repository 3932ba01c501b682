#include "serving/routes/sent_texts.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "serving/routes/completion_fields.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr const char* kKinds = "must be a text, a list of texts, a list of token ids, or a list of such lists";

int32_t id_of(const json& value, const char* field) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (!value.is_number_integer() || value < 0 || value > kMost) {
    refuse_field(field, fmt::format("{} has {}, {}", field, shown(value), kKinds));
  }
  return value.get<int32_t>();
}

SentText text_of_ids(const json& list, const char* field) {
  SentText text{.has_ids = true};
  for (const json& value : list) {
    text.ids.push_back(id_of(value, field));
  }
  if (text.ids.empty()) {
    refuse_field(field, fmt::format("{} has an empty list; give at least one token id", field));
  }
  return text;
}

std::vector<SentText> texts_of(const json& value, const SentTextNames& names, size_t most) {
  const char* const field = names.field;
  if (value.is_string()) {
    return {{.text = value.get<std::string>()}};
  }
  if (!value.is_array() || value.empty()) {
    refuse_field(field, fmt::format("{} is {}, {}", field, value.is_array() ? "an empty list" : shown(value), kKinds));
  }
  if (value.front().is_number()) {
    return {text_of_ids(value, field)};
  }
  if (value.size() > most) {
    refuse_field(field, fmt::format("{} has {} {}, at most {} are taken; send several requests", field, value.size(),
                                    names.plural, most));
  }
  std::vector<SentText> texts;
  for (const json& one : value) {
    if (!one.is_string() && !one.is_array()) {
      refuse_field(field, fmt::format("{} has {}, {}", field, shown(one), kKinds));
    }
    texts.push_back(one.is_string() ? SentText{.text = one.get<std::string>()} : text_of_ids(one, field));
  }
  return texts;
}

}  // namespace

size_t SentText::characters() const {
  return has_ids ? ids.size() : base::count_characters(text);
}

// Token ids are bounded by the context of the model.
std::vector<SentText> sent_texts(const json& value, const SentTextNames& names, const TextLimits& limits) {
  std::vector<SentText> texts = texts_of(value, names, limits.texts);
  for (const SentText& text : texts) {
    if (const size_t characters = text.characters(); !text.has_ids && characters > limits.characters) {
      refuse_field(names.field, fmt::format("{} has {} characters, at most {} are taken; give a shorter one, or start "
                                            "the server with a larger --max-characters",
                                            names.field, characters, limits.characters));
    }
  }
  return texts;
}

void check_ids(const SentText& text, const char* field, int64_t vocab_size) {
  for (const int32_t id : text.ids) {
    if (id >= vocab_size) {
      refuse_field(field,
                   fmt::format("{} has the token id {}, the largest of the model is {}", field, id, vocab_size - 1));
    }
  }
}

}  // namespace dragoman::serving
