#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;
using test_support::expect_error;

class Files : public ::testing::Test {
 protected:
  fs::path path(const char* name) const { return folder_.path() / name; }
  test_support::TemporaryFolder folder_;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{3} << 20}) {
    std::string content(size, 'x');
    content.append(1, '\0');
    write_file_atomic(path("a"), content);
    EXPECT_EQ(read_file(path("a")), content) << "size " << size;
    EXPECT_FALSE(fs::exists(path("a.tmp")));
  }
}

TEST_F(Files, KeepsTheModeOfAnExistingFile) {
  write_file_atomic(path("a"), "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  write_file_atomic(path("a"), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(Files, WritesThroughASymbolicLinkWithoutReplacingIt) {
  write_file_atomic(path("target"), "old");
  fs::create_symlink(path("target"), path("link"));
  write_file_atomic(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(Files, WritesStraightIntoADevice) {
  write_file_atomic("/dev/null", "gone");
  EXPECT_FALSE(fs::exists("/dev/null.tmp"));
}

TEST_F(Files, PiecesStandAsideUntilTheFileIsWhole) {
  write_file_atomic(path("a"), "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink(path("a"), path("link"));
  std::ofstream(path("a.tmp")) << "left by a writer that was killed, and longer than what comes now";
  std::string expected;
  {
    FileWriter writer(path("link"));
    for (const size_t size : {size_t{0}, size_t{1}, size_t{5000}}) {
      const std::string piece(size, static_cast<char>('a' + size % 7));
      writer.add(piece);
      expected += piece;
      EXPECT_EQ(read_file(path("a.tmp")), expected) << "a piece waits in memory";
      EXPECT_EQ(read_file(path("a")), "old");
    }
    writer.commit();
  }
  EXPECT_EQ(read_file(path("a")), expected);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_FALSE(fs::exists(path("a.tmp")));
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(Files, AFileThatNeverBecomesWholeLeavesNothing) {
  write_file_atomic(path("a"), "old");
  {
    FileWriter writer(path("a"));
    writer.add("half");
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_FALSE(fs::exists(path("a.tmp")));
}

TEST_F(Files, TwoWritersOfOneFileDoNotMix) {
  {
    FileWriter first(path("a"));
    first.add("first");
    expect_error(ErrorKind::kRuntime, {"/a: another process is writing it", "a.tmp"}, [&] { FileWriter(path("a")); });
    first.commit();
  }
  EXPECT_EQ(read_file(path("a")), "first");
  FileWriter second(path("a"));
  second.add("second");
  second.commit();
  EXPECT_EQ(read_file(path("a")), "second");
}

TEST_F(Files, ReadsAPipe) {
  const fs::path pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string content(3 << 20, 'p');
  std::thread writer([&] { std::ofstream(pipe) << content; });
  EXPECT_EQ(read_file(pipe), content);
  writer.join();
}

TEST_F(Files, ErrorsNameThePathAndTheRule) {
  expect_error(ErrorKind::kBadData, {"missing", "cannot open for reading", "No such file"},
               [&] { read_file(path("missing")); });
  expect_error(ErrorKind::kBadData, {folder_.path().string(), "is a directory"}, [&] { read_file(folder_.path()); });
  expect_error(ErrorKind::kBadData, {"/dev/zero", "not a regular file"}, [] { read_file("/dev/zero"); });
  write_file_atomic(path("large"), std::string(100, 'x'));
  expect_error(ErrorKind::kBadData, {"large", "has 100 bytes", "at most 99"}, [&] { read_file(path("large"), 99); });
  EXPECT_EQ(read_file(path("large"), 100).size(), 100U);
  expect_error(ErrorKind::kCannotWrite, {"no/such", "cannot open", "errno 2"},
               [&] { write_file_atomic(path("no/such"), "x"); });
  expect_error(ErrorKind::kCannotWrite, {folder_.path().string(), "is a directory"},
               [&] { write_file_atomic(folder_.path(), "x"); });
  expect_error(ErrorKind::kCannotWrite, {"no/such", "cannot open", "errno 2"}, [&] { FileWriter(path("no/such")); });
  expect_error(ErrorKind::kCannotWrite, {folder_.path().string(), "is a directory"},
               [&] { const FileWriter writer(folder_.path()); });
}

TEST_F(Files, SizeIsRefusedBeforeMemoryIsAsked) {
  std::ofstream(path("sparse")) << "x";
  fs::resize_file(path("sparse"), uint64_t{1} << 42);  // 4 TiB of nothing
  expect_error(ErrorKind::kBadData, {"sparse", "at most"}, [&] { read_file(path("sparse")); });
}

TEST_F(Files, TransientFailuresAreRetriedAndOthersAreNot) {
  const RetryPolicy policy{.tries = 4, .first_pause = std::chrono::milliseconds(1)};
  int calls = 0;
  const auto failing = [&](int times, int error) {
    calls = 0;
    return retry_transient(policy, [&, times, error] {
      return ++calls <= times ? WriteFailure{"write", error} : WriteFailure{};
    });
  };
  EXPECT_FALSE(failing(3, ENOSPC));
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(failing(4, EIO));
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(failing(1, EACCES));
  EXPECT_EQ(calls, 1);
}

// FIPS 180-4 examples, published by NIST.
TEST_F(Files, Sha256OfKnownTexts) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string million(1000000, 'a');
  EXPECT_EQ(sha256_hex(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::ofstream(path("million")) << million << million;
  EXPECT_EQ(sha256_file(path("million")), sha256_hex(million + million));
}

}  // namespace
}  // namespace dragoman::base
