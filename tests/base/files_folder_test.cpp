#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <span>

#include "base/checked_folder.h"
#include "base/files.h"
#include "base/folder_writer.h"
#include "base/published_folder.h"
#include "base/random.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "support/versioned_files.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;
using test_support::expect_error;
using test_support::version_in;

constexpr size_t kFileBytes = size_t{2} << 20;

void add_version(FolderWriter& writer, int version) {
  test_support::add_version(writer, version, kFileBytes);
}

int published_version(const fs::path& folder) {
  int version = -1;
  read_published(folder, [&](const CheckedFolder& files) { version = version_in(files); });
  return version;
}

class FilesFolder : public ::testing::Test {
 protected:
  fs::path step(int number) const { return root() / ("step-" + std::to_string(number)); }
  const fs::path& root() const { return temporary_.path(); }
  void write_step(int number) const {
    FolderWriter writer(step(number));
    add_version(writer, number);
    writer.commit();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(root())) {
      found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  test_support::TemporaryFolder temporary_;
};

TEST_F(FilesFolder, CommittedFolderIsWholeAndReadable) {
  write_step(3);
  EXPECT_EQ(version_in(CheckedFolder(step(3))), 3);
  EXPECT_EQ(names(), std::vector<std::string>{"step-3"});
}

TEST_F(FilesFolder, WithoutCommitNothingStays) {
  {
    FolderWriter writer(step(1));
    add_version(writer, 1);
    EXPECT_TRUE(fs::exists(root() / "step-1.tmp"));
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(FilesFolder, AFolderOfTheSameNameIsReplaced) {
  write_step(1);
  FolderWriter writer(step(1));
  writer.add("other", "content");
  writer.commit();
  EXPECT_EQ(CheckedFolder(step(1)).read("other"), "content");
  EXPECT_FALSE(CheckedFolder(step(1)).has("file0"));
  EXPECT_EQ(names(), std::vector<std::string>{"step-1"});
}

TEST_F(FilesFolder, BadNamesAreRefused) {
  FolderWriter writer(step(1));
  writer.add("a", "x");
  for (const char* name : {"a", "../a", "manifest.json", ".a", "b/c", ""}) {
    expect_error(ErrorKind::kRuntime, {"cannot add a file"}, [&] { writer.add(name, "y"); });
  }
}

TEST_F(FilesFolder, NewestValidIsFoundAndDamagedOnesAreNamed) {
  for (const int number : {2, 10, 9}) {
    write_step(number);
  }
  fs::create_directories(root() / "step-99.tmp");
  fs::create_directories(root() / "step-007");
  fs::create_directories(root() / "step-50");  // no manifest
  fs::resize_file(step(10) / "file1", 100);
  std::vector<std::string> refused;
  const auto newest = newest_valid_folder(root(), "step-", &refused);
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->number, 9);
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_NE(refused[0].find("step-50"), std::string::npos) << refused[0];
  EXPECT_NE(refused[1].find("step-10/file1"), std::string::npos) << refused[1];
  EXPECT_FALSE(newest_valid_folder(root() / "none", "step-").has_value());
}

TEST_F(FilesFolder, DamageIsNamed) {
  write_step(1);
  const fs::path file = step(1) / "file2";
  const std::string content = read_file(file);
  std::string streamed;
  const auto stream = [&](uint64_t left_out) {
    CheckedFolder(step(1)).stream("file2", [&](uint64_t size, const CheckedFolder::ReadNext& read) {
      streamed.assign(size - left_out, ' ');
      read(std::span(streamed).first(10));
      read(std::span(streamed).subspan(10));
    });
  };
  stream(0);
  EXPECT_EQ(streamed, content);
  expect_error(ErrorKind::kBadData, {file.native(), "has more than its"}, [&] { stream(1); });
  std::string flipped = content;
  flipped[1000] ^= 1;
  write_file_atomic(file, flipped);
  expect_error(ErrorKind::kBadData, {file.native(), "SHA-256 is", "the manifest says"},
               [&] { CheckedFolder(step(1)).read("file2"); });
  expect_error(ErrorKind::kBadData, {file.native(), "SHA-256 is"}, [&] { CheckedFolder(step(1)).verify(); });
  expect_error(ErrorKind::kBadData, {file.native(), "SHA-256 is"}, [&] { stream(0); });
  write_file_atomic(file, content + "x");
  expect_error(ErrorKind::kBadData, {file.native(), "bytes, the manifest says"},
               [&] { CheckedFolder(step(1)).read("file2"); });
  expect_error(ErrorKind::kBadData, {file.native(), "bytes, the manifest says"}, [&] { stream(0); });
  fs::remove(file);
  expect_error(ErrorKind::kBadData, {file.native(), "No such file"}, [&] { CheckedFolder(step(1)).read("file2"); });
  expect_error(ErrorKind::kBadData, {"file9", "not listed"}, [&] { CheckedFolder(step(1)).read("file9"); });
  fs::create_directory(file);
  expect_error(ErrorKind::kBadData, {file.native(), "is a directory"}, [&] { CheckedFolder(step(1)).read("file2"); });
}

TEST_F(FilesFolder, LinksAndPipesAreRefusedWithoutBeingOpened) {
  write_step(1);
  const fs::path file = step(1) / "file2";
  write_file_atomic(root() / "outside", read_file(file));
  fs::remove(file);
  fs::create_symlink("../outside", file);
  expect_error(ErrorKind::kBadData, {file.native(), "symbolic link"}, [&] { CheckedFolder(step(1)).verify(); });
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_error(ErrorKind::kBadData, {file.native(), "not a regular file"}, [&] { CheckedFolder(step(1)).verify(); });
  fs::rename(step(1) / kManifestName, root() / "manifest");
  fs::create_symlink("../manifest", step(1) / kManifestName);
  expect_error(ErrorKind::kBadData, {"manifest.json", "symbolic link"}, [&] { const CheckedFolder folder(step(1)); });
}

TEST_F(FilesFolder, NoManifestAndNoFolderAreNamed) {
  expect_error(ErrorKind::kBadData, {root().native(), "has no manifest.json"},
               [&] { const CheckedFolder folder(root()); });
  expect_error(ErrorKind::kBadData, {"/no/such", "cannot open as a folder"},
               [] { const CheckedFolder folder("/no/such"); });
}

TEST_F(FilesFolder, RecoveryKeepsCompleteFoldersAndRemovesTheRest) {
  write_step(1);
  fs::rename(step(1), root() / "step-1.tmp");  // killed just before the rename
  write_step(2);
  fs::create_directories(root() / "step-2.tmp");
  write_file_atomic(root() / "step-2.tmp" / "file0", "half");
  fs::create_directories(root() / "step-3.tmp");
  recover_folders(root());
  EXPECT_EQ(names(), (std::vector<std::string>{"step-1", "step-2"}));
  EXPECT_EQ(version_in(CheckedFolder(step(1))), 1);
  recover_folders(root() / "none");
}

TEST_F(FilesFolder, RemovedFolderLeavesNothing) {
  write_step(1);
  remove_folder(step(1));
  EXPECT_TRUE(names().empty());
}

TEST_F(FilesFolder, PublishedFilesReplaceEachOtherAndLeaveOthersAlone) {
  write_file_atomic(root() / "metrics.jsonl", "kept");
  publish_files(root(), [](FolderWriter& writer) {
    add_version(writer, 1);
    writer.add("old.spm", "x");
  });
  EXPECT_EQ(published_version(root()), 1);
  publish_files(root(), [](FolderWriter& writer) { add_version(writer, 2); });
  EXPECT_EQ(published_version(root()), 2);
  EXPECT_EQ(names(), (std::vector<std::string>{"file0", "file1", "file2", "manifest.json", "metrics.jsonl"}));
}

TEST_F(FilesFolder, DamageInAPublishedFileIsAnError) {
  publish_files(root(), [](FolderWriter& writer) { add_version(writer, 1); });
  fs::resize_file(root() / "file1", 10);
  expect_error(ErrorKind::kBadData, {"file1", "has 10 bytes"}, [&] { published_version(root()); });
}

TEST_F(FilesFolder, ReadersSeeWholeVersionsWhileAWriterPublishes) {
  publish_files(root(), [](FolderWriter& writer) { add_version(writer, 1); });
  // A future waits for its thread also when a reader throws, and hands on what the writer throws.
  std::future<void> writer = std::async(std::launch::async, [&] {
    for (int version = 2; version <= 12; ++version) {
      publish_files(root(), [version](FolderWriter& to) { add_version(to, version); });
    }
  });
  int last = 1, reads = 0;
  for (; writer.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++reads) {
    const int version = published_version(root());
    EXPECT_GE(version, last) << "a reader went back in time";
    last = version;
  }
  writer.get();
  EXPECT_GT(reads, 0);
  EXPECT_EQ(published_version(root()), 12);
}

/// Starts `write` in a child, kills it after a random part of `span_us`, and says whether it was still at work. Fits
/// the span to the speed of the machine, so that most kills fall inside the write.
bool kill_while(const std::function<void()>& write, uint64_t& span_us, Random& random) {
  const pid_t child = ::fork();
  if (child == 0) {
    write();
    ::_exit(0);
  }
  ::usleep(static_cast<useconds_t>(random.below(span_us)));  // the random moment
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  span_us = WIFSIGNALED(status) ? span_us * 51 / 50 + 1 : span_us * 9 / 10 + 1;
  return WIFSIGNALED(status);
}

uint64_t microseconds(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  const auto taken = std::chrono::steady_clock::now() - start;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
}

TEST_F(FilesFolder, KilledAtFiftyMomentsAWholeCheckpointStays) {
  Random random(1706);
  uint64_t span = microseconds([&] { write_step(1); }) * 5 / 4;
  int newest = 1, cut_short = 0;
  for (int number = 2; number <= 51; ++number) {
    cut_short += kill_while([&] { write_step(number); }, span, random) ? 1 : 0;
    recover_folders(root());
    const auto found = newest_valid_folder(root(), "step-");
    ASSERT_TRUE(found.has_value()) << "after kill " << number;
    EXPECT_TRUE(found->number == newest || found->number == number) << found->number << ", newest was " << newest;
    newest = static_cast<int>(found->number);
    EXPECT_EQ(version_in(CheckedFolder(found->path)), newest);
    for (const std::string& name : names()) {
      EXPECT_FALSE(name.ends_with(".tmp")) << name << " stays after recovery";
    }
    for (const NumberedFolder& folder : numbered_folders(root(), "step-")) {
      if (folder.number != newest) {
        fs::remove_all(folder.path);
      }
    }
  }
  RecordProperty("killed_inside_the_write", cut_short);
  EXPECT_GE(cut_short, 25) << "too few kills fell inside the write to prove anything";
}

TEST_F(FilesFolder, KilledAtFiftyMomentsAWholeModelStaysReadable) {
  Random random(762);
  const auto publish = [&](int version) { publish_files(root(), [=](FolderWriter& to) { add_version(to, version); }); };
  uint64_t span = microseconds([&] { publish(1); }) * 5 / 4;
  int last = 1, cut_short = 0;
  for (int version = 2; version <= 51; ++version) {
    cut_short += kill_while([&] { publish(version); }, span, random) ? 1 : 0;
    // A reader, before any writer tidied up. A set that was complete when its writer died may show up later.
    const int seen = published_version(root());
    EXPECT_TRUE(last <= seen && seen <= version) << "read " << seen << ", published " << last << " to " << version;
    last = seen;
    if (version % 2 == 0) {
      finish_publication(root());
      EXPECT_GE(published_version(root()), last);
      last = published_version(root());
      EXPECT_EQ(names(), (std::vector<std::string>{"file0", "file1", "file2", "manifest.json"}));
    }
  }
  EXPECT_GE(cut_short, 25) << "too few kills fell inside the write to prove anything";
}

}  // namespace
}  // namespace dragoman::base
