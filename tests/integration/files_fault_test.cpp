#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/published_folder.h"
#include "support/temporary_folder.h"
#include "support/versioned_files.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotWriteStatus = 74;

class FilesFault : public ::testing::Test {
 protected:
  // Hundreds of runs with some twenty fsyncs each: memory answers them at once, and the faults are the same.
  static void SetUpTestSuite() {
    if (fs::is_directory("/dev/shm")) {
      ::setenv("TMPDIR", "/dev/shm", 0);
    }
  }
};

struct Fault {
  std::string call;
  int error = 0;
  bool keeps = false;
  bool is_short = false;
  std::string to_string() const {
    return call + " errno " + std::to_string(error) + (keeps ? " for ever" : " once") + (is_short ? " short" : "");
  }
};

struct Outcome {
  int status = 0;
  std::string text;    ///< what it wrote to stderr
  bool fired = false;  ///< whether the k-th call came at all
};

/// Runs the writer of version 2 in `folder` with the k-th call failing.
Outcome run_with(const Fault& fault, int k, const fs::path& folder, const fs::path& logs) {
  const fs::path fired = logs / "fired", errors = logs / "stderr";
  fs::remove(fired);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LD_PRELOAD", DRAGOMAN_FAIL_IO, 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    ::setenv("FAIL_IO_CALL", fault.call.c_str(), 1);
    ::setenv("FAIL_IO_AT", std::to_string(k).c_str(), 1);
    ::setenv("FAIL_IO_ERRNO", std::to_string(fault.error).c_str(), 1);
    ::setenv("FAIL_IO_KEEP", fault.keeps ? "1" : "0", 1);
    ::setenv("FAIL_IO_SHORT", fault.is_short ? "1" : "0", 1);
    ::setenv("FAIL_IO_UNDER", folder.c_str(), 1);
    ::setenv("FAIL_IO_LOG", fired.c_str(), 1);
    ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    ::execl(DRAGOMAN_CHECKPOINT_WRITER, "checkpoint_writer", folder.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
          .text = read_file(errors),
          .fired = fs::exists(fired)};
}

void write_version_1(const fs::path& folder) {
  FolderWriter writer(folder / "checkpoints" / "step-1");
  test_support::add_version(writer, 1);
  writer.commit();
  publish_files(folder, [](FolderWriter& top) { test_support::add_version(top, 1); });
}

int published_version(const fs::path& folder) {
  int version = -1;
  read_published(folder, [&](const CheckedFolder& files) { version = test_support::version_in(files); });
  return version;
}

/// After any failure: a whole model at the top, step-1 untouched, and a next run that needs no help.
void expect_nothing_lost(const fs::path& folder, const fs::path& logs) {
  EXPECT_EQ(test_support::version_in(CheckedFolder(folder / "checkpoints" / "step-1")), 1);
  EXPECT_GE(published_version(folder), 1);
  EXPECT_TRUE(newest_valid_folder(folder / "checkpoints", "step-").has_value());
  const Outcome again = run_with({.call = "none"}, 0, folder, logs);
  EXPECT_EQ(again.status, 0) << again.text;
  EXPECT_EQ(published_version(folder), 2);
  EXPECT_EQ(newest_valid_folder(folder / "checkpoints", "step-")->number, 2);
  EXPECT_FALSE(fs::exists(folder / "checkpoints" / "step-2.tmp"));
}

/// k = 1, 2, 3, ... until a run in which no fault fires.
int loop_over_faults(const Fault& fault, int expected_status) {
  SCOPED_TRACE(fault.to_string());
  for (int k = 1; k < 200; ++k) {
    const test_support::TemporaryFolder folder, logs;
    write_version_1(folder.path());
    const Outcome outcome = run_with(fault, k, folder.path(), logs.path());
    SCOPED_TRACE("k = " + std::to_string(k) + ": " + outcome.text);
    if (!outcome.fired) {
      EXPECT_EQ(outcome.status, 0);
      return k - 1;
    }
    EXPECT_EQ(outcome.status, expected_status);
    if (expected_status == kCannotWriteStatus) {
      EXPECT_NE(outcome.text.find(folder.path()), std::string::npos) << "the message names the path";
      EXPECT_NE(outcome.text.find("errno " + std::to_string(fault.error)), std::string::npos);
    } else {
      EXPECT_EQ(published_version(folder.path()), 2);
    }
    expect_nothing_lost(folder.path(), logs.path());
  }
  ADD_FAILURE() << "still failing after 200 calls";
  return 0;
}

TEST_F(FilesFault, WhatPassesIsRetriedAndTheRunSucceeds) {
  for (const int error : {ENOSPC, EIO, EDQUOT}) {
    for (const char* call : {"write", "fsync", "rename", "close", "open"}) {
      EXPECT_GE(loop_over_faults({.call = call, .error = error}, 0), 3) << call;
    }
  }
  EXPECT_GE(loop_over_faults({.call = "link", .error = EIO}, 0), 3);
}

TEST_F(FilesFault, WhatStaysIsAnErrorAndNothingIsLost) {
  for (const int error : {ENOSPC, EIO}) {
    for (const char* call : {"write", "fsync", "rename", "open", "link"}) {
      EXPECT_GE(loop_over_faults({.call = call, .error = error, .keeps = true}, kCannotWriteStatus), 3) << call;
    }
  }
}

// close fails for reading too, where it does not matter, so only some of the runs must fail; none may lose anything.
TEST_F(FilesFault, CloseThatKeepsFailingIsAnError) {
  const test_support::TemporaryFolder folder, logs;
  write_version_1(folder.path());
  const Outcome outcome = run_with({.call = "close", .error = EIO, .keeps = true}, 1, folder.path(), logs.path());
  EXPECT_EQ(outcome.status, kCannotWriteStatus) << outcome.text;
  expect_nothing_lost(folder.path(), logs.path());
}

TEST_F(FilesFault, ShortWritesAreContinued) {
  const Fault fault{.call = "write", .error = 0, .keeps = true, .is_short = true};
  EXPECT_EQ(loop_over_faults(fault, 0), 9);
}

// A file system without hard links takes copies instead.
TEST_F(FilesFault, WithoutHardLinksFilesAreCopied) {
  const test_support::TemporaryFolder folder, logs;
  write_version_1(folder.path());
  const Outcome outcome = run_with({.call = "link", .error = EPERM, .keeps = true}, 1, folder.path(), logs.path());
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_TRUE(outcome.fired);
  EXPECT_EQ(published_version(folder.path()), 2);
}

TEST_F(FilesFault, FullFileSystem) {
  const test_support::TemporaryFolder mount, logs;
  if (::mount("tmpfs", mount.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  }
  write_version_1(mount.path());  // 3 x 4 KiB twice, and manifests: the next 24 KiB do not fit any more
  const std::string filler(4096, 'f');
  for (int i = 0; i < 16; ++i) {
    try {
      write_file_atomic(mount.path() / ("filler" + std::to_string(i)), filler, {.tries = 1});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCannotWrite) << error.what();
      break;
    }
  }
  const Outcome outcome = run_with({.call = "none"}, 0, mount.path(), logs.path());
  EXPECT_EQ(outcome.status, kCannotWriteStatus) << outcome.text;
  EXPECT_NE(outcome.text.find("errno 28"), std::string::npos) << outcome.text;
  EXPECT_EQ(published_version(mount.path()), 1);
  EXPECT_EQ(newest_valid_folder(mount.path() / "checkpoints", "step-")->number, 1);
  ::umount(mount.path().c_str());
}

}  // namespace
}  // namespace dragoman::base
