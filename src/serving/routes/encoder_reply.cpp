#include "serving/routes/encoder_reply.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/base64.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

// The labels, the likeliest first; of equal ones in their order.
std::vector<int32_t> by_probability(std::span<const float> probabilities) {
  std::vector<int32_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](int32_t label) { return probabilities[static_cast<size_t>(label)]; });
  return order;
}

// Puts the tags of the inputs of one text beside its words.
json words_json(const std::vector<PlacedWord>& words, const json& tags) {
  json told = json::array();
  for (size_t i = 0; i < words.size(); ++i) {
    told.push_back({{"word", words[i].word},
                    {"tag", tags[i]["tag"]},
                    {"probability", tags[i]["probability"]},
                    {"start", words[i].begin},
                    {"end", words[i].end}});
  }
  return told;
}

}  // namespace

json told_vector(const EncoderReading& reading, size_t /*input*/, std::span<const float> vector) {
  static_assert(std::endian::native == std::endian::little, "clients read little-endian floats");
  return {{"embedding", reading.asked.in_base64 ? json(base::base64(std::as_bytes(vector))) : json(vector)}};
}

json told_classes(const EncoderReading& reading, size_t /*input*/, std::span<const float> logits) {
  const data::Labels& labels = reading.model->labeler->labels();
  const std::vector<float> probabilities = decoding::probabilities_of(logits);
  std::vector<int32_t> order = by_probability(probabilities);
  const auto most = static_cast<size_t>(reading.asked.top.value_or(labels.size()));
  order.resize(std::min(order.size(), most));
  json told = json::array();
  for (const int32_t label : order) {
    told.push_back({{"label", labels.name(label)}, {"probability", probabilities[static_cast<size_t>(label)]}});
  }
  return {{"label", told[0]["label"]}, {"probability", told[0]["probability"]}, {"labels", std::move(told)}};
}

json told_tags(const EncoderReading& reading, size_t /*input*/, std::span<const float> logits) {
  const decoding::TextLabeler& labeler = *reading.model->labeler;
  const decoding::WordTags tags = labeler.tags_of(logits);
  json told = json::array();
  for (size_t i = 0; i < tags.tags.size(); ++i) {
    told.push_back({{"tag", labeler.labels().name(tags.tags[i])}, {"probability", tags.probabilities[i]}});
  }
  return {{"words", std::move(told)}};
}

json told_masks(const EncoderReading& reading, size_t input, std::span<const float> logits) {
  const size_t masks = reading.inputs[input].word_rows.size();
  const auto top = static_cast<int>(reading.asked.top.value_or(kUsualCandidates));
  json told = json::array();
  for (const auto& candidates : reading.model->labeler->candidates_of(logits, masks, top)) {
    json of_mask = json::array();
    for (const decoding::MaskCandidate& candidate : candidates) {
      of_mask.push_back({{"piece", candidate.piece}, {"id", candidate.id}, {"probability", candidate.probability}});
    }
    told.push_back(std::move(of_mask));
  }
  return {{"masks", std::move(told)}};
}

Reply encoder_reply(const EncoderReading& reading, const char* object, std::vector<json> told) {
  std::vector<json> items(reading.asked.texts.size());
  for (size_t input = 0; input < told.size(); ++input) {
    json& item = items[reading.text_of[input]];
    if (item.is_null()) {
      item = std::move(told[input]);
    } else {  // a further part of a text in words
      json& words = item["words"];
      words.insert(words.end(), told[input]["words"].begin(), told[input]["words"].end());
    }
  }
  json data = json::array();
  for (size_t text = 0; text < items.size(); ++text) {
    json& item = items[text];
    if (!reading.words.empty()) {
      item["words"] = words_json(reading.words[text], item["words"]);
    }
    item["object"] = object;
    item["index"] = text;
    data.push_back(std::move(item));
  }
  const size_t tokens = reading.tokens();
  return json_reply({{"object", "list"},
                     {"model", reading.model->id},
                     {"data", std::move(data)},
                     {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

}  // namespace dragoman::serving
