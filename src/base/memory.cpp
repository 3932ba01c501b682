#include "base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/ascii.h"
#include "base/error.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kUnits = {"kib", "mib", "gib", "tib"};
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The number that a file consists of; `otherwise` when there is no such file or it holds a word ("max").
uint64_t number_in(const fs::path& path, uint64_t otherwise) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : otherwise;
}

// The number after `key` in lines of "key number" or "key: number kB".
uint64_t field_in(const fs::path& path, const std::string& key, uint64_t otherwise) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t number = 0;
    if (words >> name >> number && name == key) {
      return number;
    }
  }
  return otherwise;
}

// Names of the files of one version of control groups.
struct GroupFiles {
  const char* folder;  // below sys/fs/cgroup
  const char* limit;
  const char* usage;
  const char* file_cache;  // in memory.stat: reclaimable by the system
};
constexpr GroupFiles kVersion1 = {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"", "memory.max", "memory.current", "inactive_file"};

// The memory that the group at `path` and its parents leave.
uint64_t left_by_groups(const fs::path& top, fs::path path, const GroupFiles& files) {
  uint64_t left = kUnlimited;
  while (true) {
    const fs::path folder = top / path.relative_path();
    const uint64_t limit = number_in(folder / files.limit, kUnlimited);
    const uint64_t usage = number_in(folder / files.usage, 0);
    const uint64_t used = usage - std::min(usage, field_in(folder / "memory.stat", files.file_cache, 0));
    left = std::min(left, limit == kUnlimited ? kUnlimited : limit - std::min(limit, used));
    if (!path.has_relative_path()) {
      return left;
    }
    path = path.parent_path();
  }
}

// Lines of /proc/self/cgroup: "4:memory:/path" in version 1, "0::/path" in version 2.
uint64_t left_by_all_groups(const fs::path& root) {
  uint64_t left = kUnlimited;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version1 = controllers.find(",memory,") != std::string::npos;
    if (version1 || controllers == ",,") {
      const GroupFiles& files = version1 ? kVersion1 : kVersion2;
      left = std::min(left, left_by_groups(root / "sys/fs/cgroup" / files.folder, line.substr(second + 1), files));
    }
  }
  return left;
}

}  // namespace

uint64_t parse_size(std::string_view option, std::string_view text) {
  const std::string lower = ascii_lower_case(text);
  char* end = nullptr;
  const double number = std::isdigit(static_cast<unsigned char>(lower.empty() ? '\0' : lower.front())) != 0
                            ? std::strtod(lower.c_str(), &end)
                            : -1.0;
  std::string_view unit = end == nullptr ? "" : end;
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const auto* const found = std::ranges::find(kUnits, unit);
  check_usage(number > 0.0 && found != kUnits.end(), "{} is \"{}\", must be a size such as 512MiB or 8GiB", option,
              text);
  const double bytes = std::ldexp(number, static_cast<int>(10 * (found - kUnits.begin() + 1)));
  check_usage(bytes < std::ldexp(1.0, 60), "{} is \"{}\", more than any machine has; must be below 2^60 bytes", option,
              text);
  return static_cast<uint64_t>(bytes);
}

std::string format_size(uint64_t bytes) {
  double value = static_cast<double>(bytes) / 1024.0;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1024.0;
  }
  constexpr std::array<const char*, 4> kNames = {"KiB", "MiB", "GiB", "TiB"};
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, kNames[unit]);
}

std::optional<uint64_t> available_memory(const fs::path& root) {
  const uint64_t kilobytes = field_in(root / "proc/meminfo", "MemAvailable:", kUnlimited);
  const uint64_t machine = kilobytes == kUnlimited ? kUnlimited : kilobytes * 1024;
  const uint64_t available = std::min(machine, left_by_all_groups(root));
  return available == kUnlimited ? std::nullopt : std::optional(available);
}

uint64_t resident_memory() {
  return field_in("/proc/self/status", "VmRSS:", 0) * 1024;
}

uint64_t peak_resident_memory() {
  return field_in("/proc/self/status", "VmHWM:", 0) * 1024;
}

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace dragoman::base
