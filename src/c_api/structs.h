#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "c_api/call.h"

namespace dragoman::c_api {

/// The size of a struct up to the end of `last`, the last member that its first version had.
#define DRAGOMAN_SIZE_THROUGH(Struct, last) (offsetof(Struct, last) + sizeof(Struct::last))

/// Fills an options struct of `size` bytes with the defaults, and its size.
/// Throws: Error(kUsage), "dragoman_embed_options_init: size is 4, must be 16 at least; give the sizeof of the struct".
template <typename Struct>
void put_defaults(Struct* options, size_t size, size_t least, Struct defaults, const char* function) {
  check_given(options, function, "options");
  base::check_usage(size >= least, "{}: size is {}, must be {} at least; give the sizeof of the struct", function, size,
                    least);
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof(Struct)));
  std::memcpy(options, &size, sizeof size);
}

/// Returns: an options struct of any version as the one of this library.
/// Throws: Error(kUsage) for a size below `least`, and for a struct of a later version whose further fields are not
/// zero.
template <typename Struct>
Struct read_options(const Struct* options, size_t least, Struct defaults, const char* function) {
  if (options == nullptr) {
    return defaults;
  }
  const size_t size = options->size;
  base::check_usage(size >= least, "{}: the size of the options is {}, must be {} at least; call {}_options_init first",
                    function, size, least, function);
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    base::check_usage(bytes[i] == 0,
                      "{}: the options have {} bytes, this library knows {}, and byte {} is not 0; the program was "
                      "compiled for a later dragoman than {}",
                      function, size, sizeof(Struct), i, DRAGOMAN_VERSION);
  }
  Struct read = defaults;
  std::memcpy(&read, options, std::min(size, sizeof(Struct)));
  return read;
}

/// Copies as much of `value` as the caller's struct has room for. Throws: Error(kUsage) for a null pointer, and a size
/// below `least`.
template <typename Struct>
void write_struct(Struct value, Struct* out, size_t least, const char* function) {
  check_given(out, function, "the struct to fill");
  const size_t size = out->size;
  base::check_usage(size >= least, "{}: size of the struct is {}, must be {} at least; set it to the sizeof", function,
                    size, least);
  value.size = size;
  std::memcpy(out, &value, std::min(size, sizeof(Struct)));
}

/// Returns: one text. Throws: Error(kUsage), "dragoman_translate: lines[3] has no data and 5 bytes".
inline std::string text_of(const dragoman_text& text, const char* function, const char* name, size_t index) {
  base::check_usage(text.data != nullptr || text.size == 0, "{}: {}[{}] has no data and {} bytes", function, name,
                    index, text.size);
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

/// Returns: texts of a call. Throws: Error(kUsage) for a null pointer where `count` is not 0.
inline std::vector<std::string> texts_of(const dragoman_text* texts, size_t count, const char* function,
                                         const char* name) {
  base::check_usage(texts != nullptr || count == 0, "{}: {} is null, and count is {}", function, name, count);
  std::vector<std::string> copies;
  for (size_t i = 0; i < count; ++i) {
    copies.push_back(text_of(texts[i], function, name, i));
  }
  return copies;
}

/// Returns: a switch of an options struct. Throws: Error(kUsage), "dragoman_translate: with_scores is 7, must be 0 or
/// 1".
inline bool switch_of(int32_t value, const char* function, const char* name) {
  base::check_usage(value == 0 || value == 1, "{}: {} is {}, must be 0 or 1", function, name, value);
  return value == 1;
}

}  // namespace dragoman::c_api
