#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace dragoman::base {

/// SHA-256 of bytes that come in pieces (FIPS 180-4, through OpenSSL). Not safe for use from two threads at once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// The digest in lower-case hexadecimal, 64 characters. Ends the object's use.
  std::string hex();

 private:
  evp_md_ctx_st* context_;
};

/// SHA-256 in lower-case hexadecimal of bytes in memory.
std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file, read in pieces: its size does not matter for memory.
/// Throws Error(kBadData) like read_file.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace dragoman::base
