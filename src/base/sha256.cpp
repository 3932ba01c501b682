#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/error.h"
#include "base/file_reader.h"

namespace dragoman::base {
namespace {

void check_digest(bool succeeded) {
  check_argument(succeeded, "sha256: OpenSSL refused; is its default provider installed?");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  const bool ready = context_ != nullptr && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1;
  if (!ready) {
    EVP_MD_CTX_free(context_);
  }
  check_digest(ready);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(context_);
}

void Sha256::update(std::string_view bytes) {
  check_digest(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  check_digest(EVP_DigestFinal_ex(context_, digest.data(), &size) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  FileReader reader(path);
  Sha256 hash;
  std::string piece;
  while (reader.read_piece(piece)) {
    hash.update(piece);
  }
  return hash.hex();
}

}  // namespace dragoman::base
