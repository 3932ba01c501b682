#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "support/expect_error.h"
#include "tensor/safetensors.h"
#include "tensor/safetensors_header.h"

namespace dragoman::tensor {
namespace {

using test_support::expect_error;

std::string length_bytes(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  }
  return bytes;
}

/// A file with this JSON text as header and that many bytes of data.
std::string file_of(const std::string& header, size_t data_bytes) {
  return length_bytes(header.size()) + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return R"({"a":)" + entry(shape, offsets, dtype) + "}";
}

/// Two float32 tensors of 4 bytes each at these offsets.
std::string two(const std::string& first, const std::string& second) {
  return R"({"a":)" + entry("[1]", first) + R"(,"b":)" + entry("[1]", second) + "}";
}

std::string metadata(const std::string& value) {
  return R"({"__metadata__":)" + value + R"(,"a":)" + entry("[1]", "[0,4]") + "}";
}

struct Case {
  std::string what;
  std::string file;
  std::string said;  ///< part of the message
};

std::vector<Case> length_cases() {
  const std::string good = file_of(one("[1]", "[0,4]"), 4);
  const std::string rest = good.substr(8);
  std::vector<Case> cases{{"empty file", "", "at least 8"},
                          {"7 bytes", "1234567", "at least 8"},
                          {"length only", length_bytes(0), "does not begin with '{'"},
                          {"length of 2^32", length_bytes(uint64_t{1} << 32) + rest, "at most 16777216"},
                          {"length of 2^31", length_bytes(uint64_t{1} << 31) + rest, "at most 16777216"},
                          {"length of 2^63", length_bytes(uint64_t{1} << 63) + rest, "at most 16777216"},
                          {"length of 2^64 - 1", length_bytes(~uint64_t{0}) + rest, "at most 16777216"},
                          {"length of 10^8 + 1", length_bytes(100000001) + rest, "at most 16777216"},
                          {"length of 2^64 - 8", length_bytes(~uint64_t{0} - 7) + rest, "at most 16777216"},
                          {"length one too many", length_bytes(rest.size() + 1) + rest, "the file holds"},
                          {"length of size - 7", length_bytes(good.size() - 7) + rest, "the file holds"},
                          {"length 1", length_bytes(1) + rest, "header"},
                          {"length 7", length_bytes(7) + rest, "header"}};
  return cases;
}

std::vector<Case> text_cases() {
  const std::string good = one("[1]", "[0,4]");
  std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  return {
      {"leading space", file_of(" " + good, 4), "does not begin with '{'"},
      {"array", file_of("[]", 0), "does not begin with '{'"},
      {"trailing newline", file_of(good + "\n", 4), "ends in something else"},
      {"trailing NUL", file_of(good + std::string(1, '\0'), 4), "ends in something else"},
      {"second object", file_of(good + good, 4), "byte"},
      {"invalid UTF-8", file_of("{\"\xFF\":1}", 0), "UTF-8"},
      {"cut JSON", file_of("{\"a\":{\"dtype\":\"F32\"}", 0), "byte"},
      {"deep nesting", file_of(deep, 0), "deeper than 3"},
      {"object in shape", file_of(one("[{\"x\":1}]", "[0,4]"), 4), "deeper than 3"},
      {"duplicate tensor", file_of(R"({"a":)" + entry("[1]", "[0,4]") + R"(,"a":)" + entry("[1]", "[4,8]") + "}", 8),
       "stands twice"},
      {"duplicate field", file_of(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4),
       "stands twice"},
      {"empty name", file_of(R"({"":)" + entry("[1]", "[0,4]") + "}", 4), "name has 0 bytes"},
      {"long name", file_of("{\"" + std::string(257, 'n') + "\":" + entry("[1]", "[0,4]") + "}", 4),
       "name has 257 bytes"},
      {"control character in name", file_of(R"({"a\nb":)" + entry("[1]", "[0,4]") + "}", 4), "control characters"},
      {"NUL in name", file_of(R"({"a\u0000b":)" + entry("[1]", "[0,4]") + "}", 4), "control characters"},
      {"direction override in name", file_of(R"({"a\u202eb":)" + entry("[1]", "[0,4]") + "}", 4), "control characters"},
      {"metadata is a list", file_of(metadata("[]"), 4), "__metadata__"},
      {"metadata is null", file_of(metadata("null"), 4), "__metadata__"},
      {"metadata holds a number", file_of(metadata(R"({"x":1})"), 4), "strings to strings"},
      {"metadata holds an object", file_of(metadata(R"({"x":{}})"), 4), "strings to strings"}};
}

std::vector<Case> field_cases() {
  return {
      {"tensor is a number", file_of(R"({"a":1})", 4), "exactly dtype"},
      {"no dtype", file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4), "exactly dtype"},
      {"no shape", file_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "exactly dtype"},
      {"no offsets", file_of(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "exactly dtype"},
      {"one field more", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
       "exactly dtype"},
      {"dtype is a number", file_of(R"({"a":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", 4), "exactly dtype"},
      {"unknown dtype", file_of(one("[1]", "[0,4]", "F33"), 4), "dtype 'F33'"},
      {"lower-case dtype", file_of(one("[1]", "[0,4]", "f32"), 4), "dtype 'f32'"},
      {"dtype that dragoman lacks", file_of(one("[1]", "[0,8]", "I64"), 8), "has dtype I64"},
      {"shape is a number", file_of(one("1", "[0,4]"), 4), "shape must be a list"},
      {"shape is negative", file_of(one("[-1]", "[0,4]"), 4), "shape holds -1"},
      {"shape is minus zero", file_of(one("[-0]", "[0,4]"), 4), "shape holds"},
      {"shape is 1.0", file_of(one("[1.0]", "[0,4]"), 4), "shape holds 1.0"},
      {"shape is 1e0", file_of(one("[1e0]", "[0,4]"), 4), "shape holds 1.0"},
      {"shape is true", file_of(one("[true]", "[0,4]"), 4), "shape holds true"},
      {"shape is a string", file_of(one("[\"1\"]", "[0,4]"), 4), "shape holds"},
      {"shape is 2^48", file_of(one("[281474976710656]", "[0,4]"), 4), "2^48 - 1"},
      {"shape is 2^53 + 1", file_of(one("[9007199254740993]", "[0,4]"), 4), "2^48 - 1"},
      {"shape is 2^64", file_of(one("[18446744073709551616]", "[0,4]"), 4), "shape holds"},
      {"17 axes", file_of(one("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), "at most 16"},
      {"5 axes", file_of(one("[1,1,1,1,1]", "[0,4]"), 4), "at most 4"},
      {"zero axis", file_of(one("[0]", "[0,0]"), 0), "empty tensors are refused"},
      {"zero axis among others", file_of(one("[3,0,2]", "[0,0]"), 0), "empty tensors are refused"},
      {"product wraps to 16 bytes", file_of(one("[4194305,4194305,211106198978564]", "[0,16]"), 16),
       "overflows 64 bits"},
      {"product wraps by one axis more", file_of(one("[16,281474976710655,65536]", "[0,32]"), 32), "overflows 64 bits"},
      {"half a byte", file_of(one("[1]", "[0,1]", "F4"), 1), "whole number of bytes"},
      {"bool of 2", file_of(one("[1]", "[0,1]", "BOOL"), 0) + "\x02", "other than 0 and 1"}};
}

std::vector<Case> offset_cases() {
  return {{"one offset", file_of(one("[1]", "[0]"), 4), "[begin, end]"},
          {"three offsets", file_of(one("[1]", "[0,4,8]"), 4), "[begin, end]"},
          {"begin after end", file_of(one("[1]", "[4,0]"), 4), "begin <= end"},
          {"negative begin", file_of(one("[1]", "[-4,0]"), 4), "data_offsets holds -4"},
          {"offsets as strings", file_of(one("[1]", "[\"0\",\"4\"]"), 4), "data_offsets holds"},
          {"offsets null", file_of(one("[1]", "null"), 4), "data_offsets must be a list"},
          {"end past 2^48", file_of(one("[1]", "[0,281474976710656]"), 4), "2^48 - 1"},
          {"span too short", file_of(one("[2]", "[0,4]"), 4), "is 8 bytes, data_offsets span 4"},
          {"span too long", file_of(one("[1]", "[0,8]"), 8), "is 4 bytes, data_offsets span 8"},
          {"data missing", file_of(one("[1]", "[0,4]"), 3), "need 4 bytes of data, the file holds 3"},
          {"no data", file_of(one("[1]", "[0,4]"), 0), "need 4 bytes of data"},
          {"trailing byte", file_of(one("[1]", "[0,4]"), 5), "the file holds 5"},
          {"far beyond the file", file_of(one("[1]", "[281474976710000,281474976710004]"), 4), "data begins at"},
          {"first begin is not 0", file_of(one("[1]", "[4,8]"), 8), "data begins at 4"},
          {"same place twice", file_of(two("[0,4]", "[0,4]"), 4), "data begins at 0"},
          {"overlap", file_of(two("[0,4]", "[2,6]"), 6), "data begins at 2"},
          {"hole", file_of(two("[0,4]", "[5,9]"), 9), "data begins at 5"},
          {"data without tensors", file_of("{}", 8), "the file holds 8"}};
}

TEST(SafetensorsMalformed, EveryHandMadeFileIsRefusedWithItsReason) {
  size_t count = 0;
  for (const auto& cases : {length_cases(), text_cases(), field_cases(), offset_cases()}) {
    for (const Case& malformed : cases) {
      SCOPED_TRACE(malformed.what);
      const auto start = std::chrono::steady_clock::now();
      const std::string text = expect_error(base::ErrorKind::kBadData, {"m/model.safetensors", malformed.said},
                                            [&] { read_safetensors(malformed.file, "m/model.safetensors"); });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      EXPECT_LT(seconds.count(), 1.0);
      EXPECT_LT(text.size(), 1200U);
      ++count;
    }
  }
  EXPECT_GE(count, 70U);
}

// The neighbours of the malformed files are fine: the rules refuse no more than they must.
TEST(SafetensorsMalformed, WellFormedNeighboursAreRead) {
  EXPECT_EQ(read_safetensors(file_of("{}", 0), "x").size(), 0U);
  EXPECT_EQ(read_safetensors(file_of(one("[1]", "[0,4]") + "     ", 4), "x").at("a").size(), 1);
  EXPECT_EQ(read_safetensors(file_of(one("[]", "[0,4]"), 4), "x").at("a").rank(), 0);
  EXPECT_EQ(read_safetensors(file_of(metadata(R"({"format":"pt"})"), 4), "x").size(), 1U);
  EXPECT_EQ(read_safetensors(file_of(two("[4,8]", "[0,4]"), 8), "x").size(), 2U);
  const std::string name(256, 'n');
  EXPECT_EQ(read_safetensors(file_of("{\"" + name + "\":" + entry("[1]", "[0,4]") + "}", 4), "x").count(name), 1U);
}

NamedTensors sample() {
  return {{"encoder.layers.0.weight", Tensor::full({4, 5}, 0.5)},
          {"encoder.layers.0.bias", Tensor::full({5}, 1)},
          {"scales", Tensor::full({3}, 2, DType::kBFloat16)},
          {"codes", Tensor::full({7}, 3, DType::kInt8)}};
}

TEST(SafetensorsMalformed, EveryCutIsRefused) {
  const std::string file = make_safetensors(sample(), {{"format", "dragoman"}}).bytes();
  for (size_t length = 0; length < file.size(); ++length) {
    expect_error(base::ErrorKind::kBadData, {"m"},
                 [&] { read_safetensors(std::string_view(file).substr(0, length), "m"); });
  }
}

// Whatever the bytes, there is a tensor map or an Error; run under the sanitizers this is the memory-safety test.
TEST(SafetensorsMalformed, RandomDamageNeverCrashes) {
  const std::string file = make_safetensors(sample(), {{"format", "dragoman"}}).bytes();
  base::Random random(20170612);
  int refused = 0;
  constexpr int kFiles = 20000;
  for (int i = 0; i < kFiles; ++i) {
    std::string damaged = file;
    for (uint64_t edits = 1 + random.below(4); edits-- > 0;) {
      const size_t at = random.below(damaged.size());
      switch (random.below(4)) {
        case 0:
          damaged[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          damaged.erase(at, 1 + random.below(4));
          break;
        case 2:
          damaged.insert(at, 1, "0123456789[]{},\":-"[random.below(18)]);
          break;
        default:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
          break;
      }
    }
    try {
      read_safetensors(damaged, "m");
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::kBadData) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, kFiles / 2);
}

}  // namespace
}  // namespace dragoman::tensor
