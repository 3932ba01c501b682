#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// A file of a multipart form.
struct Upload {
  std::string field;      ///< name of the form's field
  std::string file_name;  ///< as the client calls it; never used as a path
  std::string bytes;
};

/// The fields of a request, wherever the client has put them: a JSON object, a urlencoded or multipart form (with a GET
/// too), and the query. With a JSON body the query is not looked at. All text is valid UTF-8: what is not becomes
/// U+FFFD. A field unknown to a route is nobody's business.
class RequestFields {
 public:
  /// Throws HttpError(400, "Invalid JSON format") for a body that says it is JSON and is no object or not fit to be
  /// read (base::parse_json, 32 deep at most), HttpError(400) for a multipart form that is none.
  explicit RequestFields(const Request& request);

  bool is_json() const { return is_json_; }
  /// The value of a field: of a form a string, or an array of strings if it stands several times. Null if it is
  /// missing.
  const nlohmann::json& operator[](std::string_view name) const;
  /// A field that is text: the first of several in a form. Empty if it is missing or null. Throws HttpError(400):
  /// "Invalid request: source parameter is not a string".
  std::string text(std::string_view name) const;
  /// A field that is one text or many. Throws as `text`, also for what is no text in an array.
  std::vector<std::string> texts(std::string_view name) const;
  /// A whole number, also as text; `missing` if it is missing, null or empty. Throws HttpError(400): "Invalid request:
  /// alternatives parameter is not a number".
  int64_t number(std::string_view name, int64_t missing) const;
  /// true, "true", "1" or 1; the reverse; `missing`. Throws HttpError(400) for anything else.
  bool truth(std::string_view name, bool missing) const;
  const std::vector<Upload>& uploads() const { return uploads_; }

 private:
  std::string plain(std::string_view name) const;
  void add(std::string name, const std::string& value);
  void add_pairs(std::string_view text);
  void add_parts(const Request& request);

  bool is_json_ = false;
  nlohmann::json values_ = nlohmann::json::object();
  std::vector<Upload> uploads_;
};

/// Whether a field is there and not null, empty text or an empty array.
bool is_given(const RequestFields& fields, std::string_view name);

/// "a%20b+c" as in forms and queries: "a b c". A percent sign without two digits behind it stands for itself.
std::string percent_decoded(std::string_view text);

}  // namespace dragoman::serving
