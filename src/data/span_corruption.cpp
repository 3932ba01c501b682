#include "data/span_corruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

// The numbers of tokens and spans that are cut out of a text.
struct Cut {
  int64_t tokens, spans;
};

Cut cut_of(int64_t length, int64_t sentinels, const CorruptionOptions& options) {
  const auto wanted = static_cast<int64_t>(std::llround(options.share * static_cast<double>(length)));
  const int64_t tokens = std::clamp<int64_t>(wanted, 1, length - 1);
  const auto spans = static_cast<int64_t>(std::llround(static_cast<double>(tokens) / options.mean_span));
  return {tokens, std::clamp<int64_t>(spans, 1, std::min({tokens, length - tokens, sentinels}))};
}

// Divides `total` into parts of at least 1, each division with the same probability.
std::vector<int64_t> divided(int64_t total, int64_t parts, base::Random& random) {
  std::vector<char> ends(static_cast<size_t>(total - 1), 0);  // whether a part ends behind each
  std::fill_n(ends.begin(), parts - 1, 1);
  base::shuffle(ends.begin(), ends.end(), random);
  std::vector<int64_t> lengths{1};
  for (const char end : ends) {
    if (end != 0) {
      lengths.push_back(1);
    } else {
      ++lengths.back();
    }
  }
  return lengths;
}

}  // namespace

CorruptedText corrupt_spans(std::span<const int32_t> tokens, const std::vector<int32_t>& sentinels,
                            const CorruptionOptions& options, base::Random& random) {
  const auto length = std::ssize(tokens);
  const Cut cut = cut_of(length, std::ssize(sentinels), options);
  const std::vector<int64_t> gone = divided(cut.tokens, cut.spans, random);
  const std::vector<int64_t> kept = divided(length - cut.tokens, cut.spans, random);
  CorruptedText text;
  auto next = tokens.begin();
  for (size_t span = 0; span < gone.size(); ++span) {
    text.input.insert(text.input.end(), next, next + kept[span]);
    next += kept[span];
    text.input.push_back(sentinels[span]);
    text.target.push_back(sentinels[span]);
    text.target.insert(text.target.end(), next, next + gone[span]);
    next += gone[span];
  }
  return text;
}

CorruptedWindows::CorruptedWindows(TokenText text, std::vector<int32_t> sentinels, const SpecialIds& special,
                                   const CorruptionOptions& options)
    : text_(std::move(text)), sentinels_(std::move(sentinels)), special_(special), options_(options) {
  base::check_usage(!sentinels_.empty(),
                    "span corruption: the vocabulary has no sentinels such as <extra_id_0>; take the model of a T5, or "
                    "let a vocabulary be learned");
  cut_windows();
  base::check_data(!windows_.empty(), "text: no document has two tokens, at least 2 are needed to cut a span out");
  statistics_.read = statistics_.kept = size();
  for (const Place& place : windows_) {
    const Cut cut = cut_of(static_cast<int64_t>(place.length), std::ssize(sentinels_), options_);
    statistics_.source_tokens += place.length - static_cast<uint64_t>(cut.tokens - cut.spans) + 1;
    statistics_.target_tokens += static_cast<uint64_t>(cut.tokens + cut.spans) + 1;
  }
}

void CorruptedWindows::cut_windows() {
  const auto is_border = [&](int32_t id) {
    return id == special_.bos || id == special_.pad || std::ranges::find(special_.eos, id) != special_.eos.end();
  };
  const auto most = static_cast<uint64_t>(options_.length - 1);  // eos follows
  uint64_t begin = 0;
  const auto add = [&](uint64_t end) {
    for (; end - begin >= 2; begin += std::min(most, end - begin)) {
      windows_.push_back({begin, std::min(most, end - begin)});
    }
  };
  for (uint64_t token = 0; token < text_.size(); ++token) {
    if (is_border(text_.ids[token])) {
      add(token);
      begin = token + 1;
    }
  }
  add(text_.size());
}

std::string CorruptedWindows::report() const {
  return fmt::format("text: {} documents, {} tokens of {} bytes, {} windows of at most {} tokens",
                     text_.starts.size() - 1, text_.size(), text_.bytes, size(), options_.length);
}

std::string CorruptedWindows::place(uint64_t line) const {
  return fmt::format("window {}", line + 1);
}

SentencePair CorruptedWindows::pair(uint64_t index, uint64_t epoch) const {
  const Place place = windows_[index];
  base::Random random(options_.seed, random_stream(StreamPurpose::kSpans, epoch, index));
  CorruptedText text =
      corrupt_spans(std::span(text_.ids).subspan(place.begin, place.length), sentinels_, options_, random);
  text.input.push_back(special_.eos.front());
  return {.line = index,
          .source = std::move(text.input),
          .target = std::move(text.target),
          .before_target = special_.bos,
          .after_target = special_.eos.front()};
}

Examples::Window CorruptedWindows::window(std::span<const uint32_t> indices, uint64_t /*epoch*/) const {
  Window window;
  for (size_t position = 0; position < indices.size(); ++position) {
    const auto length = static_cast<int64_t>(windows_[indices[position]].length);
    const Cut cut = cut_of(length, std::ssize(sentinels_), options_);
    window.sizes.push_back({position, length - cut.tokens + cut.spans + 1, cut.tokens + cut.spans + 1});
  }
  return window;
}

}  // namespace dragoman::data
