#include "serving/http/multipart.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "serving/http/header_parameter.h"

namespace dragoman::serving {
namespace {

constexpr size_t kMaxParts = 1000;

[[noreturn]] void bad_form(std::string_view what) {
  bad_request(fmt::format("Invalid request: the multipart form {}", what));
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
  std::optional<std::string> name;
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(line.size() + 2, headers.size()));
    const std::string_view field = line.substr(0, line.find(':'));
    if (base::equal_ignoring_ascii_case(field, "Content-Disposition")) {
      const auto file_name = header_parameter(line, "filename");
      name = header_parameter(line, "name");
      part.file_name = base::repair_utf8(file_name.value_or(""));
      part.is_file = file_name.has_value();
    } else if (base::equal_ignoring_ascii_case(field, "Content-Type")) {
      part.charset = header_parameter(line, "charset").value_or("");
    }
  }
  if (!name) {
    bad_form("has a part without a name");
  }
  part.name = base::repair_utf8(*name);
  part.bytes = bytes;
  return part;
}

}  // namespace

std::vector<FormPart> multipart_parts(std::string_view content_type, std::string_view body) {
  const std::string boundary = header_parameter(content_type, "boundary").value_or("");
  constexpr size_t kLongestBoundary = 70;  // RFC 2046, section 5.1.1
  if (boundary.empty() || boundary.size() > kLongestBoundary) {
    bad_form("has no boundary");
  }
  const std::string between = "\r\n--" + boundary;
  std::vector<FormPart> parts;
  if (const std::string_view first = std::string_view(between).substr(2); body.starts_with(first)) {
    body.remove_prefix(first.size());
  } else {
    cut_until(body, between, "does not contain its boundary");  // a preamble, which is ignored
  }
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
