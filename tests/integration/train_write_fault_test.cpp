#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/published_folder.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using test_support::BackgroundProgram;

constexpr int kCannotWrite = 74;

struct Fault {
  const char* call;
  int error;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.call << ", errno " << fault.error;
}

// The program itself on a failing disk: one run from step 1 to step 3, each step with a checkpoint and a new model.
class TrainWriteFault : public test_support::TrainingRuns, public testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {
    train(command("before", 1));
    train(command("straight", 3));
  }

  static std::string model_of(int k) { return "model" + std::to_string(k); }
  std::vector<std::string> command_of(int k) const { return command(path(model_of(k)), 3); }

  /// Starts a run whose k-th call of the kind fails, once or from then on, in a copy of the folder `before`.
  std::unique_ptr<BackgroundProgram> start(int k, bool keeps) const {
    const fs::path model = path(model_of(k));
    fs::copy(path("before"), model, fs::copy_options::recursive);
    return std::make_unique<BackgroundProgram>(
        program_.folder(), command_of(k),
        std::map<std::string, std::string>{{"LD_PRELOAD", DRAGOMAN_FAIL_IO},
                                           {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"},
                                           {"FAIL_IO_CALL", GetParam().call},
                                           {"FAIL_IO_AT", std::to_string(k)},
                                           {"FAIL_IO_ERRNO", std::to_string(GetParam().error)},
                                           {"FAIL_IO_KEEP", keeps ? "1" : "0"},
                                           {"FAIL_IO_UNDER", model},
                                           {"FAIL_IO_LOG", path("fired" + std::to_string(k))}});
  }

  bool fired(int k) const { return fs::exists(path("fired" + std::to_string(k))); }

  void expect_resumable(int k) const {
    EXPECT_GE(newest_step(model_of(k)), 1);
    EXPECT_NO_THROW(base::read_published(path(model_of(k)), [](const base::CheckedFolder& top) { top.verify(); }));
    train(command_of(k));
    expect_same_run(model_of(k), "straight", 3);
    EXPECT_EQ(leftovers(model_of(k)), std::vector<std::string>());
  }
};

TEST_P(TrainWriteFault, OneFailureIsSurvived) {
  int k = 1;
  for (;; k += 1 + k / 4) {  // the first calls one by one, later ones further apart
    const auto run = start(k, false);
    EXPECT_EQ(run->wait(), 0) << GetParam().call << " " << k << " fails once: " << run->errors();
    expect_same_run(model_of(k), "straight", 3);
    if (!fired(k)) {
      break;
    }
  }
  EXPECT_GE(k, 5) << "too few calls of this kind to show anything";
}

TEST_P(TrainWriteFault, ADiskThatStaysBrokenEndsTheRunAndLosesNothing) {
  std::map<int, std::unique_ptr<BackgroundProgram>> runs;  // side by side, as they mostly wait for another try
  for (const int k : {1, 2, 4, 7}) {
    runs[k] = start(k, true);
  }
  for (const auto& [k, run] : runs) {
    const int status = run->wait();
    SCOPED_TRACE(fmt::format("{} {} and all later ones fail: {}", GetParam().call, k, run->errors()));
    EXPECT_TRUE(fired(k));
    EXPECT_EQ(status, kCannotWrite);
    EXPECT_NE(run->errors().find(std::strerror(GetParam().error)), std::string::npos) << "expected the reason";
    EXPECT_NE(run->errors().find(path(model_of(k)).string()), std::string::npos) << "expected the file";
    expect_resumable(k);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, TrainWriteFault,
                         testing::Values(Fault{"write", ENOSPC}, Fault{"fsync", EIO}, Fault{"rename", ENOSPC},
                                         Fault{"close", EIO}, Fault{"open", ENOSPC}),
                         [](const auto& fault) { return std::string(fault.param.call); });

class TrainFullDisk : public test_support::TrainingRuns {};

TEST_F(TrainFullDisk, TheRunGoesOnOnceThereIsRoom) {
  fs::create_directory(path("disk"));
  if (::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "needs the right to mount a file system: " << std::strerror(errno);
  }
  BackgroundProgram run(program_.folder(), command("disk/model", 8, {{"keep-last", "100"}}));
  const int status = run.wait();
  const int64_t reached = newest_step("disk/model");
  EXPECT_EQ(status, kCannotWrite) << run.errors();
  EXPECT_NE(run.errors().find("No space left on device"), std::string::npos) << run.errors();
  EXPECT_GE(reached, 1);
  EXPECT_EQ(::mount("tmpfs", path("disk").c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  train(command("disk/model", 8, {{"keep-last", "100"}}));
  train(command("straight", 8, {{"keep-last", "100"}}));
  expect_same_run("disk/model", "straight", 8);
  ::umount(path("disk").c_str());
}

}  // namespace
}  // namespace dragoman
