#include "decoding/text_stream.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace dragoman::decoding {
namespace {

// How many bytes at the end of `text` begin a character whose last bytes are missing.
size_t unfinished_bytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte >= 0xC0) {
      const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return length > back ? back : 0;
    }
    if (byte < 0x80) {
      return 0;
    }
  }
  return 0;
}

// How many bytes at the end of `text` may begin `stop`.
size_t begun_bytes(std::string_view text, std::string_view stop) {
  for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == stop.substr(0, length)) {
      return length;
    }
  }
  return 0;
}

}  // namespace

std::string TextStream::take(std::span<const int32_t> ids) {
  if (is_stopped_) {
    return "";
  }
  for (const int32_t id : ids) {
    waiting_ += id < vocabulary_.size() ? vocabulary_.piece_bytes(id) : "";
  }
  if (find_stop()) {
    return finish();
  }
  const size_t sure = sure_bytes();
  const std::string text = waiting_.substr(0, sure);
  waiting_.erase(0, sure);
  return base::repair_utf8(text);
}

std::string TextStream::finish() {
  return base::repair_utf8(std::exchange(waiting_, ""));
}

// Cuts what waits before the first stop string in it.
bool TextStream::find_stop() {
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) {
    first = std::min(first, waiting_.find(stop));
  }
  if (first == std::string::npos) {
    return false;
  }
  waiting_.erase(first);
  is_stopped_ = true;
  return true;
}

size_t TextStream::sure_bytes() const {
  size_t held = unfinished_bytes(waiting_);
  for (const std::string& stop : stops_) {
    held = std::max(held, begun_bytes(waiting_, stop));
  }
  return waiting_.size() - held;
}

std::string text_before_stop(const data::Vocabulary& vocabulary, std::span<const int32_t> ids,
                             const std::vector<std::string>& stops) {
  TextStream stream(vocabulary, stops);
  const std::string text = stream.take(ids);
  return text + stream.finish();
}

}  // namespace dragoman::decoding
