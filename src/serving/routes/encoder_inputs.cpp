#include "serving/routes/encoder_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "data/text/labelled_text.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using data::EncoderInput;

[[noreturn]] void refuse_length(int64_t tokens, int64_t most, const char* advice) {
  throw OpenAiError(status::kBadRequest,
                    fmt::format("input: the text has {} tokens, the model takes {}; {}", tokens, most, advice), "input",
                    "context_length_exceeded");
}

int64_t tokens_of(const data::Vocabulary& vocabulary, const data::TextOrPair& text) {
  size_t pieces = vocabulary.encode(text.first).size();
  if (text.second) {
    pieces += vocabulary.encode(*text.second).size();
  }
  return static_cast<int64_t>(pieces) + data::frame_size(vocabulary.frame(), text.second.has_value());
}

// Ids are read as they are: with those around a text, if the model is to see them.
EncoderInput input_of_ids(const SentText& text, const ServedEncoder& model) {
  check_ids(text, "input", model.config().vocab_size);
  if (static_cast<int64_t>(text.ids.size()) > model.config().max_positions) {
    refuse_length(static_cast<int64_t>(text.ids.size()), model.config().max_positions, "give fewer token ids");
  }
  return {.ids = text.ids, .second_begin = 0, .word_rows = {}, .is_cut = false};
}

void check_length(const EncoderReading& reading, const data::TextOrPair& text, const EncoderInput& input) {
  if (input.is_cut && reading.asked.long_texts == LongTexts::kRefused) {
    refuse_length(tokens_of(reading.model->labeler->vocabulary(), text), reading.model->config().max_positions,
                  "give a shorter one, or \"truncate\": true to leave out its end");
  }
}

void add(EncoderReading& reading, EncoderInput input, size_t text) {
  if (input.ids.empty()) {
    refuse_field("input", fmt::format("input: text {} has no token for this model; leave it out", text + 1));
  }
  reading.inputs.push_back(std::move(input));
  reading.text_of.push_back(text);
}

}  // namespace

std::vector<std::vector<PlacedWord>> placed_words(std::string_view text) {
  std::vector<std::vector<PlacedWord>> lines;
  size_t bytes = 0, characters = 0;  // of the text that has been counted
  const auto place_of = [&](std::string_view::const_iterator at) {
    const auto until = static_cast<size_t>(at - text.begin());
    characters += base::count_characters(text.substr(bytes, until - bytes));
    bytes = until;
    return characters;
  };
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    std::vector<PlacedWord> words;
    for (const std::string_view word : data::words_within(line)) {
      const size_t first = place_of(word.begin());
      words.push_back({std::string(word), first, place_of(word.end())});
    }
    if (!words.empty()) {
      lines.push_back(std::move(words));
    }
    begin = end + 1;
  }
  return lines;
}

size_t EncoderReading::tokens() const {
  size_t sum = 0;
  for (const EncoderInput& input : inputs) {
    sum += input.ids.size();
  }
  return sum;
}

void read_whole_texts(EncoderReading& reading) {
  const ServedEncoder& model = *reading.model;
  for (size_t text = 0; text < reading.asked.texts.size(); ++text) {
    const SentText& sent = reading.asked.texts[text];
    if (sent.has_ids) {
      add(reading, input_of_ids(sent, model), text);
      continue;
    }
    data::TextOrPair whole{sent.text, std::nullopt};
    if (!reading.asked.seconds.empty()) {
      whole.second = reading.asked.seconds[text];
    }
    EncoderInput input = data::encoder_input(model.labeler->vocabulary(), whole, model.config().max_positions);
    check_length(reading, whole, input);
    add(reading, std::move(input), text);
  }
}

void read_words(EncoderReading& reading) {
  const ServedEncoder& model = *reading.model;
  for (size_t text = 0; text < reading.asked.texts.size(); ++text) {
    std::vector<PlacedWord>& words = reading.words.emplace_back();
    for (std::vector<PlacedWord>& line : placed_words(reading.asked.texts[text].text)) {
      std::vector<std::string> sentence;
      std::ranges::transform(line, std::back_inserter(sentence), &PlacedWord::word);
      for (EncoderInput& input :
           data::word_inputs(model.labeler->vocabulary(), sentence, model.config().max_positions)) {
        add(reading, std::move(input), text);
      }
      std::ranges::move(line, std::back_inserter(words));
    }
  }
}

void read_masked_texts(EncoderReading& reading) {
  const decoding::TextLabeler& labeler = *reading.model->labeler;
  const auto top = static_cast<size_t>(reading.asked.top.value_or(kUsualCandidates));
  size_t masks = 0;
  for (size_t text = 0; text < reading.asked.texts.size(); ++text) {
    const SentText& sent = reading.asked.texts[text];
    EncoderInput input =
        sent.has_ids ? labeler.with_masks(input_of_ids(sent, *reading.model)) : labeler.masked_input(sent.text);
    check_length(reading, {sent.text, std::nullopt}, input);
    const size_t count = input.word_rows.size();
    masks += count;
    if (count == 0 || count > kMostMasks) {
      refuse_field("input", count == 0 ? fmt::format("input: text {} {}", text + 1, labeler.lack_of_mask(input))
                                       : fmt::format("input: text {} has {} masks, at most {} are taken", text + 1,
                                                     count, kMostMasks));
    }
    add(reading, std::move(input), text);
  }
  if (masks * top > kMostCandidatesTold) {
    refuse_field("top", fmt::format("top is {} with {} masks, together at most {} candidates are told", top, masks,
                                    kMostCandidatesTold));
  }
}

}  // namespace dragoman::serving
