#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// The fields of a JSON object in OpenAI's interface. Null counts as missing. Every reader refuses a wrong type or
/// value with OpenAiError(400), which names the field.
class CompletionFields {
 public:
  /// Throws: HttpError(400): "Invalid JSON format", as RequestFields; the type of the body is not looked at.
  explicit CompletionFields(const Request& request);
  CompletionFields(nlohmann::json object, std::string name) : values_(std::move(object)), prefix_(std::move(name)) {}

  /// Returns the value of a field, or null.
  const nlohmann::json& operator[](const char* name) const;
  bool has(const char* name) const { return !(*this)[name].is_null(); }

  /// Returns a whole number. "n is 200, must be 1 to 128".
  [[nodiscard]] int64_t whole(const char* name, int64_t missing, int64_t least, int64_t most) const;
  /// Returns a number. "temperature is -1, must be 0 to 100".
  [[nodiscard]] double number(const char* name, double missing, double least, double most) const;
  [[nodiscard]] bool truth(const char* name, bool missing) const;
  [[nodiscard]] std::string text(const char* name) const;
  /// Returns a text or the texts of a list; none if the field is missing.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;

  /// Refuses fields that are in none of the readers' names: "Unrecognized request argument: prompts".
  void check_known(const std::vector<std::string>& known) const;
  /// Refuses a value other than null and `neutral`: "suffix is not supported; leave it out".
  void check_neutral(const char* name, const nlohmann::json& neutral) const;

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& rule) const;

  nlohmann::json values_;
  std::string prefix_;  // of the names of the fields in errors: "stream_options."
};

/// Returns a value for an error message: a number as it stands, and the kind of anything else.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace dragoman::serving
