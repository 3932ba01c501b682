// Products through the calls of cuBLASLt, which a fake library computes: they agree with float64 loops, and what the
// library refuses is computed by the plain kernel.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/int8_weight.h"
#include "ops/gemm.h"
#include "support/cuda_device.h"
#include "support/error_of.h"
#include "support/program.h"
#include "support/tensors.h"
#include "tensor/transfer.h"

namespace dragoman::kernels::cuda {
namespace {

using tensor::DType;
using tensor::Tensor;
using test_support::close;
using test_support::OnCuda;
using test_support::random_tensor;

/// While alive, the fake library behaves in this way.
class [[nodiscard]] FakeScope {
 public:
  explicit FakeScope(const char* way) { setenv("FAKE_CUBLAS_LT", way, 1); }
  ~FakeScope() { unsetenv("FAKE_CUBLAS_LT"); }
  FakeScope(const FakeScope&) = delete;
  FakeScope& operator=(const FakeScope&) = delete;
};

constexpr int64_t kRows = 24, kColumns = 40, kDepth = 16;

enum class Form { kOverwrites, kHasBias, kAccumulates };

struct ProductCase {
  bool a_transposed = false, b_transposed = false;
  Form form = Form::kOverwrites;
  DType operands = DType::kFloat32, result = DType::kFloat32;
  int64_t first = 0;  ///< the operands and the result are columns first .. of wider matrices
  bool rows_alike = false;
};

Tensor on_device(const Tensor& x) {
  return tensor::to_current_device(x);
}

/// A matrix [rows, columns] as columns `first` .. of a wider one in device memory.
Tensor columns_of(const Tensor& x, int64_t first) {
  constexpr int64_t kMore = 8;  // rows keep their alignment
  const Tensor wide = Tensor::full({x.dim(0), x.dim(1) + kMore}, 5.0, x.dtype());
  Tensor view = wide.columns(first, first + x.dim(1));
  view.copy_from(on_device(x));
  return view;
}

struct Seen {
  bool has_library = false;
  Tensor result, expected;
};

Seen run(CublasLt& library, const ProductCase& test) {
  const auto numbers = [&](int64_t rows, int64_t columns, bool transposed, uint64_t seed) {
    return test_support::rounded(
        random_tensor(transposed ? tensor::Shape{columns, rows} : tensor::Shape{rows, columns}, DType::kFloat32, seed));
  };
  const Tensor a = numbers(kRows, kDepth, test.a_transposed, 1), b = numbers(kDepth, kColumns, test.b_transposed, 2);
  const Tensor bias = test_support::rounded(random_tensor({1, kColumns}, DType::kFloat32, 3));
  const Tensor before = numbers(kRows, kColumns, false, 4);
  Tensor expected = before.to(DType::kFloat64).clone();
  const auto transpose = [](bool transposed) { return transposed ? Transpose::kYes : Transpose::kNo; };
  const Tensor wide_a = a.to(DType::kFloat64), wide_b = b.to(DType::kFloat64);
  if (test.form == Form::kAccumulates) {
    ops::gemm_accumulate(wide_a, transpose(test.a_transposed), wide_b, transpose(test.b_transposed), expected);
  } else if (test.form == Form::kHasBias) {
    ops::gemm_bias(wide_a, transpose(test.a_transposed), wide_b, transpose(test.b_transposed),
                   bias.to(DType::kFloat64).reshape({kColumns}), expected);
  } else {
    ops::gemm(wide_a, transpose(test.a_transposed), wide_b, transpose(test.b_transposed), expected);
  }
  const OnCuda device;
  const Tensor on_a = columns_of(a.to(test.operands), test.first), on_b = columns_of(b.to(test.operands), test.first);
  const Tensor on_bias = on_device(bias.to(test.result));
  const Tensor on_c = columns_of(before.to(test.result), test.first);
  Seen seen;
  seen.has_library =
      library.multiply({any_matrix_of(on_a), test.a_transposed, any_matrix_of(on_b), test.b_transposed,
                        test.form == Form::kHasBias ? on_bias.device_data() : nullptr, any_matrix_of(on_c),
                        test.form == Form::kAccumulates, kRows, kColumns, kDepth, false, test.rows_alike});
  seen.result = tensor::to_host(on_c);
  seen.expected = seen.has_library ? expected : before;
  return seen;
}

TEST(CublasLtProducts, AgreeWithFloat64InAllForms) {
  CublasLt library;
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const Form form : {Form::kOverwrites, Form::kHasBias, Form::kAccumulates}) {
        for (const auto& [operands, result] : {std::pair(DType::kFloat32, DType::kFloat32),
                                               {DType::kBFloat16, DType::kFloat32},
                                               {DType::kBFloat16, DType::kBFloat16}}) {
          const Seen seen = run(library, {a_transposed, b_transposed, form, operands, result, 8});
          EXPECT_TRUE(seen.has_library);
          EXPECT_TRUE(close(seen.result, seen.expected, result == DType::kFloat32 ? 1e-6 : 1e-2))
              << a_transposed << b_transposed << static_cast<int>(form) << tensor::dtype_name(result);
        }
      }
    }
  }
}

TEST(CublasLtProducts, WhatTheLibraryRefusesIsLeftAlone) {
  CublasLt library;
  const ProductCase at_odd_addresses{.first = 3}, of_two_types{.result = DType::kBFloat16};
  for (const ProductCase& test : {at_odd_addresses, of_two_types}) {
    const Seen seen = run(library, test);
    EXPECT_FALSE(seen.has_library);
    EXPECT_TRUE(close(seen.result, seen.expected, 1e-2));
  }
}

TEST(CublasLtProducts, WithoutAnAlgorithmNothingIsDone) {
  for (const char* way : {"no algorithm", "unsure"}) {
    CublasLt library;
    {
      const FakeScope scope(way);
      EXPECT_FALSE(run(library, {}).has_library) << way;
    }
    EXPECT_FALSE(run(library, {}).has_library) << "the choice for a shape is kept";
    EXPECT_TRUE(run(library, {.a_transposed = true}).has_library);
  }
}

// An algorithm whose rows differ by the number of rows is used in training only.
TEST(CublasLtProducts, RowsThatDifferInABatchAreLeftToThePlainKernel) {
  for (const auto& [operands, result] :
       {std::pair(DType::kFloat32, DType::kFloat32), {DType::kBFloat16, DType::kBFloat16}}) {
    const ProductCase alike{.form = Form::kHasBias, .operands = operands, .result = result, .rows_alike = true};
    CublasLt good, bad;
    const Seen seen = run(good, alike);
    EXPECT_TRUE(seen.has_library);
    EXPECT_TRUE(close(seen.result, seen.expected, result == DType::kFloat32 ? 1e-6 : 1e-2));
    const FakeScope scope("rows differ");
    const bool shows = operands == DType::kFloat32;  // the difference is below the last bit of a bfloat16
    EXPECT_EQ(run(bad, alike).has_library, !shows);
    EXPECT_TRUE(run(bad, {.form = Form::kHasBias}).has_library);
    EXPECT_TRUE(run(good, alike).has_library) << "a shape is tried once";
  }
}

TEST(CublasLtProducts, AProgramWithoutAnAlgorithmTakesThePlainKernel) {
  const Tensor x = random_tensor({33, 37}, DType::kFloat32, 1), weight = random_tensor({37, 50}, DType::kFloat32, 2);
  const Tensor bias = random_tensor({50}, DType::kFloat32, 3);
  Tensor expected = Tensor::empty({33, 50});
  ops::gemm_bias(x, ops::Transpose::kNo, weight, ops::Transpose::kNo, bias, expected);
  const FakeScope scope("no algorithm");
  const OnCuda device;
  Tensor seen = Tensor::empty({33, 50});
  ops::gemm_bias(on_device(x), ops::Transpose::kNo, on_device(weight), ops::Transpose::kNo, on_device(bias), seen);
  EXPECT_TRUE(close(tensor::to_host(seen), expected, 1e-6));
}

// Rows in int8 times the columns of a weight, each as a row of kDepth.
TEST(CublasLtProducts, SumsOfInt8AreExact) {
  CublasLt library;
  std::vector<int8_t> a(kRows * kDepth), b(kColumns * kDepth);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 255) - 127);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<int8_t>(static_cast<int>(i * 101 % 255) - 127);
  }
  const OnCuda device;
  const DeviceArray<int8_t> rows(a), columns(b);
  const DeviceArray<int32_t> sums(kRows * kColumns);
  Product product{.a = {rows.data(), kDepth},
                  .a_transposed = false,
                  .b = {columns.data(), kDepth},
                  .b_transposed = true,
                  .bias = nullptr,
                  .c = {sums.data(), kColumns},
                  .accumulate = false,
                  .rows = kRows,
                  .columns = kColumns,
                  .depth = kDepth,
                  .is_int8 = true};
  ASSERT_TRUE(library.multiply(product));
  std::vector<int32_t> seen(kRows * kColumns);
  sums.read(seen);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      int32_t expected = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        expected += a[static_cast<size_t>(row * kDepth + k)] * b[static_cast<size_t>(column * kDepth + k)];
      }
      EXPECT_EQ(seen[static_cast<size_t>(row * kColumns + column)], expected) << row << ", " << column;
    }
  }
  product.b_transposed = false;  // which the library has no kernel for
  product.b.stride = kColumns;
  EXPECT_FALSE(library.multiply(product));
}

// With the library and without, in which case the plain kernel multiplies.
TEST(CublasLtProducts, ProductsWithInt8WeightsAreExactWithoutAnAlgorithm) {
  const Tensor x = random_tensor({33, 37}, DType::kFloat32, 1), weight = random_tensor({37, 50}, DType::kFloat32, 2);
  const QuantisedWeight quantised = quantise(weight, Transpose::kNo);
  Tensor expected = Tensor::empty({33, 50});
  PackedMatrix(weight, Transpose::kNo, Precision::kInt8).multiply(x, {}, expected);
  for (const char* way : {"", "no algorithm"}) {
    const FakeScope scope(way);
    const OnCuda device;
    const Int8Weight copy = int8_weight(quantised, Transpose::kNo);
    const Int8Product product{copy, {}, Activation::kNone, Tensor::empty({33, 50})};
    CudaBackend().multiply_int8(on_device(x), {&product, 1});
    EXPECT_EQ(tensor::to_host(product.y).to_vector<float>(), expected.to_vector<float>()) << way;
  }
}

test_support::Outcome open_library(const char* folder, const char* way = "") {
  return test_support::Program().run("", std::string("LD_LIBRARY_PATH=") + folder + " FAKE_CUBLAS_LT='" + way + "'");
}

TEST(CublasLtLibrary, SaysItsVersion) {
  const test_support::Outcome outcome = open_library(DRAGOMAN_FAKE_CUBLAS_LT);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "13.1.0\n");
}

TEST(CublasLtLibrary, ThatCannotBeUsedIsNamed) {
  const test_support::TemporaryFolder folder;
  std::ofstream(folder.path() / "libcublasLt.so.13") << "no library";
  test_support::expect_failure(
      open_library(folder.path().c_str()), 1,
      {"cuda: libcublasLt.so.13 cannot be loaded: ",
       "; install CUDA 13 or the Python package nvidia-cublas, or put the folder of the library into "
       "LD_LIBRARY_PATH"});
  test_support::expect_failure(open_library(DRAGOMAN_CUBLAS_LT_WITHOUT_FUNCTIONS), 1,
                               {"cuda: libcublasLt.so.13 has no cublasLtCreate; install CUDA 13"});
  test_support::expect_failure(open_library(DRAGOMAN_FAKE_CUBLAS_LT, "version 12"), 1,
                               {"cuda: libcublasLt.so.13 is version 12.8.0, must be 13; install CUDA 13"});
  test_support::expect_failure(open_library(DRAGOMAN_FAKE_CUBLAS_LT, "no handle"), 1,
                               {"cuda: cublasLtCreate failed with status 1"});
}

}  // namespace
}  // namespace dragoman::kernels::cuda
