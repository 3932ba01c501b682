#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// One part of a multipart form.
struct FormPart {
  std::string name;
  std::string file_name;  ///< empty if it is no file
  bool is_file = false;
  std::string bytes;
};

/// The parts of a body of type multipart/form-data (RFC 7578).
/// @param content_type  with the boundary
/// Throws HttpError(400): "Invalid request: the multipart form has no boundary", "... does not end", "... has a part
/// without a name".
std::vector<FormPart> multipart_parts(std::string_view content_type, std::string_view body);

}  // namespace dragoman::serving
