#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman::base {

/// Bytes of a size as people write it: a number, then KiB, MiB, GiB or TiB (factors of 1024; case does not matter, a
/// space between is fine). Throws Error(kUsage) naming `option`: "--memory is \"8GB\", must be a size such as 512MiB or
/// 8GiB".
uint64_t parse_size(std::string_view option, std::string_view text);

/// "812 KiB", "96.5 MiB", "1.25 GiB": three digits that count.
std::string format_size(uint64_t bytes);

/// Memory that this process could take now without pushing others out, in bytes: MemAvailable of the machine, or what
/// the limits of the control groups around this process leave (versions 1 and 2), whichever is less.
/// Nothing when the system does not say.
/// @param root  where proc and sys are looked for; tests set up their own
std::optional<uint64_t> available_memory(const std::filesystem::path& root = "/");

/// Memory of this process that is in RAM, in bytes: now, and the most there ever was. 0 when the system says nothing.
uint64_t resident_memory();
uint64_t peak_resident_memory();

}  // namespace dragoman::base
