#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Returns the bytes of a size on the command line: a number and KiB, MiB, GiB or TiB, which are powers of 1024. The
/// case of the unit is ignored, and a space before the unit is allowed. Throws: Error(kUsage), "--memory is \"8GB\",
/// must be a size such as 512MiB or 8GiB".
uint64_t parse_size(std::string_view option, std::string_view text);

/// Returns a size with three significant digits: "812 KiB", "96.5 MiB", "1.25 GiB".
std::string format_size(uint64_t bytes);

/// Returns the bytes of memory that this process can allocate now without swapping: the smaller of MemAvailable and the
/// rest of the limits of its control groups (versions 1 and 2). Empty if the system reports neither.
/// @param root  the folder that holds proc and sys; tests pass a folder of their own
std::optional<uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Return the resident memory of this process in bytes: the current value and the peak. 0 if the system does not report
/// it.
uint64_t resident_memory();
uint64_t peak_resident_memory();

/// Returns the free pages of the heap to the system. By itself the allocator keeps freed memory up to a limit that
/// grows with the largest buffer freed so far (glibc: up to 64 MiB for each heap), and all of it that lies below a
/// buffer still in use. Takes up to a few milliseconds: call it after something large. Does nothing with other
/// allocators than glibc's.
void return_free_memory();

}  // namespace dragoman::base
