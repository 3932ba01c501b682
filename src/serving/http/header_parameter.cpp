#include "serving/http/header_parameter.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::serving {

std::optional<std::string> header_parameter(std::string_view header, std::string_view name) {
  size_t at = 0;
  while ((at = header.find(';', at)) != std::string_view::npos) {
    ++at;
    const size_t begin = header.find_first_not_of(" \t", at);
    const size_t equals = begin == std::string_view::npos ? begin : header.find('=', begin);
    if (equals == std::string_view::npos) {
      return std::nullopt;
    }
    const bool is_it = base::equal_ignoring_ascii_case(header.substr(begin, equals - begin), name);
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        at += header[at] == '\\' && at + 1 < header.size() ? 1 : 0;
        value += header[at];
      }
    } else {
      const size_t end = std::min(header.find_first_of("; \t", at), header.size());
      value = header.substr(at, end - at);
      at = end;
    }
    if (is_it) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace dragoman::serving
