#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// A file of a multipart form.
struct Upload {
  std::string field;      ///< name of the field
  std::string file_name;  ///< as sent by the client; never used as a path
  std::string bytes;      ///< of a text in another encoding, the text as UTF-8; without a byte order mark
};

/// The fields of a request. They come from a JSON object, or from a urlencoded or multipart form (also of a GET) and
/// the query. With a JSON body the query is ignored; the media type of a GET or DELETE without a body is. Text in a
/// charset that the client names is converted (Charset). All text is valid UTF-8: invalid bytes become U+FFFD. Fields
/// that a route does not know have no effect.
class RequestFields {
 public:
  /// Throws: HttpError(400): "Invalid JSON format" for a body of type JSON that is no object, nests deeper than 32
  ///         levels, or is refused by base::parse_json. HttpError(400) as multipart_parts, HttpError(415) as Charset.
  explicit RequestFields(const Request& request);

  bool is_json() const { return is_json_; }
  /// Returns the value of a field, or null if the field is missing. A value of a form is a string, or an array of
  /// strings if the form has the field several times.
  const nlohmann::json& operator[](std::string_view name) const;
  /// Returns a text, the first one if a form has several. Empty if the field is missing or null.
  /// Throws: HttpError(400): "Invalid request: source parameter is not a string".
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns a text, or all texts of an array.
  /// Throws: HttpError(400) as `text`, also for an array with another value than a text.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// Returns the values of a field that may be an array, several values of a form, or one text with commas. Each value
  /// is cut at its commas. A comma at the end of a value adds nothing.
  [[nodiscard]] std::vector<std::string> listed_texts(std::string_view name) const;
  /// Returns a whole number, also one written as text. `missing` if the field is missing, null or empty.
  /// Throws: HttpError(400): "Invalid request: alternatives parameter is not a number".
  [[nodiscard]] int64_t number(std::string_view name, int64_t missing) const;
  /// Returns true for true, "true", "1" and 1, and false for false, "false", "0" and 0. `missing` if the field is
  /// missing.
  /// Throws: HttpError(400) for any other value.
  bool truth(std::string_view name, bool missing) const;
  const std::vector<Upload>& uploads() const { return uploads_; }

 private:
  std::string plain(std::string_view name) const;
  void add(const std::string& name, const std::string& value);
  void add_pairs(std::string_view text, std::string_view charset_name);
  void add_parts(const Request& request);

  bool is_json_ = false;
  nlohmann::json values_ = nlohmann::json::object();
  std::vector<Upload> uploads_;
};

/// Returns whether a field exists and is not null, an empty text or an empty array.
[[nodiscard]] bool is_given(const RequestFields& fields, std::string_view name);

/// Decodes text of a form or a query: "a%20b+c" becomes "a b c". A percent sign that two hexadecimal digits do not
/// follow stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace dragoman::serving
