#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "support/markup_check.h"
#include "support/temporary_folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Installs the build, builds examples/ against what was installed with warnings as errors, and runs each.
class Examples : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<test_support::TemporaryFolder>();
    shell(kCMake + "--install '" DRAGOMAN_BUILD "' --prefix prefix");
    configure("examples", "build", "-DCMAKE_CXX_FLAGS=-Werror -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON");
    built_ = shell(kCMake + "--build build") == 0;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  void SetUp() override { ASSERT_TRUE(built_) << read("log"); }

  // Configures a project of the repository that uses what was installed.
  static int configure(const std::string& project, const std::string& build, const std::string& flags) {
    return shell(kCMake + "-S '" DRAGOMAN_SOURCE "/" + project + "' -B " + build +
                 " -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" -DCMAKE_CXX_COMPILER='" DRAGOMAN_COMPILER
                 "' -DCMAKE_CXX_COMPILER_LAUNCHER='" DRAGOMAN_LAUNCHER "' " +
                 flags);
  }

  // Runs a command in the folder; its output goes to "log".
  static int shell(const std::string& command) {
    const int status = std::system(("cd '" + folder_->path().string() + "' && " + command + " >log 2>&1").c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << read("log");
    return status;
  }

  static std::string read(const std::string& name) {
    std::ifstream file(folder_->path() / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // The number that the one group of `pattern` finds; NaN if it finds nothing.
  static double number(const std::string& text, const std::string& pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? std::stod(match[1]) : std::nan("");
  }

  static inline const std::string kCMake = "'" DRAGOMAN_CMAKE "' ";
  static std::unique_ptr<test_support::TemporaryFolder> folder_;
  static bool built_;
};

std::unique_ptr<test_support::TemporaryFolder> Examples::folder_;
bool Examples::built_ = false;

TEST_F(Examples, TheInstalledProgramRuns) {
  shell("prefix/bin/dragoman --version");
  EXPECT_NE(read("log").find('.'), std::string::npos) << read("log");
}

TEST_F(Examples, TheManualAndTheCompletionsAreInstalled) {
  for (const char* page : {"man/man1/dragoman.1", "man/man1/dragoman-train.1", "bash-completion/completions/dragoman",
                           "zsh/site-functions/_dragoman", "fish/vendor_completions.d/dragoman.fish"}) {
    EXPECT_GT(fs::file_size(folder_->path() / "prefix/share" / page), 1000U) << page;
  }
}

TEST_F(Examples, HeadersLieInTheirFolders) {
  for (const char* header : {"base/error.h", "ops/attention.h", "nn/multi_head_attention.h", "training/trainer.h"}) {
    EXPECT_TRUE(fs::exists(folder_->path() / "prefix/include/dragoman" / header)) << header;
  }
}

TEST_F(Examples, HeadersIncludeEachOtherAsUsersDo) {
  configure("tests/integration/package", "headers", "-DDRAGOMAN_PREFIX=\"$PWD/prefix\"");
  shell(kCMake + "--build headers");
  // A machine with NVIDIA's headers does not notice that another one lacks them.
  shell("! grep -rlE '#include <(cuda|cublas|nccl)' prefix/include/dragoman");
}

TEST_F(Examples, PkgConfigIsEnough) {
  shell("pc=$(dirname \"$(find prefix -name dragoman.pc)\") && '" DRAGOMAN_COMPILER
        "' -std=c++20 -O1 -o by_hand '" DRAGOMAN_SOURCE
        "/examples/multi_head_attention.cpp' $(PKG_CONFIG_PATH=\"$pc\" pkg-config --cflags --libs dragoman) && "
        "./by_hand");
}

// A project in C alone finds libdragoman.so, by CMake and by pkg-config, and needs no library of the C++ headers.
TEST_F(Examples, ProjectsInCNeedTheSharedLibraryAlone) {
  std::ofstream(folder_->path() / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.24)\nproject(x C)\nfind_package(dragoman REQUIRED COMPONENTS c)\n"
         "add_executable(translate '" DRAGOMAN_SOURCE
         "/examples/c/translate.c')\n"
         "target_link_libraries(translate PRIVATE dragoman::c)\n";
  shell("sed -i \"s/'//g\" CMakeLists.txt");
  shell(kCMake + "-S . -B in_c -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" && " + kCMake + "--build in_c");
  shell("pc=$(dirname \"$(find prefix -name dragoman-c.pc)\") && cc -std=c99 -o c_by_hand '" DRAGOMAN_SOURCE
        "/examples/c/translate.c' $(PKG_CONFIG_PATH=\"$pc\" pkg-config --cflags --libs dragoman-c)");
  shell(
      "export LD_LIBRARY_PATH=$(dirname \"$(find prefix -name libdragoman.so)\"); "
      "for program in in_c/translate ./c_by_hand; do ! $program nothing </dev/null || exit 1; done");
  EXPECT_NE(read("log").find("translate: nothing"), std::string::npos) << read("log");
}

TEST_F(Examples, HeadersMayBeInstalledElsewhere) {
  shell(kCMake + "-S '" DRAGOMAN_SOURCE
                 "' -B elsewhere -G Ninja -DDRAGOMAN_TESTS=OFF -DCMAKE_INSTALL_INCLUDEDIR=headers");
  shell("cat $(find elsewhere/CMakeFiles/Export -name dragoman-targets.cmake)");
  const std::string targets = read("log");
  EXPECT_NE(targets.find("${_IMPORT_PREFIX}/headers"), std::string::npos) << targets;
  EXPECT_EQ(targets.find("${_IMPORT_PREFIX}/include"), std::string::npos) << targets;
  shell(
      "grep -q 'prefix}/headers$' elsewhere/dragoman.pc && grep -qi 'prefix}/headers\"' elsewhere/cmake_install.cmake");
}

TEST_F(Examples, AProjectMayHaveItAsASubFolder) {
  configure("tests/integration/subproject", "sub", "-DDRAGOMAN_SOURCE='" DRAGOMAN_SOURCE "'");
}

TEST_F(Examples, ADifferentVersionIsNotTakenForThis) {
  std::ofstream(folder_->path() / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.24)\nproject(x CXX)\nfind_package(dragoman 99 QUIET)\n"
         "if(dragoman_FOUND)\nmessage(FATAL_ERROR \"found\")\nendif()\n";
  shell(kCMake + "-S . -B other -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/prefix\"");
}

TEST_F(Examples, MultiHeadAttention) {
  shell("build/multi_head_attention");
  std::istringstream output(read("log"));
  std::string line;
  std::getline(output, line);
  EXPECT_NE(line.find("query [64, 12, 300], key and value [64, 10, 300]"), std::string::npos) << line;
  EXPECT_NE(line.find("output [64, 12, 300]"), std::string::npos) << line;
  std::getline(output, line);
  const auto n_valid = static_cast<size_t>(number(line, "has ([0-9]+) of 10 keys"));
  ASSERT_GE(n_valid, 1U) << line;
  ASSERT_LT(n_valid, 10U) << "nothing is hidden, so nothing is shown: " << line;
  for (int query = 0; query < 12; ++query) {
    std::getline(output, line);
    std::istringstream weights(line);
    double sum = 0.0;
    for (size_t key = 0; key < 10; ++key) {
      double weight = -1.0;
      weights >> weight;
      sum += weight;
      EXPECT_EQ(weight > 0.0, key < n_valid) << "key " << key << " of " << n_valid << ": " << line;
    }
    EXPECT_NEAR(sum, 1.0, 0.006) << line;
    EXPECT_NE(line.find("sum 1.000000"), std::string::npos) << line;
  }
  std::getline(output, line);
  EXPECT_LE(number(line, "largest difference (.*)"), 1e-5) << line;
}

TEST_F(Examples, KernelRegression) {
  shell("build/kernel_regression fits.svg");
  const std::string output = read("log");
  const double first = number(output, "step   0 .* loss ([0-9.]+)");
  const double last = number(output, "step 200 .* loss ([0-9.]+)");
  EXPECT_LT(last, 0.6 * first) << output;
  EXPECT_LT(number(output, "learned width .* function ([0-9.]+)"),
            0.5 * number(output, "Gaussian, width 0.8 .* function ([0-9.]+)"))
      << output;
  const std::string svg = read("fits.svg");
  EXPECT_EQ(test_support::MarkupCheck::first_fault(svg), std::nullopt);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("href"), std::string::npos) << "refers to something outside";
  for (const char* name : {"box, width", "triangle, width", "Gaussian, width", "Gaussian, learned width"}) {
    EXPECT_NE(svg.find(name), std::string::npos) << name;
  }
}

TEST_F(Examples, TrainAndTranslate) {
  shell("build/train_and_translate out 120");
  const std::string first = read("log");
  EXPECT_NE(first.find("\nThe animal didn't cross the street because it was too tired.\n"), std::string::npos) << first;
  EXPECT_GT(number(first, "\nBLEU ([0-9.]+) nrefs:1"), 5.0) << first;
  for (const char* file : {"model.safetensors", "config.json", "manifest.json", "report.html", "metrics.jsonl"}) {
    EXPECT_TRUE(fs::exists(folder_->path() / "out/model" / file)) << file;
  }
  shell("build/train_and_translate out 120");
  EXPECT_EQ(number(read("log"), "\nBLEU ([0-9.]+) nrefs:1"), number(first, "\nBLEU ([0-9.]+) nrefs:1"));
}

TEST_F(Examples, TrainAndTranslateIsUnderSixtyLines) {
  std::ifstream file(DRAGOMAN_SOURCE "/examples/train_and_translate.cpp");
  const auto lines = std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  EXPECT_GT(lines, 0);
  EXPECT_LT(lines, 60);
}

}  // namespace
}  // namespace dragoman
