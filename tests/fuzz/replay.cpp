// Calls a fuzz target with the inputs that libFuzzer found worth keeping: a file with one input a line, in hexadecimal.
#include <gtest/gtest.h>

#include <fstream>

#include "fuzz.h"

namespace {

std::string from_hexadecimal(const std::string& line) {
  std::string bytes;
  for (size_t i = 0; i + 2 <= line.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace

// An input that breaks a rule ends the process.
TEST(FuzzCorpus, EveryInputKeepsTheRules) {
  std::ifstream file(DRAGOMAN_FUZZ_CORPUS);
  size_t inputs = 0;
  for (std::string line; std::getline(file, line); ++inputs) {
    const std::string input = from_hexadecimal(line);
    LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(input.data()), input.size());
  }
  EXPECT_GT(inputs, 0U) << DRAGOMAN_FUZZ_CORPUS;
}
