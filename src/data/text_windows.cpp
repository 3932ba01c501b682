#include "data/text_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

// The window that reads `length` tokens from `begin` on.
SentencePair window_at(const std::vector<int32_t>& ids, uint64_t begin, uint64_t length, uint64_t index) {
  const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = first + static_cast<std::ptrdiff_t>(length);
  return {.line = index, .source = {}, .target = {first + 1, last}, .before_target = *first, .after_target = *last};
}

}  // namespace

TextWindows::TextWindows(TokenText text, const WindowOptions& options) : text_(std::move(text)), options_(options) {
  base::check_data(text_.size() >= 2, "text: {} token, at least 2 are needed to learn what follows what", text_.size());
  const uint64_t predicted = text_.size() - 1;
  const auto longest = static_cast<uint64_t>(options_.length);
  length_ = std::min(longest, predicted);
  count_ = std::max<uint64_t>(1, (predicted - length_ + 1) / length_);
  if (!across()) {
    cut_documents();
  }
  statistics_.read = statistics_.kept = size();
  statistics_.target_tokens = count_ * length_;
  if (!across()) {
    statistics_.target_tokens = std::transform_reduce(windows_.begin(), windows_.end(), uint64_t{0}, std::plus<>(),
                                                      [](const Place& window) { return window.length; });
  }
}

void TextWindows::cut_documents() {
  for (size_t document = 0; document + 1 < text_.starts.size(); ++document) {
    // What is read first is bos or the end of the document before, where there is one.
    const uint64_t start = text_.starts[document];
    uint64_t begin = start > 0 && !text_.has_bos ? start - 1 : start;
    const uint64_t last = text_.starts[document + 1] - 1;  // the last token that is predicted
    for (; begin < last; begin += length_) {
      windows_.push_back({begin, std::min(length_, last - begin)});
    }
  }
}

uint64_t TextWindows::shift(uint64_t epoch) const {
  const uint64_t room = text_.size() - 1 - count_ * length_;
  base::Random random(options_.seed, random_stream(StreamPurpose::kTextShift, epoch, 0));
  return static_cast<uint64_t>(random.uniform() * static_cast<double>(room + 1));
}

TextWindows::Place TextWindows::place_of(uint64_t index, uint64_t epoch) const {
  return across() ? Place{shift(epoch) + index * length_, length_} : windows_[index];
}

std::string TextWindows::report() const {
  return fmt::format("text: {} documents, {} tokens of {} bytes, {} windows of {} tokens an epoch",
                     text_.starts.size() - 1, text_.size(), text_.bytes, size(), length_);
}

std::vector<std::pair<std::string, uint64_t>> TextWindows::facts() const {
  return {{"documents", text_.starts.size() - 1},
          {"tokens", text_.size()},
          {"bytes", text_.bytes},
          {"windows an epoch", size()},
          {"tokens of a window", length_}};
}

std::string TextWindows::place(uint64_t line) const {
  return fmt::format("window {}", line + 1);
}

SentencePair TextWindows::pair(uint64_t index, uint64_t epoch) const {
  const Place place = place_of(index, epoch);
  return window_at(text_.ids, place.begin, place.length, index);
}

Examples::Window TextWindows::window(std::span<const uint32_t> indices, uint64_t epoch) const {
  Window window;
  for (size_t position = 0; position < indices.size(); ++position) {
    const auto length = static_cast<int64_t>(place_of(indices[position], epoch).length);
    window.sizes.push_back({position, 0, length});
  }
  return window;
}

std::vector<Batch> all_windows(const TokenText& text, const WindowOptions& options, int64_t batch_tokens) {
  const uint64_t predicted = text.size() - 1;
  const auto length = static_cast<uint64_t>(options.length);
  std::vector<SentencePair> pairs;
  for (uint64_t begin = 0; begin < predicted; begin += length) {
    pairs.push_back(window_at(text.ids, begin, std::min(length, predicted - begin), pairs.size()));
  }
  return cut_batches(pairs, batch_tokens);
}

}  // namespace dragoman::data
