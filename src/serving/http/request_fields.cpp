#include "serving/http/request_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "serving/http/charset.h"
#include "serving/http/multipart.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

const json kMissing = nullptr;

int hexadecimal(char c) {
  const bool is_digit = c >= '0' && c <= '9';
  const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  constexpr int kTen = 10;
  return is_digit ? c - '0' : is_letter ? (c | 0x20) - 'a' + kTen : -1;
}

std::string text_of(std::string_view name, const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  bad_request(fmt::format("Invalid request: {} parameter is not a string", name));
}

// Reads a JSON object. All errors have one text, as in the imitated servers.
json object_of(std::string_view body) {
  json value;
  try {
    value = base::parse_json(body, "request");
  } catch (const base::Error&) {
    bad_request("Invalid JSON format");
  }
  if (!value.is_object()) {
    bad_request("Invalid JSON format");
  }
  return value;
}

}  // namespace

bool is_given(const RequestFields& fields, std::string_view name) {
  const json& value = fields[name];
  return !value.is_null() && !(value.is_string() && value.get_ref<const std::string&>().empty()) &&
         !(value.is_array() && value.empty());
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1;
    const int low = high >= 0 ? hexadecimal(text[i + 2]) : -1;
    if (low >= 0) {
      result += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

RequestFields::RequestFields(const Request& request) {
  // Clients that name a type for all their requests name it for those too that have no body.
  const bool is_bare = request.body.empty() && (request.method == "GET" || request.method == "DELETE");
  const std::string type = is_bare ? "" : request.media_type();
  if (type == "application/json" || type.ends_with("+json")) {
    is_json_ = true;
    values_ = object_of(document_as_utf8(request.body, charset_of(request)));
    return;
  }
  if (type == "multipart/form-data") {
    add_parts(request);
  } else if (type.empty() || type == "application/x-www-form-urlencoded") {
    add_pairs(request.body, charset_of(request));
  }
  add_pairs(request.query, "");
}

void RequestFields::add(const std::string& name, const std::string& value) {
  json& field = values_[base::repair_utf8(name)];
  if (field.is_null()) {
    field = base::repair_utf8(value);
  } else {
    if (!field.is_array()) {
      field = json::array({field});
    }
    field.push_back(base::repair_utf8(value));
  }
}

void RequestFields::add_pairs(std::string_view text, std::string_view charset_name) {
  const Charset charset(charset_name);
  if (!charset.has_ascii()) {
    throw HttpError(status::kUnsupportedMediaType,
                    fmt::format("the charset \"{}\" cannot be that of a form; send UTF-8", charset_name));
  }
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (!pair.empty()) {
      const size_t equals = std::min(pair.find('='), pair.size());
      add(charset.to_utf8(percent_decoded(pair.substr(0, equals))),
          charset.to_utf8(percent_decoded(pair.substr(std::min(equals + 1, pair.size())))));
    }
  }
}

void RequestFields::add_parts(const Request& request) {
  std::vector<FormPart> parts = multipart_parts(request.header("Content-Type"), request.body);
  const auto stated = std::ranges::find(parts, "_charset_", &FormPart::name);  // RFC 7578, section 4.6
  const std::string of_form = stated == parts.end() ? charset_of(request) : stated->bytes;
  for (FormPart& part : parts) {
    const std::string& charset = part.charset.empty() ? of_form : part.charset;
    if (part.is_file) {
      uploads_.push_back({std::move(part.name), std::move(part.file_name), document_as_utf8(part.bytes, part.charset)});
    } else {
      add(part.name, Charset(charset).to_utf8(part.bytes));
    }
  }
}

const json& RequestFields::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? kMissing : *found;
}

std::string RequestFields::text(std::string_view name) const {
  const json& value = (*this)[name];
  if (value.is_null()) {
    return {};
  }
  return text_of(name, !is_json_ && value.is_array() ? value.front() : value);
}

std::vector<std::string> RequestFields::texts(std::string_view name) const {
  const json& value = (*this)[name];
  std::vector<std::string> result;
  if (value.is_array()) {
    for (const json& one : value) {
      result.push_back(text_of(name, one));
    }
  } else if (!value.is_null()) {
    result.push_back(text_of(name, value));
  }
  return result;
}

// Returns a number or a truth value of JSON as the text that a form has.
std::string RequestFields::plain(std::string_view name) const {
  const json& value = (*this)[name];
  return value.is_number() || value.is_boolean() ? base::dump_json(value) : text(name);
}

std::vector<std::string> RequestFields::listed_texts(std::string_view name) const {
  std::vector<std::string> listed;
  for (const std::string& value : texts(name)) {
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      listed.emplace_back(one);
    }
  }
  return listed;
}

int64_t RequestFields::number(std::string_view name, int64_t missing) const {
  const std::string text = plain(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty()) {
    return missing;
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    bad_request(fmt::format("Invalid request: {} parameter is not a number", name));
  }
  return value;
}

bool RequestFields::truth(std::string_view name, bool missing) const {
  const std::string text = base::ascii_lower_case(plain(name));
  if (text.empty()) {
    return missing;
  }
  if (text == "true" || text == "1") {
    return true;
  }
  if (text == "false" || text == "0") {
    return false;
  }
  bad_request(fmt::format("Invalid request: {} parameter is not true or false", name));
}

}  // namespace dragoman::serving
