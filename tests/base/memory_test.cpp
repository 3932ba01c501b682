#include "base/memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::base {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string message_of(std::string_view text) {
  try {
    parse_size("--memory", text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(ParseSize, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("--memory", "1KiB"), 1024U);
  EXPECT_EQ(parse_size("--memory", "512MiB"), 512 * kMiB);
  EXPECT_EQ(parse_size("--memory", "8GiB"), 8192 * kMiB);
  EXPECT_EQ(parse_size("--memory", "1.5 gib"), 1536 * kMiB);
  EXPECT_EQ(parse_size("--memory", "2TiB"), 2 * 1024 * 1024 * kMiB);
}

TEST(ParseSize, RefusesTheRestAndSaysHow) {
  for (const char* text : {"", "8", "8GB", "GiB", "-1GiB", "0GiB", "8GiB!", "infGiB", "nanMiB", " 8GiB", "8 G iB"}) {
    EXPECT_EQ(message_of(text), fmt::format("--memory is \"{}\", must be a size such as 512MiB or 8GiB", text));
  }
  EXPECT_NE(message_of("1e9TiB").find("more than any machine has"), std::string::npos) << message_of("1e9TiB");
}

TEST(FormatSize, ThreeDigitsThatCount) {
  EXPECT_EQ(format_size(0), "0.00 KiB");
  EXPECT_EQ(format_size(812 * 1024), "812 KiB");
  EXPECT_EQ(format_size(1023 * 1024), "1.00 MiB");
  EXPECT_EQ(format_size(96 * kMiB + kMiB / 2), "96.5 MiB");
  EXPECT_EQ(format_size(1280 * kMiB), "1.25 GiB");
  EXPECT_EQ(format_size(5000 * 1024 * kMiB), "4.88 TiB");
}

// A made-up system: files below a folder.
class MachineTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  std::optional<uint64_t> available() const { return available_memory(folder_.path()); }

  test_support::TemporaryFolder folder_;
};

TEST_F(MachineTest, WithoutLimitsTheMachineDecides) {
  EXPECT_EQ(available(), std::nullopt) << "nothing is known";
  write("proc/meminfo", "MemTotal: 8192 kB\nMemAvailable:    4096 kB\n");
  EXPECT_EQ(available(), 4 * kMiB);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(available(), 4 * kMiB);
}

TEST_F(MachineTest, TheTightestGroupOfVersion2Decides) {
  write("proc/meminfo", "MemAvailable: 1048576 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", std::to_string(100 * kMiB));
  write("sys/fs/cgroup/outer/memory.current", std::to_string(40 * kMiB));
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(available(), 60 * kMiB);
  write("sys/fs/cgroup/outer/memory.stat", fmt::format("anon 1\ninactive_file {}\n", 10 * kMiB));
  EXPECT_EQ(available(), 70 * kMiB) << "cached files give way";
  write("sys/fs/cgroup/outer/inner/memory.max", std::to_string(5 * kMiB));
  write("sys/fs/cgroup/outer/inner/memory.current", std::to_string(6 * kMiB));
  EXPECT_EQ(available(), 0U) << "above its limit";
}

TEST_F(MachineTest, AGroupOfVersion1MayBeSeenAtItsTop) {
  write("proc/meminfo", "MemAvailable: 1048576 kB\n");
  write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/0acf\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(64 * kMiB));
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(16 * kMiB));
  EXPECT_EQ(available(), 48 * kMiB);
}

TEST(Resident, GrowsWithMemoryThatIsTouchedAndThePeakStays) {
  const uint64_t before = resident_memory();
  {
    const std::string block(64 * kMiB, 'x');
    EXPECT_GT(resident_memory(), before + 60 * kMiB);
    EXPECT_EQ(block.back(), 'x');
  }
  EXPECT_GT(peak_resident_memory(), before + 60 * kMiB);
}

TEST(Resident, FreeMemoryBelowASmallBufferIsReturned) {
  constexpr size_t kBlock = size_t{16} << 10;  // small enough for the heap
  std::vector<std::string> blocks;
  for (size_t bytes = 0; bytes < 64 * kMiB; bytes += kBlock) {
    blocks.emplace_back(kBlock, 'x');
  }
  const uint64_t full = resident_memory();
  blocks.erase(blocks.begin(), blocks.end() - 1);
  return_free_memory();
  if (std::getenv("ASAN_OPTIONS") == nullptr && std::getenv("TSAN_OPTIONS") == nullptr) {  // which keep it
    EXPECT_LT(resident_memory() + 60 * kMiB, full);
  }
  EXPECT_EQ(blocks.front(), std::string(kBlock, 'x'));
}

}  // namespace
}  // namespace dragoman::base
