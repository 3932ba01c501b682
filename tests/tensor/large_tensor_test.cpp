// Tensors above 2^31 elements. Memory that is never written costs nothing, so only a few pages of them are.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/memory.h"
#include "tensor/safetensors.h"
#include "tensor/safetensors_header.h"
#include "tensor/tensor.h"

namespace dragoman::tensor {
namespace {

constexpr int64_t kSide = int64_t{1} << 16;  // a square of 2^32 elements

class LargeTensor : public testing::Test {
 protected:
  // In an arena of its own, which goes away. Systems that promise no more memory than they have may refuse.
  void SetUp() override {
    try {
      square_ = Tensor::empty({kSide, kSide}, DType::kBool);
    } catch (const base::Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    EXPECT_LT(base::resident_memory(), before_ + (uint64_t{200} << 20)) << "the test is to touch little memory";
  }

  uint64_t before_ = base::resident_memory();
  ArenaScope arena_{std::make_shared<Arena>()};
  Tensor square_;
};

TEST_F(LargeTensor, TheLastElementIsWhereItShouldBe) {
  EXPECT_EQ(square_.size(), int64_t{1} << 32);
  square_.rows(kSide - 1, kSide).fill(1);
  EXPECT_TRUE(square_.data<bool>()[(int64_t{1} << 32) - 1]);
  EXPECT_FALSE(square_.data<bool>()[(int64_t{1} << 32) - 1 - kSide]) << "the row before";
  EXPECT_FALSE(square_.data<bool>()[kSide - 1]) << "a place that 32 bits would mistake for it";
  EXPECT_EQ(square_.raw_data(), square_.rows(0, 1).raw_data());
  const auto distance = static_cast<const char*>(square_.rows(kSide - 1, kSide).raw_data()) -
                        static_cast<const char*>(square_.raw_data());
  EXPECT_EQ(distance, (kSide - 1) * kSide);
}

TEST_F(LargeTensor, ViewsCopiesAndConversionsReachTheEnd) {
  Tensor corner = square_.columns(kSide - 3, kSide).rows(kSide - 2, kSide);
  const std::vector<bool> pattern = {true, false, true, false, true, true};
  Tensor small = Tensor::zeros({2, 3}, DType::kBool);
  std::copy(pattern.begin(), pattern.end(), small.data<bool>());
  corner.copy_from(small);
  EXPECT_EQ(corner.to(DType::kInt32).to_vector<int32_t>(), (std::vector<int32_t>{1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(corner.clone().to_vector<bool>(), corner.to_vector<bool>());
  const Tensor folded = square_.reshape({kSide * 2, kSide / 2});
  EXPECT_TRUE(folded.rows(2 * kSide - 1, 2 * kSide).data<bool>()[kSide / 2 - 1]);
}

// Pages that are only read stay one page of zeros.
TEST_F(LargeTensor, ASearchThroughAllElementsFindsTheLast) {
  Tensor halves = Tensor::empty({(int64_t{1} << 31) + 100}, DType::kBFloat16);
  EXPECT_EQ(first_non_finite(halves), -1);
  halves.data<BFloat16>()[halves.size() - 1] = to_bfloat16(std::numeric_limits<float>::infinity());
  EXPECT_EQ(first_non_finite(halves), (int64_t{1} << 31) + 99);
}

TEST_F(LargeTensor, AFileHasRoomForIt) {
  const SafetensorsImage image =
      make_safetensors({{"a", square_}, {"b", Tensor::full({2}, 1.0)}}, {}, FiniteCheck::kNo);
  uint64_t bytes = 0;
  for (const std::string_view part : image.parts()) {
    bytes += part.size();
  }
  EXPECT_EQ(bytes, image.header.size() + (uint64_t{1} << 32) + 8);
  // The file as it would lie in memory: the header, then zeros that nothing wrote.
  Tensor file = Tensor::empty({static_cast<int64_t>(bytes)}, DType::kInt8);
  std::copy(image.header.begin(), image.header.end(), static_cast<char*>(file.raw_data()));
  const SafetensorsHeader header =
      parse_safetensors_header({static_cast<const char*>(file.raw_data()), static_cast<size_t>(bytes)}, "large");
  ASSERT_EQ(header.entries.size(), 2U);
  EXPECT_EQ(header.entries[0].name, "b") << "larger elements first";
  EXPECT_EQ(header.entries[1].begin, 8U);
  EXPECT_EQ(header.entries[1].end, 8U + (uint64_t{1} << 32));
}

TEST(LargeShape, SizesThatDoNotFitAreRefused) {
  EXPECT_EQ(Shape({1 << 20, 1 << 20, 1 << 20}).size(), int64_t{1} << 60);
  EXPECT_THROW(Shape({1 << 30, 1 << 30, 1 << 30}), base::Error) << "2^90 elements";
  EXPECT_THROW(Tensor::empty({int64_t{1} << 62}, DType::kFloat32), base::Error) << "2^64 bytes";
  EXPECT_THROW(Tensor::empty({int64_t{1} << 50}, DType::kBool), base::Error) << "more than there is";
}

}  // namespace
}  // namespace dragoman::tensor
