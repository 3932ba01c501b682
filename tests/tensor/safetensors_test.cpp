#include "tensor/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "support/expect_error.h"
#include "support/random_tensors.h"
#include "tensor/safetensors_header.h"

namespace dragoman::tensor {
namespace {

using test_support::bytes_of;
using test_support::expect_error;
using test_support::random_tensors;

void expect_equal(const NamedTensors& seen, const NamedTensors& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const Tensor& found = seen.at(name);
    EXPECT_EQ(found.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(found.shape(), tensor.shape()) << name;
    EXPECT_EQ(bytes_of(found), bytes_of(tensor)) << name;
  }
}

TEST(Safetensors, WhatIsWrittenIsReadBitForBit) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const NamedTensors tensors = random_tensors(seed);
    expect_equal(read_safetensors(make_safetensors(tensors).bytes(), "x"), tensors);
  }
}

// Wherever the file lies in memory: what is not aligned there is copied.
TEST(Safetensors, ViewsOfAFileInMemoryAreItsTensors) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const NamedTensors tensors = random_tensors(seed);
    const std::string file = make_safetensors(tensors).bytes();
    const auto begin = static_cast<int64_t>(seed % 5), size = static_cast<int64_t>(file.size());
    Tensor memory = Tensor::empty({begin + size}, DType::kInt8);
    std::copy(file.begin(), file.end(), memory.data<int8_t>() + begin);
    expect_equal(view_safetensors(memory.rows(begin, begin + size), "x"), tensors);
  }
}

// Of a file said to be of `size` bytes.
NamedTensors read_stream(const std::string& file, size_t size) {
  size_t at = 0;
  const auto read = [&](std::span<char> to) {
    base::check_data(at + to.size() <= file.size(), "x: ends");
    file.copy(to.data(), to.size(), at);
    at += to.size();
  };
  SafetensorsStream stream(size, read, "x");
  NamedTensors tensors;
  while (auto named = stream.next()) {
    tensors.insert(std::move(*named));
  }
  EXPECT_EQ(tensors.size(), stream.entries().size());
  EXPECT_EQ(at, size) << "all of it was read";
  return tensors;
}

TEST(Safetensors, AStreamGivesTheTensorsOfTheFile) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const NamedTensors tensors = random_tensors(seed);
    const std::string file = make_safetensors(tensors).bytes();
    expect_equal(read_stream(file, file.size()), tensors);
    for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, file.size() / 2, file.size() - 1}) {
      EXPECT_THROW(read_stream(file.substr(0, size), size), base::Error) << size << " of " << file.size();
      EXPECT_THROW(read_stream(file.substr(0, size), file.size()), base::Error) << size << " of " << file.size();
    }
    EXPECT_THROW(read_stream(file + "x", file.size() + 1), base::Error);
  }
}

TEST(Safetensors, SameTensorsGiveTheSameBytes) {
  EXPECT_EQ(make_safetensors(random_tensors(5)).bytes(), make_safetensors(random_tensors(5)).bytes());
}

TEST(Safetensors, DataIsAlignedToItsElements) {
  NamedTensors tensors;
  tensors["a"] = Tensor::zeros({3}, DType::kInt8);
  tensors["b"] = Tensor::zeros({3}, DType::kBFloat16);
  tensors["c"] = Tensor::zeros({3}, DType::kFloat32);
  tensors["d"] = Tensor::zeros({3}, DType::kFloat64);
  const SafetensorsImage image = make_safetensors(tensors, {{"format", "dragoman"}});
  const SafetensorsHeader header = parse_safetensors_header(image.bytes(), "x");
  EXPECT_EQ(header.data_begin % 8, 0U);
  EXPECT_EQ(header.metadata.at("format"), "dragoman");
  std::string order;
  for (const SafetensorsEntry& entry : header.entries) {
    order += entry.name;
    EXPECT_EQ(entry.begin % dtype_bytes(tensors.at(entry.name).dtype()), 0U) << entry.name;
  }
  EXPECT_EQ(order, "dcba");
}

TEST(Safetensors, StridedViewsAreWrittenDense) {
  const Tensor matrix = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const NamedTensors read = read_safetensors(make_safetensors({{"v", matrix.columns(1, 3)}}).bytes(), "x");
  EXPECT_EQ(read.at("v").to_vector<float>(), (std::vector<float>{2, 3, 5, 6}));
}

template <typename T>
void plant_in_each_place(T bad) {
  for (int64_t size : {1, 7, 1024, 1025, 5000}) {
    for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
      Tensor tensor = Tensor::zeros({size}, DTypeOf<T>::value);
      tensor.data<T>()[at] = bad;
      EXPECT_EQ(first_non_finite(tensor), at) << "size " << size;
      const NamedTensors tensors{{"good", Tensor::zeros({2})}, {"w.bad", tensor}};
      const std::string place = "element " + std::to_string(at) + " is";
      expect_error(base::ErrorKind::kRuntime, {"w.bad", place}, [&] { make_safetensors(tensors); });
      const std::string file = make_safetensors(tensors, {}, FiniteCheck::kNo).bytes();
      expect_error(base::ErrorKind::kBadData, {"m.safetensors", "w.bad", place},
                   [&] { read_safetensors(file, "m.safetensors"); });
      EXPECT_NO_THROW(read_safetensors(file, "x", FiniteCheck::kNo));
    }
  }
}

TEST(Safetensors, OneValueThatIsNotFiniteIsFoundAnywhere) {
  plant_in_each_place<float>(std::numeric_limits<float>::quiet_NaN());
  plant_in_each_place<float>(-std::numeric_limits<float>::infinity());
  plant_in_each_place<double>(std::numeric_limits<double>::infinity());
  plant_in_each_place<BFloat16>(BFloat16{0x7FC0});
  plant_in_each_place<BFloat16>(BFloat16{0xFF80});
  EXPECT_EQ(first_non_finite(Tensor::full({9}, std::numeric_limits<float>::max())), -1);
  EXPECT_EQ(first_non_finite(Tensor::full({9}, -1, DType::kInt32)), -1);
}

TEST(Safetensors, HalfPrecisionIsWidenedExactly) {
  const std::string header =
      safetensors_header_bytes({{.name = "h", .dtype = "F16", .shape = {8}, .begin = 0, .end = 16}}, {});
  const std::vector<uint16_t> bits{0x0000, 0x8000, 0x3C00, 0xC000, 0x7BFF, 0x0001, 0x03FF, 0x3555};
  const std::string data(reinterpret_cast<const char*>(bits.data()), 16);
  const Tensor tensor = read_safetensors(header + data, "x").at("h");
  const std::vector<float> expected{0.0F, -0.0F, 1.0F, -2.0F, 65504.0F, 0x1p-24F, 1023 * 0x1p-24F, 0.333251953125F};
  EXPECT_EQ(tensor.to_vector<float>(), expected);
  EXPECT_TRUE(std::signbit(tensor.data<float>()[1]));
}

TEST(Safetensors, EmptyTensorsAreNotWritten) {
  expect_error(base::ErrorKind::kRuntime, {"'e' is empty"}, [] { make_safetensors({{"e", Tensor::zeros({0, 3})}}); });
  expect_error(base::ErrorKind::kRuntime, {"'e' is empty"}, [] { make_safetensors({{"e", Tensor()}}); });
}

}  // namespace
}  // namespace dragoman::tensor
