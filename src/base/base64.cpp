#include "base/base64.h"

#include <openssl/evp.h>

#include "base/error.h"

namespace dragoman::base {

std::string base64(std::span<const std::byte> bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // OpenSSL counts in int
  check_argument(bytes.size() <= kMost, "base64: {} bytes, at most {} are taken", bytes.size(), kMost);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a NUL behind the text
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

std::string from_base64(std::string_view text, std::string_view name) {
  constexpr size_t kMost = size_t{1} << 30;
  check_data(text.size() % 4 == 0 && text.size() <= kMost, "{} is not base64, {} characters are no whole groups of 4",
             name, text.size());
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  // OpenSSL also takes white space at the ends, and = inside, which no writer makes.
  const size_t wrong = text.substr(0, text.size() - padding)
                           .find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  check_data(wrong == std::string_view::npos, "{} is not base64 at character {}", name, wrong);
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace dragoman::base
