#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::test_support {

/// Finds the first place where `markup` (XHTML-style HTML or SVG) is not well-formed: tags closed in order, attributes
/// quoted and not repeated, no bare & or <. The content of script and style counts as text. Returns what is wrong, or
/// nothing.
class MarkupCheck {
 public:
  static std::optional<std::string> first_fault(std::string_view markup) { return MarkupCheck(markup).run(); }

 private:
  explicit MarkupCheck(std::string_view markup) : rest_(markup) {}

  std::optional<std::string> run() {
    while (!rest_.empty() && !fault_) {
      const size_t open = rest_.find('<');
      check_entities(rest_.substr(0, open));
      if (open == std::string_view::npos) {
        break;
      }
      rest_.remove_prefix(open);
      rest_.starts_with("<!DOCTYPE") ? skip_to(">") : read_tag();
    }
    if (!fault_ && !open_.empty()) {
      fault_ = "never closed: " + open_.back();
    }
    return fault_;
  }

  void skip_to(std::string_view end) {
    const size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':'; }

  std::string take_name() {
    size_t size = 0;
    while (size < rest_.size() && is_name(rest_[size])) {
      ++size;
    }
    const std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  void check_entities(std::string_view text) {
    for (size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
      const std::string_view entity = text.substr(i, text.find(';', i) - i + 1);
      const bool is_known =
          entity == "&amp;" || entity == "&lt;" || entity == "&gt;" || entity == "&quot;" || entity == "&#39;";
      if (!is_known) {
        fault_ = "bare &: " + std::string(text.substr(i, 20));
      }
    }
  }

  void read_tag() {
    rest_.remove_prefix(1);
    const bool is_closing = rest_.starts_with("/");
    rest_.remove_prefix(is_closing ? 1 : 0);
    const std::string name = take_name();
    if (name.empty()) {
      fault_ = "bare <: " + std::string(rest_.substr(0, 20));
      return;
    }
    is_closing ? close(name) : read_attributes(name);
  }

  void close(const std::string& name) {
    if (open_.empty() || open_.back() != name) {
      fault_ = "</" + name + "> closes " + (open_.empty() ? "nothing" : "<" + open_.back() + ">");
      return;
    }
    open_.pop_back();
    skip_to(">");
  }

  void read_attributes(const std::string& name) {
    std::vector<std::string> seen;
    while (!fault_) {
      while (rest_.starts_with(" ") || rest_.starts_with("\n")) {
        rest_.remove_prefix(1);
      }
      if (rest_.starts_with("/>") || rest_.starts_with(">")) {
        break;
      }
      read_attribute(name, seen);
    }
    if (rest_.starts_with("/>")) {
      rest_.remove_prefix(2);
    } else if (!fault_) {
      rest_.remove_prefix(1);
      open_.push_back(name);
      if (name == "script" || name == "style") {
        rest_.remove_prefix(std::min(rest_.find("</" + name), rest_.size()));
      }
    }
  }

  void read_attribute(const std::string& tag, std::vector<std::string>& seen) {
    const std::string attribute = take_name();
    const bool is_repeated = std::find(seen.begin(), seen.end(), attribute) != seen.end();
    if (attribute.empty() || is_repeated || !rest_.starts_with("=\"")) {
      fault_ = "<" + tag + "> has a broken or repeated attribute near: " + attribute + std::string(rest_.substr(0, 30));
      return;
    }
    seen.push_back(attribute);
    rest_.remove_prefix(2);
    const size_t end = rest_.find('"');
    const std::string_view value = rest_.substr(0, end);
    if (end == std::string_view::npos || value.find('<') != std::string_view::npos) {
      fault_ = "<" + tag + "> has a broken value of " + attribute;
      return;
    }
    check_entities(value);
    rest_.remove_prefix(end + 1);
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::optional<std::string> fault_;
};

/// How often `part` stands in `text`.
inline size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace dragoman::test_support
