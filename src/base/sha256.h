#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace dragoman::base {

/// The SHA-256 hash of bytes that arrive in pieces, computed by OpenSSL. Threads: one thread at a time.
/// Source: FIPS 180-4, section 6.2.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// Returns the hash as 64 lower-case hexadecimal digits. No other call may follow.
  std::string hex();

 private:
  evp_md_ctx_st* context_;
};

/// Returns the SHA-256 hash of `bytes` in lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// Returns the SHA-256 hash of a file. The file is read in pieces, so a large file needs no more memory.
/// Throws: Error(kBadData), as read_file.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace dragoman::base
