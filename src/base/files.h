#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/durable_write.h"
#include "base/sha256.h"

namespace dragoman::base {

/// Reads a whole file (or pipe).
/// Throws Error(kBadData): missing, directory, device, unreadable, or larger than `max_bytes` (checked before
/// allocating). Sample: "config.json: cannot open for reading: No such file or directory; check the path ...".
std::string read_file(const std::filesystem::path& path, uint64_t max_bytes = uint64_t{1} << 40);

/// Writes `content` so that the final name holds either the old bytes or all the new ones, whatever happens:
/// PATH.tmp, write, fsync, rename, fsync of the folder. Keeps an existing file's mode; a symbolic link stays and its
/// target is replaced; a pipe or device is written straight. Transient errors are retried (RetryPolicy), each time
/// from the start; then Error(kCannotWrite) with path, step and errno.
void write_file_atomic(const std::filesystem::path& path, std::string_view content, const RetryPolicy& retry = {});

/// fsync of a folder: makes renames in it last through a power loss. Throws Error(kCannotWrite).
void sync_folder(const std::filesystem::path& folder);

}  // namespace dragoman::base
