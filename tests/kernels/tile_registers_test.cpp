// The instructions of AMX themselves, on processors without them too: support/tile_trap.h.

#include <gtest/gtest.h>

#include <optional>

#include "base/cpu.h"
#include "kernels/cpu/attention/attention_tiles.h"
#include "kernels/cpu/gemm/panels_cpu.h"
#include "support/tensors.h"
#include "support/tile_trap.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;
using test_support::random_tensor;
using test_support::same_bits;

struct Case {
  int64_t rows, depth, columns;
};

// One tile and less, several with rests, and depths that are no multiple of what a tile row holds.
constexpr Case kCases[] = {{1, 1, 1}, {16, 32, 16}, {17, 64, 48}, {33, 70, 49}, {40, 130, 100}, {130, 200, 33}};

class TileRegisters : public testing::Test {
 protected:
  void SetUp() override {
    if (base::active_isa() < base::Isa::kBf16) {
      GTEST_SKIP() << "operands are packed by instructions of AVX-512 BF16, which this processor or the cap has not";
    }
    if (base::machine_isa() < base::Isa::kAmx) {
      trap_.emplace();
    }
  }

  static Tensor product(const Case& size, ProductKernel kernel) {
    const Tensor x = random_tensor({size.rows, size.depth}, DType::kFloat32, 1);
    const Tensor weight = random_tensor({size.depth, size.columns}, DType::kFloat32, 2);
    const Tensor bias = random_tensor({size.columns}, DType::kFloat32, 3);
    const int64_t padded = panel_cells(1, size.columns, ProductKernel::kFloat32);
    PanelStorage panels{Tensor::empty({panel_cells(size.depth, size.columns, kernel)}), Tensor::empty({padded}),
                        Tensor::empty({padded}, DType::kInt32)};
    pack_panels(weight, Transpose::kNo, kernel, {0, (size.columns + panel_columns() - 1) / panel_columns()}, panels);
    Tensor y = Tensor::full({size.rows, size.columns}, 9.0);
    multiply_panels({x, panels, kernel, PackedEpilogue{bias}, false}, y);
    return y;
  }

  std::optional<test_support::TileTrap> trap_;
};

TEST_F(TileRegisters, Int8HasTheBitsOfTilesInMemory) {
  for (const Case& size : kCases) {
    const int64_t before = test_support::TileTrap::count();
    EXPECT_TRUE(same_bits(product(size, ProductKernel::kInt8Amx), product(size, ProductKernel::kInt8EmulatedAmx)))
        << size.rows << " x " << size.depth << " x " << size.columns;
    EXPECT_EQ(trap_.has_value(), test_support::TileTrap::count() > before) << "instructions of AMX were not met";
  }
}

TEST_F(TileRegisters, FloatingPointHasTheBitsOfTilesInMemory) {
  for (const Case& size : kCases) {
    const int64_t before = test_support::TileTrap::count();
    EXPECT_TRUE(
        same_bits(product(size, ProductKernel::kBFloat16Amx), product(size, ProductKernel::kBFloat16EmulatedAmx)))
        << "bfloat16, " << size.rows << " x " << size.depth << " x " << size.columns;
    EXPECT_TRUE(same_bits(product(size, ProductKernel::kFloat32Amx), product(size, ProductKernel::kFloat32EmulatedAmx)))
        << "float32, " << size.rows << " x " << size.depth << " x " << size.columns;
    EXPECT_EQ(trap_.has_value(), test_support::TileTrap::count() > before) << "instructions of AMX were not met";
  }
}

TEST_F(TileRegisters, AttentionHasTheBitsOfTilesInMemory) {
  const Tensor offsets = Tensor::from(std::vector<int32_t>{0, 7, 7, 40, 110}, {5});
  const auto rows = [](int64_t width, uint64_t seed) { return random_tensor({110, width}, DType::kBFloat16, seed); };
  const AttentionInputs inputs{rows(64, 1), rows(64, 2), rows(128, 3), {offsets, offsets, {}}, {.n_heads = 2}};
  const Tensor grad_context = rows(128, 4);
  const auto all_of = [&](ProductKernel kernel) {
    Tensor context = Tensor::empty({110, 128}, DType::kBFloat16), stats = Tensor::empty({2, 2, 110});
    attention_forward_in_tiles(kernel, inputs, context, stats);
    AttentionGradients gradients{rows(64, 5), rows(64, 5), rows(128, 5)};
    attention_backward_in_tiles(kernel, inputs, stats, grad_context, gradients);
    return std::vector<Tensor>{context, gradients.query, gradients.key, gradients.value};
  };
  const int64_t before = test_support::TileTrap::count();
  const auto seen = all_of(ProductKernel::kBFloat16Amx), expected = all_of(ProductKernel::kBFloat16EmulatedAmx);
  EXPECT_EQ(trap_.has_value(), test_support::TileTrap::count() > before) << "instructions of AMX were not met";
  const char* names[] = {"context", "gradient of query", "gradient of key", "gradient of value"};
  for (size_t index = 0; index < seen.size(); ++index) {
    EXPECT_TRUE(same_bits(seen[index], expected[index])) << names[index];
  }
}

// What a row becomes must not depend on its neighbours.
TEST_F(TileRegisters, ARowIsTheSameAlone) {
  for (const ProductKernel kernel :
       {ProductKernel::kFloat32Amx, ProductKernel::kBFloat16Amx, ProductKernel::kInt8Amx}) {
    EXPECT_TRUE(same_bits(product({1, 130, 100}, kernel), product({40, 130, 100}, kernel).rows(0, 1)));
  }
}

}  // namespace
}  // namespace dragoman::kernels
