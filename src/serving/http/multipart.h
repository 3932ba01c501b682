#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// One part of a multipart form.
struct FormPart {
  std::string name;
  std::string file_name;  ///< empty if the part is no file
  bool is_file = false;
  std::string bytes;
};

/// Returns the parts of a body of type multipart/form-data.
/// Throws: HttpError(400): "Invalid request: the multipart form has no boundary", "... does not end", "... has a part
///         without a name".
/// Source: RFC 7578.
/// @param content_type  the value of the header, with the boundary
[[nodiscard]] std::vector<FormPart> multipart_parts(std::string_view content_type, std::string_view body);

}  // namespace dragoman::serving
