#include "serving/routes/completion_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "serving/http/charset.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

const json kMissing = nullptr;
constexpr size_t kLongestName = 64;  // of a field in an error message

}  // namespace

std::string shown(const json& value) {
  return value.is_number() || value.is_boolean() ? base::dump_json(value)
         : value.is_string()                     ? "a text"
         : value.is_array()                      ? "a list"
                                                 : value.type_name();
}

CompletionFields::CompletionFields(const Request& request) {
  try {
    values_ = base::parse_json(document_as_utf8(request.body, charset_of(request)), "request");
  } catch (const base::Error&) {
    bad_request("Invalid JSON format");
  }
  if (!values_.is_object()) {
    bad_request("Invalid JSON format");
  }
}

void CompletionFields::refuse(const std::string& name, const std::string& rule) const {
  refuse_field(prefix_ + name, prefix_ + name + rule);
}

const json& CompletionFields::operator[](const char* name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? kMissing : *found;
}

int64_t CompletionFields::whole(const char* name, int64_t missing, int64_t least, int64_t most) const {
  const json& value = (*this)[name];
  if (value.is_null()) {
    return missing;
  }
  // A number above the largest int64_t is another kind of number to the parser.
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  const int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < least || number > most) {
    refuse(name, fmt::format(" is {}, must be a whole number from {} to {}", shown(value), least, most));
  }
  return number;
}

double CompletionFields::number(const char* name, double missing, double least, double most) const {
  const json& value = (*this)[name];
  if (value.is_null()) {
    return missing;
  }
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
    refuse(name, fmt::format(" is {}, must be a number from {} to {}", shown(value), least, most));
  }
  return value.get<double>();
}

bool CompletionFields::truth(const char* name, bool missing) const {
  const json& value = (*this)[name];
  if (!value.is_null() && !value.is_boolean()) {
    refuse(name, fmt::format(" is {}, must be true or false", shown(value)));
  }
  return value.is_null() ? missing : value.get<bool>();
}

std::string CompletionFields::text(const char* name) const {
  const json& value = (*this)[name];
  if (!value.is_null() && !value.is_string()) {
    refuse(name, fmt::format(" is {}, must be a text", shown(value)));
  }
  return value.is_null() ? std::string() : value.get<std::string>();
}

std::vector<std::string> CompletionFields::texts(const char* name) const {
  const json& value = (*this)[name];
  std::vector<std::string> texts;
  if (value.is_string()) {
    texts.push_back(value.get<std::string>());
  } else if (value.is_array()) {
    for (const json& one : value) {
      if (!one.is_string()) {
        refuse(name, fmt::format(" has {}, must be a text or a list of texts", shown(one)));
      }
      texts.push_back(one.get<std::string>());
    }
  } else if (!value.is_null()) {
    refuse(name, fmt::format(" is {}, must be a text or a list of texts", shown(value)));
  }
  return texts;
}

void CompletionFields::check_known(const std::vector<std::string>& known) const {
  for (const auto& [name, value] : values_.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      const std::string given = prefix_ + name.substr(0, kLongestName);
      refuse_field(given, "Unrecognized request argument: " + given);
    }
  }
}

void CompletionFields::check_neutral(const char* name, const json& neutral) const {
  const json& value = (*this)[name];
  if (!value.is_null() && value != neutral) {
    refuse(name, " is not supported; leave it out");
  }
}

}  // namespace dragoman::serving
