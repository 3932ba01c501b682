#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Reads a whole regular file.
/// Throws Error(kBadData): missing, directory, unreadable, or larger than `max_bytes` (checked before allocating).
/// Sample: "config.json: cannot open for reading: No such file or directory; check the path".
std::string read_file(const std::filesystem::path& path, uint64_t max_bytes = uint64_t{1} << 40);

/// Writes `content` so that the final name holds either the old bytes or all the new ones, whatever happens:
/// PATH.tmp, write, fsync, rename, fsync of the folder. Keeps an existing file's mode. Transient errors
/// (EINTR, EAGAIN, EIO, ENOSPC, EDQUOT) are retried a few times with a growing pause; then Error(kCannotWrite).
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

/// fsync of a folder: makes renames in it last through a power loss. Throws Error(kCannotWrite).
void sync_folder(const std::filesystem::path& folder);

/// SHA-256 in lower-case hexadecimal (FIPS 180-4, through OpenSSL).
std::string sha256_hex(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& path);

}  // namespace dragoman::base
