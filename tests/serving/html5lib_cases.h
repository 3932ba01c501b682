#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "support/corpora.h"

namespace dragoman::test_support {

using nlohmann::json;

/// A case of the tests of html5lib: an input and the tokens that HTML reads in it. Surrogates without a partner, which
/// no UTF-8 can hold, are U+FFFD on both sides.
struct Html5libCase {
  std::string file;
  std::string description;
  std::string input;
  std::vector<std::string> states;
  std::string last_start_tag;
  bool has_tokens = true;  ///< false: the tokens are those of another kind of reader
  json tokens = json::array();
};

inline std::filesystem::path html5lib_folder() {
  return corpus_file("html5lib-tests") / "tokenizer";
}

/// Returns: why a test on the cases is skipped and what to do about it.
inline std::string missing_html5lib() {
  return "no folder " + html5lib_folder().string() +
         " (from outside the repository). To run this test, configure with -DDRAGOMAN_CORPORA=FOLDER, where "
         "FOLDER/html5lib-tests is a copy of github.com/html5lib/html5lib-tests";
}

/// Returns the code unit of the escape "\uXXXX" at `at`, or 0 if there is none.
inline char32_t escape_at(const std::string& text, size_t at) {
  constexpr size_t kSize = 6;
  constexpr int kHexadecimal = 16;
  return text.compare(at, 2, "\\u") == 0 && at + kSize <= text.size()
             ? static_cast<char32_t>(std::stoul(text.substr(at + 2, kSize - 2), nullptr, kHexadecimal))
             : 0;
}

inline bool is_first_surrogate(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

inline bool is_second_surrogate(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Returns JSON text with U+FFFD for the escape of each surrogate without a partner.
inline std::string without_lone_surrogates(const std::string& text) {
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const char32_t unit = escape_at(text, at);
    const bool is_pair = is_first_surrogate(unit) && is_second_surrogate(escape_at(text, at + 6));
    const size_t size = is_pair ? 12 : unit != 0 ? 6 : text[at] == '\\' ? 2 : 1;
    const bool is_lone = !is_pair && (is_first_surrogate(unit) || is_second_surrogate(unit));
    kept += is_lone ? "\uFFFD" : text.substr(at, size);
    at += size;
  }
  return kept;
}

/// Returns `text` with its escapes decoded.
inline std::string unescaped(const std::string& text) {
  std::u32string characters;
  const std::u32string all = base::decode_utf8(text);
  size_t bytes = 0;
  for (size_t at = 0; at < all.size();) {
    const bool is_escape = text.compare(bytes, 2, "\\u") == 0;
    const char32_t unit = is_escape ? escape_at(text, bytes) : all[at];
    const bool is_pair = is_first_surrogate(unit) && is_second_surrogate(escape_at(text, bytes + 6));
    characters += is_pair ? 0x10000 + ((unit - 0xD800) << 10U) + (escape_at(text, bytes + 6) - 0xDC00) : unit;
    const size_t size = is_pair ? 12 : is_escape ? 6 : 1;
    bytes += base::encode_utf8(all.substr(at, size)).size();
    at += size;
  }
  return base::encode_utf8(characters);  // U+FFFD for surrogates
}

/// Returns a value whose texts and names have their escapes decoded.
inline json unescaped(const json& value) {
  if (value.is_string()) {
    return unescaped(value.get<std::string>());
  }
  if (!value.is_structured()) {
    return value;
  }
  json result = value.is_array() ? json::array() : json::object();
  for (const auto& [name, inner] : value.items()) {
    value.is_array() ? result.push_back(unescaped(inner)) : void(result[unescaped(name)] = unescaped(inner));
  }
  return result;
}

/// Returns all cases, or none if the folder is missing.
inline std::vector<Html5libCase> html5lib_cases() {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(html5lib_folder())) {
    for (const auto& entry : std::filesystem::directory_iterator(html5lib_folder())) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<Html5libCase> cases;
  for (const auto& path : files) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const json all = json::parse(without_lone_surrogates(text));
    const bool has_tokens = all.contains("tests");
    for (json one : all.at(has_tokens ? "tests" : "xmlViolationTests")) {
      one = one.value("doubleEscaped", false) ? unescaped(one) : one;
      cases.push_back({path.filename().string(), one.at("description"), one.at("input"),
                       one.value("initialStates", std::vector<std::string>{"Data state"}),
                       one.value("lastStartTag", ""), has_tokens, one.at("output")});
    }
  }
  return cases;
}

}  // namespace dragoman::test_support
