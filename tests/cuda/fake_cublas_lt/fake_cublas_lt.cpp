// A cuBLASLt for the emulation: the functions of NVIDIA's header that CublasLt uses, on the memory of the host, by
// plain loops. It refuses what the real one refuses, and what it does not know. It is stricter in alignment: its only
// algorithms need addresses and rows at multiples of 16 bytes.
// The environment variable FAKE_CUBLAS_LT, read at each call: "version 12"; "no handle"; "no algorithm" for any
// product; "unsure" for a heuristic whose result is not supported; "rows differ" for other bits of fewer than 8 rows.
#include <cublasLt.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr uint64_t kAlgorithm = 0x64726167'6f6d616eULL;
constexpr uint64_t kNeededAlignment = 16;
constexpr size_t kNeededWorkspace = size_t{1} << 20;

bool is_told(std::string_view what) {
  const char* const told = std::getenv("FAKE_CUBLAS_LT");
  return told != nullptr && what == told;
}

struct Layout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t stride;  // elements from one column to the next
};

struct Description {
  bool in_integers = false;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C and D
};

// What cublasLtMatmulAlgo_t has inside: the problem that the algorithm was chosen for.
struct Algorithm {
  uint64_t name, problem;
  uint32_t schemes, unused;
  uint64_t rest[5];
};
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));

template <typename Own, typename Handle>
Own& own(Handle handle) {
  return *reinterpret_cast<Own*>(handle);
}

template <typename T>
cublasStatus_t set(T& member, const void* value, size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

uint64_t bytes_of(cudaDataType type) {
  return type == CUDA_R_8I ? 1 : type == CUDA_R_16BF ? 2 : 4;
}

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kNeededAlignment == 0;
}

bool has_bias(const Description& product) {
  return product.epilogue == CUBLASLT_EPILOGUE_BIAS || product.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

bool has_relu(const Description& product) {
  return product.epilogue == CUBLASLT_EPILOGUE_RELU || product.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

struct Problem {
  const Description& product;
  const Layout &a, &b, &c, &d;
};

bool has_aligned_columns(const Problem& p) {
  const auto is_aligned_in = [](const Layout& layout) {
    return static_cast<uint64_t>(layout.stride) * bytes_of(layout.type) % kNeededAlignment == 0;
  };
  return is_aligned_in(p.a) && is_aligned_in(p.b) && is_aligned_in(p.c) && is_aligned_in(p.d);
}

// Shapes that do not meet are an error; types and alignments that no algorithm has are not supported.
cublasStatus_t check(const Problem& p) {
  const bool a_turned = p.product.a == CUBLAS_OP_T, b_turned = p.product.b == CUBLAS_OP_T;
  const uint64_t rows = a_turned ? p.a.columns : p.a.rows, depth = a_turned ? p.a.rows : p.a.columns;
  const uint64_t depth_of_b = b_turned ? p.b.columns : p.b.rows, columns = b_turned ? p.b.rows : p.b.columns;
  if (depth != depth_of_b || p.d.rows != rows || p.d.columns != columns || p.c.rows != rows || p.c.columns != columns) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    if (layout->rows == 0 || layout->columns == 0 || layout->stride < static_cast<int64_t>(layout->rows)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  if (p.product.in_integers) {  // in this layout, turned A alone, and sizes in multiples of four
    const bool supported = p.a.type == CUDA_R_8I && p.b.type == CUDA_R_8I && p.c.type == CUDA_R_32I &&
                           p.d.type == CUDA_R_32I && a_turned && !b_turned && rows % 4 == 0 && depth % 4 == 0 &&
                           p.product.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
    return supported && has_aligned_columns(p) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool full = p.a.type == CUDA_R_32F && p.d.type == CUDA_R_32F;
  const bool half = p.a.type == CUDA_R_16BF && (p.d.type == CUDA_R_32F || p.d.type == CUDA_R_16BF);
  if (p.a.type != p.b.type || p.c.type != p.d.type || !(full || half)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (!has_aligned_columns(p)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (has_bias(p.product) && (p.product.bias == nullptr || !is_aligned(p.product.bias))) {
    return p.product.bias == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool known = p.product.epilogue == CUBLASLT_EPILOGUE_DEFAULT || has_bias(p.product) || has_relu(p.product);
  return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// An algorithm without partial sums needs none.
size_t workspace_of(uint32_t schemes) {
  return schemes == CUBLASLT_REDUCTION_SCHEME_NONE ? 0 : kNeededWorkspace;
}

// A number that tells problems apart, for which an algorithm holds: one without partial sums for any number of rows of
// the project's C, which are columns here.
uint64_t number_of(const Problem& p, uint32_t schemes) {
  uint64_t number = 14695981039346656037ULL;
  const auto add = [&](auto value) { number = (number ^ static_cast<uint64_t>(value)) * 1099511628211ULL; };
  add(p.product.a);
  add(p.product.b);
  add(p.product.epilogue);
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    add(layout->type);
    add(layout->stride);
    if (layout == &p.a || schemes != CUBLASLT_REDUCTION_SCHEME_NONE) {
      add(layout->rows);
      add(layout->columns);
    }
  }
  return number;
}

float load(const void* from, cudaDataType type, int64_t at) {
  if (type == CUDA_R_32F) {
    return static_cast<const float*>(from)[at];
  }
  return std::bit_cast<float>(static_cast<uint32_t>(static_cast<const uint16_t*>(from)[at]) << 16U);
}

void store(float value, void* to, cudaDataType type, int64_t at) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(to)[at] = value;
    return;
  }
  const auto bits = std::bit_cast<uint32_t>(value);
  static_cast<uint16_t*>(to)[at] = static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

float element(const void* from, const Layout& layout, cublasOperation_t operation, int64_t row, int64_t column) {
  return load(from, layout.type,
              operation == CUBLAS_OP_T ? row * layout.stride + column : column * layout.stride + row);
}

struct Operands {
  float alpha;
  const void *a, *b;
  float beta;
  const void* c;
  void* d;
};

void multiply(const Problem& p, const Operands& x) {
  const auto depth = static_cast<int64_t>(p.product.a == CUBLAS_OP_T ? p.a.rows : p.a.columns);
  const float error = p.d.columns < 8 && is_told("rows differ") ? 1.0F + 0x1p-20F : 1.0F;
  for (int64_t column = 0; column < static_cast<int64_t>(p.d.columns); ++column) {
    for (int64_t row = 0; row < static_cast<int64_t>(p.d.rows); ++row) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += element(x.a, p.a, p.product.a, row, k) * element(x.b, p.b, p.product.b, k, column);
      }
      sum *= x.alpha * error;
      if (x.beta != 0.0F) {  // otherwise C need not have numbers
        sum += x.beta * element(x.c, p.c, CUBLAS_OP_N, row, column);
      }
      if (has_bias(p.product)) {  // of the type of D
        sum += load(p.product.bias, p.d.type, row);
      }
      store(has_relu(p.product) ? std::max(sum, 0.0F) : sum, x.d, p.d.type, column * p.d.stride + row);
    }
  }
}

// D = A^T B in integers; other factors than 1 and 0 are not what the project asks for.
cublasStatus_t multiply_integers(const Problem& p, const void* alpha, const void* beta, const Operands& x) {
  if (*static_cast<const int32_t*>(alpha) != 1 || *static_cast<const int32_t*>(beta) != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  for (int64_t column = 0; column < static_cast<int64_t>(p.d.columns); ++column) {
    for (int64_t row = 0; row < static_cast<int64_t>(p.d.rows); ++row) {
      int32_t sum = 0;
      for (int64_t k = 0; k < static_cast<int64_t>(p.a.rows); ++k) {
        sum += static_cast<const int8_t*>(x.a)[row * p.a.stride + k] *
               static_cast<const int8_t*>(x.b)[column * p.b.stride + k];
      }
      static_cast<int32_t*>(x.d)[column * p.d.stride + row] = sum;
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

struct cublasLtContext {};

extern "C" {

size_t cublasLtGetVersion() {
  return is_told("version 12") ? 120800 : 130100;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (is_told("no handle")) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const bool in_integers = compute == CUBLAS_COMPUTE_32I && scale == CUDA_R_32I;
  if (product == nullptr || (!in_integers && (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *product = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{.in_integers = in_integers});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete &own<Description>(product);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& own_product = own<Description>(product);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(own_product.a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(own_product.b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(own_product.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(own_product.bias, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t stride) {
  if (layout == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, stride});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &own<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &own<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  auto& own_preference = own<Preference>(preference);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(own_preference.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(own_preference.schemes, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(own_preference.alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference,
                                              int requested, cublasLtMatmulHeuristicResult_t* results, int* returned) {
  *returned = 0;
  const Problem problem{own<Description>(product), own<Layout>(a), own<Layout>(b), own<Layout>(c), own<Layout>(d)};
  if (requested < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (const cublasStatus_t status = check(problem); status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const auto& wanted = own<Preference>(preference);
  const bool aligned = std::ranges::all_of(wanted.alignment, [](uint32_t bytes) { return bytes >= kNeededAlignment; });
  if (!aligned || wanted.workspace < workspace_of(wanted.schemes) || is_told("no algorithm")) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const Algorithm algorithm{kAlgorithm, number_of(problem, wanted.schemes), wanted.schemes, 0, {}};
  *results = {};
  std::memcpy(&results->algo, &algorithm, sizeof(algorithm));
  results->workspaceSize = workspace_of(wanted.schemes);
  results->state = is_told("unsure") ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void* beta, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t) {
  const Problem problem{own<Description>(product), own<Layout>(layout_a), own<Layout>(layout_b), own<Layout>(layout_c),
                        own<Layout>(layout_d)};
  if (handle == nullptr || alpha == nullptr || beta == nullptr || a == nullptr || b == nullptr || d == nullptr ||
      algorithm == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (const cublasStatus_t status = check(problem); status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  Algorithm chosen{};
  std::memcpy(&chosen, algorithm, sizeof(chosen));
  if (chosen.name != kAlgorithm || chosen.problem != number_of(problem, chosen.schemes) || workspace == nullptr ||
      workspace_bytes < workspace_of(chosen.schemes)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Partial sums in any order, which INPLACE allows with counters, are not what the project wants to be offered.
  if ((chosen.schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE) != 0 || !is_aligned(workspace) || !is_aligned(a) ||
      !is_aligned(b) || !is_aligned(d)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  std::memset(workspace, 0xFF, workspace_of(chosen.schemes));  // an algorithm may write all of it
  if (problem.product.in_integers) {
    return multiply_integers(problem, alpha, beta, {1.0F, a, b, 0.0F, c, d});
  }
  multiply(problem, {*static_cast<const float*>(alpha), a, b, *static_cast<const float*>(beta), c, d});
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
