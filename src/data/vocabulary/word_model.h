#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// How a tokenizer cuts one word into pieces. Threads: any number; the object is immutable.
class WordModel {
 public:
  WordModel() = default;
  virtual ~WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;

  /// Appends the ids of the pieces of `word`. Requires: `word` is not empty.
  virtual void encode(std::string_view word, std::vector<int32_t>& ids) const = 0;

  /// Returns the offset in `word` of the first symbol that the ids leave out; npos if there is none.
  [[nodiscard]] virtual size_t first_lost(std::string_view word) const = 0;
};

}  // namespace dragoman::data
