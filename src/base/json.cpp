#include "base/json.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::base {
namespace {

using nlohmann::json;

constexpr size_t kMaxMessageBytes = 300;

// Counts brackets outside strings, without recursion and before any tree exists.
void check_depth(std::string_view text, std::string_view name, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;  // whatever is escaped does not end the string
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
      check_data(depth <= max_depth, "{}: byte {}: JSON nests deeper than {}; dragoman never writes such files", name,
                 i + 1, max_depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

// The library's text without its "[json.exception.parse_error.101] " and without a quote of megabytes.
std::string short_message(const json::exception& error) {
  std::string_view text = error.what();
  if (const size_t end = text.find("] "); text.starts_with('[') && end != std::string_view::npos) {
    text.remove_prefix(end + 2);
  }
  const bool is_long = text.size() > kMaxMessageBytes;
  return repair_utf8(text.substr(0, kMaxMessageBytes)) + (is_long ? "..." : "");
}

// Refuses a key that its object already has; JSON libraries silently keep one of the two.
class DuplicateKeyCheck {
 public:
  explicit DuplicateKeyCheck(std::string_view name) : name_(name) {}

  bool operator()(int /*depth*/, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      check_data(keys_.back().insert(key).second, "{}: key '{}' stands twice in one object; keep one of them", name_,
                 repair_utf8(std::string_view(key).substr(0, kMaxMessageBytes)));
    }
    return true;
  }

 private:
  std::string_view name_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  check_data(text.size() <= limits.max_bytes, "{}: JSON has {} bytes, at most {} are allowed; is this the right file?",
             name, text.size(), limits.max_bytes);
  check_data(is_valid_utf8(text), "{}: JSON is not valid UTF-8; save it as UTF-8", name);
  check_data(!text.starts_with(kByteOrderMark), "{}: JSON begins with a byte order mark; save it as UTF-8 without one",
             name);
  // The library stops at a NUL and would ignore the rest.
  check_data(text.find('\0') == std::string_view::npos, "{}: byte {}: JSON holds a NUL; correct the file", name,
             text.find('\0') + 1);
  check_depth(text, name, limits.max_depth);
  try {
    DuplicateKeyCheck no_duplicates(name);
    return json::parse(
        text, [&](int depth, json::parse_event_t event, json& value) { return no_duplicates(depth, event, value); });
  } catch (const json::parse_error& error) {
    fail(ErrorKind::kBadData, "{}: byte {}: {}; correct the file", name, error.byte, short_message(error));
  } catch (const json::exception& error) {
    fail(ErrorKind::kBadData, "{}: {}; correct the file", name, short_message(error));
  }
}

double decimal(float value) {
  const std::string text = fmt::format("{}", value);
  double number = value;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return static_cast<float>(number) == value ? number : static_cast<double>(value);
}

json with_decimals(json value) {
  if (value.is_structured()) {
    for (json& part : value) {
      part = with_decimals(std::move(part));
    }
  } else if (value.is_number_float()) {
    const auto narrow = static_cast<float>(value.get<double>());
    if (std::isfinite(narrow) && static_cast<double>(narrow) == value.get<double>()) {
      return decimal(narrow);
    }
  }
  return value;
}

std::string dump_json(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace dragoman::base
