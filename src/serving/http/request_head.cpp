#include "serving/http/request_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "serving/http/request_target.h"

namespace dragoman::serving {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool is_token_character(char c) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kSigns.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

bool is_value_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads the lines of one head and remembers what concerns its framing.
class HeadCheck {
 public:
  explicit HeadCheck(const HttpLimits& limits) : limits_(limits) {}

  std::optional<Refusal> run(std::string_view head) {
    for (size_t line = 0; !refusal_ && head != kLineEnd; ++line) {
      const size_t end = head.find_first_of("\r\n");
      if (end == std::string_view::npos || !head.substr(end).starts_with(kLineEnd)) {
        refuse(400, "a line of the request does not end in CR LF");
        break;
      }
      line == 0 ? request_line(head.substr(0, end)) : field_line(head.substr(0, end));
      head.remove_prefix(end + kLineEnd.size());
    }
    if (!refusal_) {
      whole_head();
    }
    return refusal_;
  }

 private:
  void refuse(int status, std::string message) {
    if (!refusal_) {
      refusal_ = Refusal{status, std::move(message)};
    }
  }

  void request_line(std::string_view line) {
    const size_t method_end = line.find(' ');
    const size_t target_end = line.rfind(' ');
    if (method_end == std::string_view::npos || method_end == target_end || !is_token(line.substr(0, method_end))) {
      return refuse(400, "the request line is not METHOD, target and version");
    }
    const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
    const std::string_view version = line.substr(target_end + 1);
    if (target.size() > limits_.target_bytes) {
      refuse(414, fmt::format("the target has {} bytes, at most {} are allowed", target.size(), limits_.target_bytes));
    } else if (!parse_request_target(target)) {
      refuse(400, "the target must be a path that begins with /, or http://HOST and a path");
    } else if (version != "HTTP/1.1" && version != "HTTP/1.0") {
      refuse(version.starts_with("HTTP/") ? 505 : 400, "the version must be HTTP/1.1 or HTTP/1.0");
    }
    is_old_ = version == "HTTP/1.0";
  }

  void field_line(std::string_view line) {
    const size_t colon = line.find(':');
    if (++n_fields_ > limits_.fields) {
      return refuse(431, fmt::format("the request has more than {} headers", limits_.fields));
    }
    if (line.starts_with(' ') || line.starts_with('\t')) {
      return refuse(400, "a header continues on a second line; write it on one line");
    }
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return refuse(400, "a header is not NAME: value");
    }
    const std::string_view value = base::trim(line.substr(colon + 1), " \t");
    if (!std::ranges::all_of(value, is_value_character)) {
      return refuse(400, "a header has a control character");
    }
    known_field(line.substr(0, colon), value);
  }

  void known_field(std::string_view name, std::string_view value) {
    if (base::equal_ignoring_ascii_case(name, "Host")) {
      if (++n_hosts_ > 1 || !is_authority(value)) {
        refuse(400, "Host must appear once and be a name or address");
      }
    } else if (base::equal_ignoring_ascii_case(name, "Content-Length")) {
      constexpr size_t kMostDigits = 18;
      if (++n_lengths_ > 1 || value.empty() || value.size() > kMostDigits || !std::ranges::all_of(value, is_digit)) {
        refuse(400, "Content-Length must appear once and be a plain number");
      }
    } else if (base::equal_ignoring_ascii_case(name, "Transfer-Encoding")) {
      if (++n_codings_ > 1 || !base::equal_ignoring_ascii_case(value, "chunked")) {
        refuse(400, "Transfer-Encoding must appear once and be chunked");
      }
    } else if (base::equal_ignoring_ascii_case(name, "Content-Encoding") &&
               !base::equal_ignoring_ascii_case(value, "identity")) {
      refuse(415, "Content-Encoding is not supported: send the body uncompressed");
    } else if (base::equal_ignoring_ascii_case(name, "Expect") &&
               !base::equal_ignoring_ascii_case(value, "100-continue")) {
      refuse(417, "Expect must be 100-continue");
    }
  }

  void whole_head() {
    if (n_codings_ > 0 && n_lengths_ > 0) {
      refuse(400, "Content-Length and Transfer-Encoding appear together");
    } else if (n_codings_ > 0 && is_old_) {
      refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    } else if (n_hosts_ == 0 && !is_old_) {
      refuse(400, "Host is missing");
    }
  }

  const HttpLimits& limits_;
  std::optional<Refusal> refusal_;
  bool is_old_ = false;
  size_t n_fields_ = 0;
  int n_hosts_ = 0;
  int n_lengths_ = 0;
  int n_codings_ = 0;
};

}  // namespace

std::optional<Refusal> check_request_head(std::string_view head, const HttpLimits& limits) {
  return HeadCheck(limits).run(head);
}

}  // namespace dragoman::serving
