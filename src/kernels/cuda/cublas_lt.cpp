#include "kernels/cuda/cublas_lt.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "kernels/cuda/device_arrays.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/vendor_library.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr const char* kLibrary = "libcublasLt.so.13";
constexpr size_t kWorkspaceBytes = size_t{32} << 20;
constexpr size_t kMostPlans = 8192;
// Products whose rows must not depend on the number of rows take the algorithm for so many, which splits no sums.
constexpr int64_t kRowsOfChoice = 64;
constexpr uint32_t kChosenAlignment = 16;
// Numbers of rows that such an algorithm is tried with; the first is the reference.
constexpr std::array<int64_t, 6> kRowsTried = {256, 128, kRowsOfChoice, 33, 8, 1};

void check(cublasStatus_t status, const char* call) {
  base::check(status == CUBLAS_STATUS_SUCCESS, base::ErrorKind::kRuntime, "cuda: {} failed with status {}", call,
              static_cast<int>(status));
}

void* open_library() {
  const VendorLibrary library = load_vendor_library(kLibrary);
  base::check(
      library.handle != nullptr, base::ErrorKind::kRuntime,
      "cuda: {} cannot be loaded: {}; install CUDA 13 or the Python package nvidia-cublas, or put the folder of "
      "the library into LD_LIBRARY_PATH",
      kLibrary, library.problem);
  return library.handle;
}

void* find(const char* name) {
  static void* const library = open_library();
  void* const found = dlsym(library, name);
  base::check(found != nullptr, base::ErrorKind::kRuntime, "cuda: {} has no {}; install CUDA 13", kLibrary, name);
  return found;
}

// The functions of the library that are used, under their names.
struct Functions {
#define DRAGOMAN_FUNCTION(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(find(#name))
  DRAGOMAN_FUNCTION(cublasLtGetVersion);
  DRAGOMAN_FUNCTION(cublasLtCreate);
  DRAGOMAN_FUNCTION(cublasLtMatmul);
  DRAGOMAN_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  DRAGOMAN_FUNCTION(cublasLtMatmulDescCreate);
  DRAGOMAN_FUNCTION(cublasLtMatmulDescSetAttribute);
  DRAGOMAN_FUNCTION(cublasLtMatmulDescDestroy);
  DRAGOMAN_FUNCTION(cublasLtMatrixLayoutCreate);
  DRAGOMAN_FUNCTION(cublasLtMatrixLayoutDestroy);
  DRAGOMAN_FUNCTION(cublasLtMatmulPreferenceCreate);
  DRAGOMAN_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
  DRAGOMAN_FUNCTION(cublasLtMatmulPreferenceDestroy);
#undef DRAGOMAN_FUNCTION
};

const Functions& lt() {
  static const Functions functions;
  return functions;
}

// How far an address is aligned, at most 256 bytes, the most that algorithms ask for.
uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  return bits % 256 == 0 ? 256U : static_cast<uint32_t>(bits & (~bits + 1));
}

// The same for a choice that addresses of other batches must not change.
uint32_t alignment_of(const void* address, bool rows_alike) {
  return rows_alike ? std::min(alignment_of(address), kChosenAlignment) : alignment_of(address);
}

// What the choice of an algorithm depends on.
using PlanKey = std::array<int64_t, 11>;

PlanKey key_of(const Product& p) {
  const int64_t flags = (p.a_transposed ? 1 : 0) | (p.b_transposed ? 2 : 0) | (p.bias != nullptr ? 4 : 0) |
                        (p.accumulate ? 8 : 0) | (p.a.is_bfloat16 ? 16 : 0) | (p.c.is_bfloat16 ? 32 : 0) |
                        (p.relu ? 64 : 0) | (p.rows_alike ? 128 : 0) | (p.is_int8 ? 256 : 0);
  return {p.rows,
          p.columns,
          p.depth,
          p.a.stride,
          p.b.stride,
          p.c.stride,
          flags,
          alignment_of(p.a.data, p.rows_alike),
          alignment_of(p.b.data, p.rows_alike),
          alignment_of(p.c.data, p.rows_alike),
          p.bias == nullptr ? 0 : alignment_of(p.bias, p.rows_alike)};
}

cudaDataType type_of(const AnyMatrix& matrix) {
  return matrix.is_bfloat16 ? CUDA_R_16BF : CUDA_R_32F;
}
cudaDataType type_of_a(const Product& p) {
  return p.is_int8 ? CUDA_R_8I : type_of(p.a);
}
cudaDataType type_of_b(const Product& p) {
  return p.is_int8 ? CUDA_R_8I : type_of(p.b);
}
cudaDataType type_of_c(const Product& p) {
  return p.is_int8 ? CUDA_R_32I : type_of(p.c);
}

// A matrix as the library sees it: row-major [R, C] is column-major [C, R].
class Layout {
 public:
  Layout(int64_t rows, int64_t columns, int64_t stride, cudaDataType type) {
    check(lt().cublasLtMatrixLayoutCreate(&layout_, type, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                          stride),
          "cublasLtMatrixLayoutCreate");
  }
  ~Layout() { lt().cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Preference {
 public:
  explicit Preference(const Product& p) {
    check(lt().cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, p.rows_alike ? 0 : kWorkspaceBytes);
    // Sums of partial sums in a fixed order only.
    constexpr auto kFixedOrder =
        static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        p.rows_alike ? static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE) : kFixedOrder);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.data, p.rows_alike));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.data, p.rows_alike));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c.data, p.rows_alike));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c.data, p.rows_alike));
  }
  ~Preference() { lt().cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  template <typename T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check(lt().cublasLtMatmulPreferenceSetAttribute(preference_, attribute, &value, sizeof(value)),
          "cublasLtMatmulPreferenceSetAttribute");
  }

  cublasLtMatmulPreference_t preference_ = nullptr;
};

// A product of one shape, ready to be queued. C^T = op(B)^T op(A)^T in the library's column-major terms.
class Plan {
 public:
  Plan(cublasLtHandle_t handle, const Product& p)
      : a_(p.a_transposed ? p.depth : p.rows, p.a_transposed ? p.rows : p.depth, p.a.stride, type_of_a(p)),
        b_(p.b_transposed ? p.columns : p.depth, p.b_transposed ? p.depth : p.columns, p.b.stride, type_of_b(p)),
        c_(p.rows, p.columns, p.c.stride, type_of_c(p)) {
    check(lt().cublasLtMatmulDescCreate(&product_, p.is_int8 ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F,
                                        p.is_int8 ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    }
    const Preference preference(p);
    const int64_t rows = p.rows_alike ? kRowsOfChoice : p.rows;
    const Layout a(p.a_transposed ? p.depth : rows, p.a_transposed ? rows : p.depth, p.a.stride, type_of_a(p));
    const Layout c(rows, p.columns, p.c.stride, type_of_c(p));
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    const cublasStatus_t status = lt().cublasLtMatmulAlgoGetHeuristic(handle, product_, b_.get(), a.get(), c.get(),
                                                                      c.get(), preference.get(), 1, &result, &found);
    has_algorithm_ = status == CUBLAS_STATUS_SUCCESS && found == 1 && result.state == CUBLAS_STATUS_SUCCESS;
    algorithm_ = result.algo;
  }
  ~Plan() { lt().cublasLtMatmulDescDestroy(product_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  bool has_algorithm() const { return has_algorithm_; }

  // Returns: false if the library refuses, which happens only with an algorithm for another number of rows.
  bool run(cublasLtHandle_t handle, const Product& p, void* workspace) {
    if (p.bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    }
    const float one = 1.0F, beta = p.accumulate ? 1.0F : 0.0F;
    constexpr int32_t kOne = 1, kZero = 0;
    const void* const alpha_of_type = p.is_int8 ? static_cast<const void*>(&kOne) : &one;
    const void* const beta_of_type = p.is_int8 ? static_cast<const void*>(&kZero) : &beta;
    const cublasStatus_t status = lt().cublasLtMatmul(
        handle, product_, alpha_of_type, p.b.data, b_.get(), p.a.data, a_.get(), beta_of_type, p.c.data, c_.get(),
        p.c.data, c_.get(), &algorithm_, workspace, p.rows_alike ? 0 : kWorkspaceBytes, current_stream());
    if (p.rows_alike && (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)) {
      return false;
    }
    check(status, "cublasLtMatmul");
    return true;
  }

 private:
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(lt().cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }

  Layout a_, b_, c_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  bool has_algorithm_ = false;
};

}  // namespace

struct CublasLt::Library {
  Library() {
    base::check(lt().cublasLtGetVersion() / 10000 == 13, base::ErrorKind::kRuntime,
                "cuda: {} is version {}, must be 13; install CUDA 13", kLibrary, version());
    check(lt().cublasLtCreate(&handle), "cublasLtCreate");
    workspace = allocate_memory(kWorkspaceBytes);
    base::check(workspace != nullptr, base::ErrorKind::kRuntime, "cuda: no memory for the {} bytes of cublasLt",
                kWorkspaceBytes);
  }

  // Computes a product by the plan for its shape. Returns: false if there is none.
  bool run(const Product& product) {
    if (plans.size() >= kMostPlans) {
      plans.clear();
    }
    const PlanKey key = key_of(product);
    auto found = plans.find(key);
    if (found == plans.end()) {
      found = plans.try_emplace(key, handle, product).first;
    }
    return found->second.has_algorithm() && found->second.run(handle, product, workspace);
  }

  // Whether rows have equal bits with all of kRowsTried, which is tried once for each shape. While kernels are recorded
  // nothing can be compared; the step before was computed with the same products.
  bool rows_agree(const Product& product) {
    Product any = product;
    any.rows = 0;
    const PlanKey key = key_of(any);
    const auto known = agreements.find(key);
    if (known != agreements.end() || is_recording() || product.a_transposed) {
      return known == agreements.end() || known->second;
    }
    return agreements.emplace(key, try_rows(product)).first->second;
  }

  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;  // both are kept until the process ends: the driver may be gone before
  void* workspace = nullptr;
  std::map<PlanKey, Plan> plans;
  std::map<PlanKey, bool> agreements;  // by the key of a product without rows

 private:
  // Multiplies random rows with the matrix of a product, as many at a time as kRowsTried says, and compares the bits of
  // the first row, of one in the middle and of the last with those of the largest number of rows.
  bool try_rows(const Product& product) {
    const auto bytes_of = [](const AnyMatrix& matrix) { return matrix.is_bfloat16 ? int64_t{2} : int64_t{4}; };
    // As aligned as the rows of the product, on which the choice depends.
    const auto offset_of = [](const AnyMatrix& matrix) { return alignment_of(matrix.data, true) % kChosenAlignment; };
    const DeviceArray<char> more_rows(kRowsTried.front() * product.a.stride * bytes_of(product.a) + kChosenAlignment);
    const DeviceArray<char> more_results(kRowsTried.front() * product.c.stride * bytes_of(product.c) +
                                         kChosenAlignment);
    char* const rows = more_rows.data() + offset_of(product.a);
    char* const results = more_results.data() + offset_of(product.c);
    fill_randomly(rows, kRowsTried.front() * product.a.stride, product.a.is_bfloat16);
    const int64_t row_bytes = product.c.stride * bytes_of(product.c);
    std::vector<char> reference(static_cast<size_t>(kRowsTried.front() * row_bytes));
    std::vector<char> seen(static_cast<size_t>(product.columns * bytes_of(product.c)));
    Product tried = product;
    tried.a.data = rows;
    tried.c.data = results;
    for (const int64_t count : kRowsTried) {
      tried.rows = count;
      clear_memory(results, reference.size());  // of products that add to it
      if (!run(tried)) {
        return false;
      }
      if (count == kRowsTried.front()) {
        copy_out(results, reference.size(), reference.data());
      }
      for (const int64_t row : {int64_t{0}, count / 2, count - 1}) {
        copy_out(results + row * row_bytes, seen.size(), seen.data());
        if (!std::equal(seen.begin(), seen.end(), reference.begin() + row * row_bytes)) {
          return false;
        }
      }
    }
    return true;
  }

  static void fill_randomly(char* rows, int64_t count, bool is_bfloat16) {
    base::Random random(1);
    std::vector<uint32_t> numbers(static_cast<size_t>(count));
    std::ranges::generate(numbers, [&] { return std::bit_cast<uint32_t>(static_cast<float>(random.uniform() - 0.5)); });
    if (!is_bfloat16) {
      return copy_in(numbers.data(), numbers.size() * sizeof(uint32_t), rows);
    }
    std::vector<uint16_t> halves(numbers.size());
    std::ranges::transform(numbers, halves.begin(), [](uint32_t bits) { return static_cast<uint16_t>(bits >> 16U); });
    copy_in(halves.data(), halves.size() * sizeof(uint16_t), rows);
    wait_for_device();  // a copy that is not staged reads `halves` later
  }
};

CublasLt::CublasLt() : library_(std::make_unique<Library>()) {}

CublasLt::~CublasLt() = default;

bool CublasLt::multiply(const Product& product) {
  const std::lock_guard lock(library_->mutex);
  if (product.rows_alike && !library_->rows_agree(product)) {
    return false;
  }
  return library_->run(product);
}

std::string CublasLt::version() {
  const size_t version = lt().cublasLtGetVersion();  // 130100 = 13.1.0
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace dragoman::kernels::cuda
