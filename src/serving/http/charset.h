#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "serving/http/http_message.h"

struct UConverter;

namespace dragoman::serving {

/// The encoding of a text that a client sends, by the name that the client gives it.
class Charset {
 public:
  /// @param name  in any case; empty = UTF-8. As browsers do, iso-8859-1 and us-ascii are read as windows-1252.
  /// Throws: HttpError(415): "the charset "utf-9" is not known; send UTF-8".
  explicit Charset(std::string_view name);
  ~Charset();
  Charset(const Charset&) = delete;
  Charset& operator=(const Charset&) = delete;

  /// Returns whether ASCII has its usual bytes, so that `&` and `=` can be found before the text is decoded.
  [[nodiscard]] bool has_ascii() const;
  /// Returns a text as UTF-8. What the charset does not define becomes U+FFFD. UTF-8 is returned as it is.
  [[nodiscard]] std::string to_utf8(std::string_view bytes) const;

 private:
  struct Close {
    void operator()(UConverter* converter) const;
  };
  std::unique_ptr<UConverter, Close> converter_;  // null for UTF-8
};

/// Returns the charset that the Content-Type of a request names. Empty if it names none.
[[nodiscard]] std::string charset_of(const Request& request);

/// Returns a whole document as UTF-8, without its byte order mark. The mark of UTF-8, UTF-16 or UTF-32 says the
/// encoding; without one `charset` does, as in Charset. Source: WHATWG Encoding Standard, section 6, "BOM sniff".
[[nodiscard]] std::string document_as_utf8(std::string_view bytes, std::string_view charset);

}  // namespace dragoman::serving
