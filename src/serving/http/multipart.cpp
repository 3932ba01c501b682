#include "serving/http/multipart.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/utf8.h"

namespace dragoman::serving {
namespace {

constexpr size_t kMaxParts = 1000;

[[noreturn]] void bad_form(std::string_view what) {
  bad_request(fmt::format("Invalid request: the multipart form {}", what));
}

// Returns the value of a parameter of a header, with or without quotes: q of `form-data; name="q"` for name.
std::string parameter_of(std::string_view header, std::string_view name, bool& found) {
  size_t at = 0;
  found = false;
  while ((at = header.find(';', at)) != std::string_view::npos) {
    ++at;
    const size_t begin = header.find_first_not_of(" \t", at);
    const size_t equals = begin == std::string_view::npos ? begin : header.find('=', begin);
    if (equals == std::string_view::npos) {
      return {};
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
      found = true;
      return value;
    }
  }
  return {};
}

// Removes from `text` everything up to and with `end`. Returns the part before `end`.
std::string_view cut_until(std::string_view& text, std::string_view end, std::string_view complaint) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) {
    bad_form(complaint);
  }
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return taken;
}

FormPart parsed_part(std::string_view headers, std::string_view bytes) {
  FormPart part;
  bool has_name = false;
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(line.size() + 2, headers.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos &&
        base::equal_ignoring_ascii_case(line.substr(0, colon), "Content-Disposition")) {
      part.name = base::repair_utf8(parameter_of(line, "name", has_name));
      part.file_name = base::repair_utf8(parameter_of(line, "filename", part.is_file));
    }
  }
  if (!has_name) {
    bad_form("has a part without a name");
  }
  part.bytes = bytes;
  return part;
}

}  // namespace

std::vector<FormPart> multipart_parts(std::string_view content_type, std::string_view body) {
  bool found = false;
  const std::string boundary = parameter_of(content_type, "boundary", found);
  constexpr size_t kLongestBoundary = 70;  // RFC 2046, section 5.1.1
  if (boundary.empty() || boundary.size() > kLongestBoundary) {
    bad_form("has no boundary");
  }
  const std::string between = "\r\n--" + boundary;
  std::vector<FormPart> parts;
  if (!body.starts_with(std::string_view(between).substr(2))) {
    bad_form("does not begin with its boundary");
  }
  body.remove_prefix(between.size() - 2);
  while (!body.starts_with("--")) {
    cut_until(body, "\r\n", "does not end");
    std::string_view part = cut_until(body, between, "does not end");
    // A part without headers begins with the blank line that ends the headers.
    const std::string_view headers =
        part.starts_with("\r\n") ? "" : cut_until(part, "\r\n\r\n", "has a part without headers");
    parts.push_back(parsed_part(headers, part));
    if (parts.size() > kMaxParts) {
      bad_form("has more than 1000 parts");
    }
  }
  return parts;
}

}  // namespace dragoman::serving
