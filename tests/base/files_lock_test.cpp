#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/folder_lock.h"
#include "base/signals.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::base {
namespace {

using test_support::expect_error;

/// Runs `body` in a child process and returns how it ended: exit status, or 1000 + signal.
int run_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(FilesLock, SecondOwnerIsRefusedWithTheFirstOnesId) {
  const test_support::TemporaryFolder folder;
  const FolderLock first(folder.path());
  const std::string id = "in use by process " + std::to_string(::getpid());
  const int status = run_child([&] {
    try {
      const FolderLock second(folder.path());
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool speaks = text.find(id) != std::string::npos && text.find(folder.path()) != std::string::npos;
      ::_exit(speaks ? 7 : 8);
    }
  });
  EXPECT_EQ(status, 7) << "7 = refused naming folder and process, 8 = another text, 0 = let in";
}

TEST(FilesLock, IsFreeAgainHoweverTheOwnerEnded) {
  const test_support::TemporaryFolder folder;
  { const FolderLock lock(folder.path()); }
  const int status = run_child([&] {
    const FolderLock lock(folder.path());
    ::raise(SIGKILL);
  });
  EXPECT_EQ(status, 1000 + SIGKILL);
  EXPECT_NO_THROW({ const FolderLock again(folder.path()); });
}

TEST(FilesLock, MissingFolderIsAWriteError) {
  expect_error(ErrorKind::kCannotWrite, {"/no/such/folder", "errno 2"},
               [] { const FolderLock lock("/no/such/folder"); });
}

TEST(FilesSignals, FirstIsRememberedSecondEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int expected = 128 + signal;
    const int after_one = run_child([&] {
      const StopSignals signals;
      const bool before = signals.requested();
      ::raise(signal);
      ::_exit(!before && signals.requested() ? signals.exit_status() : 1);
    });
    EXPECT_EQ(after_one, expected);
    const int after_two = run_child([&] {
      const StopSignals signals;
      ::raise(signal);
      ::raise(signal);
      ::_exit(1);
    });
    EXPECT_EQ(after_two, expected);
  }
}

TEST(FilesSignals, HandlersComeBack) {
  const int status = run_child([] {
    { const StopSignals signals; }
    ::raise(SIGTERM);
  });
  EXPECT_EQ(status, 1000 + SIGTERM);
}

TEST(FilesSignals, WithoutUpdatesTheFirstEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = run_child([&] {
      const EndOnSignal end("ended\n");
      ::raise(signal);
      ::_exit(1);
    });
    EXPECT_EQ(status, 128 + signal);
  }
}

TEST(FilesSignals, StopSignalsTakeOverAndGiveBack) {
  const int status = run_child([] {
    const EndOnSignal end("ended\n");
    {
      const StopSignals signals;
      ::raise(SIGINT);
      if (!signals.requested()) {
        ::_exit(1);
      }
    }
    ::raise(SIGTERM);
    ::_exit(2);
  });
  EXPECT_EQ(status, 128 + SIGTERM);
}

TEST(FilesSignals, OneAtATime) {
  const StopSignals signals;
  EXPECT_FALSE(signals.requested());
  EXPECT_EQ(signals.exit_status(), 0);
  expect_error(ErrorKind::kRuntime, {"StopSignals exists already"}, [] { const StopSignals second; });
  const EndOnSignal end("ended\n");
  expect_error(ErrorKind::kRuntime, {"EndOnSignal exists already"}, [] { const EndOnSignal second("ended\n"); });
}

}  // namespace
}  // namespace dragoman::base
