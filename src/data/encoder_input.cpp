#include "data/encoder_input.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::data {
namespace {

// Takes pieces from the end of the longer text until both fit.
bool cut_pair(std::vector<int32_t>& first, std::vector<int32_t>& second, size_t room) {
  const size_t before = first.size() + second.size();
  if (before <= room) {
    return false;
  }
  const size_t half = room / 2;
  const size_t kept_second = first.size() <= half ? room - first.size() : std::min(second.size(), room - half);
  const size_t kept_first = room - kept_second;
  first.resize(std::min(first.size(), kept_first));
  second.resize(kept_second);
  return true;
}

}  // namespace

int64_t frame_size(const TextFrame& frame, bool is_pair) {
  const int64_t first = frame.first >= 0 ? 1 : 0, last = frame.last >= 0 ? 1 : 0;
  return first + last + (is_pair ? last * frame.separators : 0);
}

std::vector<int32_t> framed(const TextFrame& frame, std::vector<int32_t> ids) {
  if (frame.first >= 0) {
    ids.insert(ids.begin(), frame.first);
  }
  if (frame.last >= 0) {
    ids.push_back(frame.last);
  }
  return ids;
}

EncoderInput encoder_input(const Vocabulary& vocabulary, const TextOrPair& text, int64_t max_length) {
  const TextFrame& frame = vocabulary.frame();
  const bool is_pair = text.second.has_value();
  const int64_t room = max_length - frame_size(frame, is_pair);
  base::check_argument(room >= (is_pair ? 2 : 1),
                       "encoder: the longest text is {} tokens, which leaves no room for one", max_length);
  EncoderInput input;
  std::vector<int32_t> first = vocabulary.encode(text.first);
  if (!is_pair) {
    input.is_cut = first.size() > static_cast<size_t>(room);
    first.resize(std::min(first.size(), static_cast<size_t>(room)));
    input.ids = framed(frame, std::move(first));
    return input;
  }
  std::vector<int32_t> second = vocabulary.encode(*text.second);
  input.is_cut = cut_pair(first, second, static_cast<size_t>(room));
  input.ids = framed(frame, std::move(first));
  if (frame.last >= 0) {
    input.ids.insert(input.ids.end(), static_cast<size_t>(frame.separators - 1), frame.last);
  }
  input.second_begin = static_cast<int32_t>(input.ids.size());
  input.ids.insert(input.ids.end(), second.begin(), second.end());
  if (frame.last >= 0) {
    input.ids.push_back(frame.last);
  }
  return input;
}

std::vector<EncoderInput> word_inputs(const Vocabulary& vocabulary, const std::vector<std::string>& words,
                                      int64_t max_length) {
  const TextFrame& frame = vocabulary.frame();
  const auto room = static_cast<size_t>(max_length - frame_size(frame, false));
  const auto before = static_cast<int32_t>(frame.first >= 0 ? 1 : 0);
  std::vector<EncoderInput> inputs(1);
  for (const std::string& word : words) {
    std::vector<int32_t> pieces = vocabulary.encode(" " + word);
    if (pieces.empty()) {
      pieces.push_back(vocabulary.special().unk);
    }
    const bool is_cut = pieces.size() > room;
    pieces.resize(std::min(pieces.size(), room));
    if (inputs.back().ids.size() + pieces.size() > room) {
      inputs.emplace_back();
    }
    EncoderInput& input = inputs.back();
    input.is_cut = input.is_cut || is_cut;
    input.word_rows.push_back(before + static_cast<int32_t>(input.ids.size()));
    input.ids.insert(input.ids.end(), pieces.begin(), pieces.end());
  }
  for (EncoderInput& input : inputs) {
    input.ids = framed(frame, std::move(input.ids));
  }
  return inputs;
}

}  // namespace dragoman::data
