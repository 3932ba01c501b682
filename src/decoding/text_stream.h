#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::decoding {

/// Makes text of tokens as they come. A token beyond the vocabulary, which models padded to a round size may write, has
/// no text. Never hands out half a character, nor text that may turn out to begin a stop
/// string; all parts together are the whole text. The text ends before the first stop string.
class TextStream {
 public:
  /// @param stops  none of them empty
  TextStream(data::Vocabulary vocabulary, std::vector<std::string> stops)
      : vocabulary_(std::move(vocabulary)), stops_(std::move(stops)) {}

  /// Returns: the text that is sure now and was not before.
  std::string take(std::span<const int32_t> ids);
  /// Returns: the rest of the text, at its end. Bytes that are no whole character become U+FFFD.
  std::string finish();
  /// Whether a stop string was found. What is taken afterwards is dropped.
  bool is_stopped() const { return is_stopped_; }

 private:
  bool find_stop();
  size_t sure_bytes() const;

  data::Vocabulary vocabulary_;
  std::vector<std::string> stops_;
  std::string waiting_;  // bytes that were not handed out
  bool is_stopped_ = false;
};

/// Returns: the text of all ids up to the first stop string, as a stream would give it.
std::string text_before_stop(const data::Vocabulary& vocabulary, std::span<const int32_t> ids,
                             const std::vector<std::string>& stops);

}  // namespace dragoman::decoding
