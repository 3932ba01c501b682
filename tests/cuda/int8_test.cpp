// Products with weights in int8 on a GPU, or on its emulation, have the bits of the CPU: their sums are exact.
#include <gmock/gmock.h>

#include "cuda/op_cases.h"
#include "kernels/backends/backend_of.h"
#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/int8_weight.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "support/error_of.h"

namespace dragoman::kernels {
namespace {

using tensor::to_current_device;
using test_support::OnCuda;
using test_support::random_tensor;

class CudaInt8 : public test_support::CudaTest {};

constexpr int64_t kDepth = 37, kColumns = 50;

/// A weight [K, N], or [N, K], one of whose columns is zero.
Tensor weight_of(Transpose stored) {
  Tensor columns = random_tensor({kColumns, kDepth}, DType::kFloat32, 1);
  columns.rows(7, 8).zero();
  if (stored == Transpose::kYes) {
    return columns;
  }
  Tensor weight = Tensor::empty({kDepth, kColumns});
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t n = 0; n < kColumns; ++n) {
      weight.data<float>()[k * kColumns + n] = columns.data<float>()[n * kDepth + k];
    }
  }
  return weight;
}

/// Rows, one of which is zero.
Tensor rows_of(int64_t count) {
  Tensor x = random_tensor({count, kDepth}, DType::kFloat32, 2);
  x.rows(0, count / 2).rows(0, std::min<int64_t>(count / 2, 1)).zero();
  return x;
}

struct Int8Case {
  Transpose stored = Transpose::kNo;
  bool biased = false;
  Activation activation = Activation::kNone;
};

std::vector<float> on_cpu(const Tensor& x, const Int8Case& test) {
  const PackedMatrix matrix(weight_of(test.stored), test.stored, Precision::kInt8);
  const Tensor bias = test.biased ? random_tensor({kColumns}, DType::kFloat32, 3) : Tensor();
  Tensor y = Tensor::empty({x.dim(0), kColumns});
  matrix.multiply(x, {bias, test.activation}, y);
  return y.to_vector<float>();
}

std::vector<float> on_gpu(const Tensor& x, const Int8Case& test) {
  const Tensor weight = weight_of(test.stored);
  const Tensor bias = test.biased ? random_tensor({kColumns}, DType::kFloat32, 3) : Tensor();
  const QuantisedWeight quantised = quantise(weight, test.stored);
  const OnCuda device;
  const Int8Weight copy = int8_weight(quantised, test.stored);
  const Tensor wide = Tensor::full({x.dim(0), kDepth + 3}, 9.0);  // rows need not follow each other
  wide.columns(0, kDepth).copy_from(to_current_device(x));
  Tensor y = Tensor::empty({x.dim(0), kColumns});
  const Int8Product product{copy, bias.defined() ? to_current_device(bias) : bias, test.activation, y};
  backend_of(y).multiply_int8(wide.columns(0, kDepth), {&product, 1});
  return tensor::to_host(y).to_vector<float>();
}

TEST_F(CudaInt8, ProductsHaveTheBitsOfTheCpu) {
  for (const Transpose stored : {Transpose::kNo, Transpose::kYes}) {
    for (const Int8Case& test : {Int8Case{stored, false}, {stored, true}, {stored, true, Activation::kRelu}}) {
      for (const int64_t rows : {1, 2, 3, 7, 8, 9, 33}) {
        const Tensor x = rows_of(rows);
        EXPECT_EQ(on_gpu(x, test), on_cpu(x, test)) << rows << " rows, bias " << test.biased;
      }
    }
  }
}

TEST_F(CudaInt8, ProductsOfTheSameRowsAreThoseOfEachWeight) {
  const Tensor x = rows_of(12);
  const QuantisedWeight first = quantise(weight_of(Transpose::kNo), Transpose::kNo);
  const QuantisedWeight second = quantise(weight_of(Transpose::kYes), Transpose::kYes);
  const std::vector<float> expected = on_cpu(x, {});
  const OnCuda device;
  const Int8Weight weights[2] = {int8_weight(first, Transpose::kNo), int8_weight(second, Transpose::kYes)};
  const std::vector<Int8Product> products{{weights[0], {}, Activation::kNone, Tensor::empty({12, kColumns})},
                                          {weights[1], {}, Activation::kNone, Tensor::empty({12, kColumns})}};
  backend_of(products[0].y).multiply_int8(to_current_device(x), products);
  for (const Int8Product& product : products) {
    EXPECT_EQ(tensor::to_host(product.y).to_vector<float>(), expected);
  }
}

TEST_F(CudaInt8, RowsOfATableHaveTheBitsOfTheCpu) {
  const Tensor table = weight_of(Transpose::kYes);  // [V, D]
  ops::PackedWeight packed(table.shape(), {Precision::kInt8, Transpose::kYes});
  packed.pack(table, 0, packed.panels());
  const Tensor ids = test_support::ids_below(static_cast<int32_t>(kColumns), 20);
  const ops::Variable expected = ops::embedding({ops::Variable(), &packed}, ids, 3.0F);
  const QuantisedWeight quantised = quantise(table, Transpose::kYes);
  const OnCuda device;
  const Int8Weight copy = int8_weight(quantised, Transpose::kYes);
  const ops::Variable seen = ops::embedding({ops::Variable(), &copy}, ids, 3.0F);
  EXPECT_EQ(tensor::to_host(seen.value()).to_vector<float>(), expected.value().to_vector<float>());
}

TEST_F(CudaInt8, ABackendWithoutThemSaysSo) {
  const QuantisedWeight quantised = quantise(weight_of(Transpose::kNo), Transpose::kNo);
  const Int8Weight copy = int8_weight(quantised, Transpose::kNo);
  const Tensor x = rows_of(2);
  Tensor y = Tensor::empty({2, kColumns});
  const Int8Product product{copy, {}, Activation::kNone, y};
  EXPECT_EQ(test_support::error_of([&] {
              backend_of(y).multiply_int8(x, {&product, 1});
            }),
            "cpu: multiply_int8 does not exist; use a PackedMatrix");
}

}  // namespace
}  // namespace dragoman::kernels
