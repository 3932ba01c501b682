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
  std::string charset;  ///< of its Content-Type; empty if the part names none
  std::string bytes;
};

/// Returns the parts of a body of type multipart/form-data. What stands before the first boundary and behind the last
/// one is ignored.
/// Throws: HttpError(400): "Invalid request: the multipart form has no boundary", "... does not end", "... has a part
///         without a name".
/// Source: RFC 7578; RFC 2046, section 5.1.1.
/// @param content_type  the value of the header, with the boundary
[[nodiscard]] std::vector<FormPart> multipart_parts(std::string_view content_type, std::string_view body);

}  // namespace dragoman::serving
