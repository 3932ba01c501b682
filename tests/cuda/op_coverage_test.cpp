// Every op of src/ops has a case that runs on a GPU, or on its emulation.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace dragoman::ops {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns: the functions of a header that give variables, and that `cases` does not call.
std::vector<std::string> ops_without_case(const std::string& header, const std::string& cases) {
  static const std::regex kOp(R"((?:^|\n)(?:\[\[nodiscard\]\] )?(?:std::vector<Variable>|Variable|\w+Result) (\w+)\()");
  std::vector<std::string> missing;
  for (std::sregex_iterator op(header.begin(), header.end(), kOp), end; op != end; ++op) {
    const std::string name = (*op)[1];
    if (cases.find("ops::" + name + "(") == std::string::npos &&
        cases.find("return " + name + "(") == std::string::npos) {
      missing.push_back(name);
    }
  }
  return missing;
}

TEST(CudaOpCoverage, EveryOpHasACase) {
  const std::filesystem::path here = DRAGOMAN_TEST_DATA;
  std::string cases;
  for (const char* name : {"op_cases.h", "more_op_cases.h", "ops_test.cpp", "../ops/recurrent_cases.h"}) {
    cases += text_of(here / name);
  }
  std::vector<std::string> missing;
  size_t headers = 0;
  for (const auto& file : std::filesystem::directory_iterator(here / "../../src/ops")) {
    if (file.path().extension() == ".h") {
      const std::vector<std::string> more = ops_without_case(text_of(file.path()), cases);
      missing.insert(missing.end(), more.begin(), more.end());
      ++headers;
    }
  }
  EXPECT_GT(headers, 20U);
  EXPECT_THAT(missing, testing::IsEmpty()) << "add a case to tests/cuda/op_cases.h";
}

TEST(CudaOpCoverage, AnOpWithoutACaseIsFound) {
  const std::string header =
      "namespace x {\nVariable here(const Variable& x);\nLossResult there(int y);\nTensor no(int);\n}";
  EXPECT_THAT(ops_without_case(header, "ops::here(in[0])"), testing::ElementsAre("there"));
  EXPECT_THAT(ops_without_case(header, "return there(1); ops::here(in[0])"), testing::IsEmpty());
}

}  // namespace
}  // namespace dragoman::ops
