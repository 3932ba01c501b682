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

void check_stride(int64_t stride, int64_t room) {
  base::check_usage(stride == 0 || stride < room,
                    "stride is {}, must be below {}, the pieces that a window of this model holds", stride, room);
}

std::vector<std::vector<int32_t>> pieces_of_words(const Vocabulary& vocabulary, const std::vector<std::string>& words) {
  std::vector<std::vector<int32_t>> pieces;
  for (const std::string& word : words) {
    std::vector<int32_t>& of_word = pieces.emplace_back(vocabulary.encode(" " + word));
    if (of_word.empty()) {
      of_word.push_back(vocabulary.special().unk);
    }
  }
  return pieces;
}

// The first word of an input that must hold `word`: before it as many words as have `stride` pieces and leave it room.
size_t first_shared_word(const std::vector<std::vector<int32_t>>& pieces, size_t word, size_t room, size_t stride) {
  const size_t most = std::min(stride, room - std::min(room, pieces[word].size()));
  size_t first = word;
  for (size_t shared = 0; first > 0 && shared + pieces[first - 1].size() <= most; --first) {
    shared += pieces[first - 1].size();
  }
  return first;
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

std::vector<EncoderInput> encoder_windows(const Vocabulary& vocabulary, const TextOrPair& text, int64_t max_length,
                                          int64_t stride) {
  const TextFrame& frame = vocabulary.frame();
  const int64_t room = max_length - frame_size(frame, false);
  check_stride(stride, room);
  if (stride == 0 || text.second.has_value()) {
    return {encoder_input(vocabulary, text, max_length)};
  }
  const std::vector<int32_t> pieces = vocabulary.encode(text.first);
  const auto count = static_cast<int64_t>(pieces.size());
  std::vector<EncoderInput> windows;
  for (int64_t begin = 0, end = 0; begin == 0 || end < count; begin += room - stride) {
    end = std::min(begin + room, count);
    windows.push_back({.ids = framed(frame, {pieces.begin() + begin, pieces.begin() + end})});
  }
  return windows;
}

std::vector<EncoderInput> word_inputs(const Vocabulary& vocabulary, const std::vector<std::string>& words,
                                      int64_t max_length, int64_t stride) {
  const TextFrame& frame = vocabulary.frame();
  const auto room = static_cast<size_t>(max_length - frame_size(frame, false));
  const auto before = static_cast<int32_t>(frame.first >= 0 ? 1 : 0);
  check_stride(stride, static_cast<int64_t>(room));
  const std::vector<std::vector<int32_t>> pieces = pieces_of_words(vocabulary, words);
  std::vector<EncoderInput> inputs(1);
  const auto add = [&](size_t word) {
    EncoderInput& input = inputs.back();
    const size_t kept = std::min(pieces[word].size(), room);
    input.is_cut = input.is_cut || kept < pieces[word].size();
    input.word_rows.push_back(before + static_cast<int32_t>(input.ids.size()));
    input.ids.insert(input.ids.end(), pieces[word].begin(), pieces[word].begin() + static_cast<std::ptrdiff_t>(kept));
  };
  for (size_t word = 0; word < words.size(); ++word) {
    if (inputs.back().ids.size() + std::min(pieces[word].size(), room) > room) {
      const size_t again = first_shared_word(pieces, word, room, static_cast<size_t>(stride));
      inputs.push_back({.ids = {}, .word_rows = {}, .first_word = again});
      for (size_t shared = again; shared < word; ++shared) {
        add(shared);
      }
    }
    add(word);
  }
  for (EncoderInput& input : inputs) {
    input.ids = framed(frame, std::move(input.ids));
  }
  return inputs;
}

}  // namespace dragoman::data
