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

}  // namespace dragoman::base
