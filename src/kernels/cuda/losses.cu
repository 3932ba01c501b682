#include "kernels/cuda/losses.h"

#include "kernels/cuda/device_math-inl.h"

namespace dragoman::kernels::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kThreadsOfLoss = 512;
constexpr size_t kMostSharedRow = size_t{100} << 10;  // bytes: two blocks fit into a multiprocessor

// An element of a row: the larger value, the lower column among equals.
struct Place {
  float value;
  int32_t column;
};

__device__ __forceinline__ bool before(const Place& a, const Place& b) {
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

// Returns in every thread: the first of the block's places.
__device__ Place first_of_block(Place place) {
  __shared__ Place of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    const Place other{__shfl_xor_sync(kAllLanes, place.value, lanes), __shfl_xor_sync(kAllLanes, place.column, lanes)};
    place = before(other, place) ? other : place;
  }
  if (lane_number() == 0) {
    of_warp[warp_number()] = place;
  }
  __syncthreads();
  place = of_warp[0];
  for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp) {
    place = before(of_warp[warp], place) ? of_warp[warp] : place;
  }
  __syncthreads();
  return place;
}

constexpr int32_t kNoColumn = 0x7FFFFFFF;

// What a loss needs of a row.
struct RowFacts {
  Place largest;
  double log_sum_exp;
  double total;
};

// What a thread has read of a row: the sum of exponentials is relative to the largest value so far.
struct PartOfRow {
  Place largest{-INFINITY, kNoColumn};
  float sum = 0, total = 0;

  // Takes the columns 8 * group .. of a row.
  template <typename Exp>
  __device__ __forceinline__ void take(const Eight& x, int64_t group, const Exp& exp) {
    const float most =
        fmaxf(fmaxf(fmaxf(x.v[0], x.v[1]), fmaxf(x.v[2], x.v[3])), fmaxf(fmaxf(x.v[4], x.v[5]), fmaxf(x.v[6], x.v[7])));
    if (most > largest.value) {  // columns rise: the first of equals stays
      sum *= expf(largest.value - most);
      int first = kGroup - 1;
      DRAGOMAN_UNROLL
      for (int i = kGroup - 2; i >= 0; --i) {
        first = x.v[i] == most ? i : first;
      }
      largest = {most, static_cast<int32_t>(group * kGroup + first)};
    }
    const float shift = largest.value == -INFINITY ? 0.0F : largest.value;
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      sum += exp(x.v[i] - shift);
      total += x.v[i];
    }
  }

  // Takes the `left` last columns of a row, fewer than 8.
  __device__ __forceinline__ void take_last(const Eight& x, int64_t group, int64_t left) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      if (i < left && x.v[i] > largest.value) {
        sum *= expf(largest.value - x.v[i]);
        largest = {x.v[i], static_cast<int32_t>(group * kGroup + i)};
      }
      sum += i < left ? expf(x.v[i] - (largest.value == -INFINITY ? 0.0F : largest.value)) : 0.0F;
      total += i < left ? x.v[i] : 0.0F;
    }
  }
};

// Exponentials for logits of float32 and of bfloat16, which have an error of 2^-9 anyway.
struct ExactExp {
  __device__ float operator()(float x) const { return expf(x); }
};
struct FastExp {
  __device__ float operator()(float x) const { return fast_exp(x); }
};
template <typename T>
struct ExpOf {
  using Type = ExactExp;
};
template <>
struct ExpOf<BFloat16> {
  using Type = FastExp;
};

// Eight elements as they are stored.
template <typename T>
struct Stored8;
template <>
struct Stored8<float> {
  float4 low, high;
};
template <>
struct Stored8<BFloat16> {
  uint4 words;
};

// A row of logits that threads go through more than once: each thread the same groups. `kept`, if there is one, has the
// row from the first time on.
template <typename T>
struct RowOfLogits {
  T* row;
  T* kept;  // in shared memory, or null
  int64_t columns;

  __device__ __forceinline__ Eight read(int64_t group, int64_t left) const {
    const T* from = row + group * kGroup;
    if (kept != nullptr && left >= kGroup && is_aligned(from)) {
      *reinterpret_cast<Stored8<T>*>(kept + group * kGroup) = *reinterpret_cast<const Stored8<T>*>(from);
      return load8(kept + group * kGroup, left);
    }
    return load8(from, left);
  }
  __device__ __forceinline__ Eight again(int64_t group, int64_t left) const {
    const T* from = row + group * kGroup;
    return load8(kept != nullptr && left >= kGroup && is_aligned(from) ? kept + group * kGroup : from, left);
  }
};

template <typename T>
__device__ RowFacts facts_of_row(const RowOfLogits<T>& row) {
  const typename ExpOf<T>::Type exp;
  PartOfRow part;
  for (int64_t group = threadIdx.x; group * kGroup < row.columns; group += blockDim.x) {
    const int64_t left = row.columns - group * kGroup;
    const Eight x = row.read(group, left);
    if (left >= kGroup) {
      part.take(x, group, exp);
    } else {
      part.take_last(x, group, left);
    }
  }
  RowFacts facts;
  facts.largest = first_of_block(part.largest);
  const float shift = facts.largest.value == -INFINITY ? 0.0F : facts.largest.value;
  const float rescale = expf(part.largest.value - shift);  // 0 for a thread without columns
  const double sum_of_block = over_block(static_cast<double>(part.sum * rescale), Sum());
  facts.total = over_block(static_cast<double>(part.total), Sum());
  facts.log_sum_exp = static_cast<double>(facts.largest.value) + log(sum_of_block);
  return facts;
}

struct Loss {
  double smoothed, nll;
};

__device__ __forceinline__ Loss loss_of(const RowFacts& facts, double wanted, double smoothing, int64_t columns) {
  const double nll = facts.log_sum_exp - wanted;
  const double mean_nll = facts.log_sum_exp - facts.total / static_cast<double>(columns);
  return {(1.0 - smoothing) * nll + smoothing * mean_nll, nll};
}

template <typename T>
__device__ RowFacts facts_of_row(const T* row, int64_t columns) {
  return facts_of_row(RowOfLogits<T>{const_cast<T*>(row), nullptr, columns});  // which is read only
}

// Writes the gradient of a row.
template <typename T>
__device__ __forceinline__ void write_gradient(const Losses& losses, const RowOfLogits<T>& row, int32_t target,
                                               float log_sum_exp) {
  const typename ExpOf<T>::Type exp;
  const float spread = losses.label_smoothing / static_cast<float>(row.columns);
  for (int64_t group = threadIdx.x; group * kGroup < row.columns; group += blockDim.x) {
    const int64_t first = group * kGroup, left = row.columns - first;
    Eight x = row.again(group, left);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      x.v[i] = losses.gradient_scale * (exp(x.v[i] - log_sum_exp) - spread);
    }
    if (first <= target && target < first + kGroup) {
      DRAGOMAN_UNROLL
      for (int i = 0; i < kGroup; ++i) {
        x.v[i] -= first + i == target ? losses.gradient_scale * (1.0F - losses.label_smoothing) : 0.0F;
      }
    }
    store8(x, row.row + first, left);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreadsOfLoss) cross_entropy_rows(Losses losses, Matrix<T> logits) {
  DRAGOMAN_DYNAMIC_SHARED(T, kept);  // of a row, if losses.keeps_rows
  const int64_t n = blockIdx.x, columns = losses.extent.columns, rows = losses.extent.rows;
  T* row = logits.data + n * logits.stride;
  const RowOfLogits<T> of_row{row, losses.keeps_rows ? kept : nullptr, columns};
  const int32_t target = losses.targets[n];
  const RowFacts facts = facts_of_row(of_row);
  if (threadIdx.x == 0) {
    const Loss loss =
        loss_of(facts, static_cast<double>(widen(row[target])), static_cast<double>(losses.label_smoothing), columns);
    losses.row_losses[n] = loss.smoothed;
    losses.row_losses[rows + n] = loss.nll;
    losses.row_losses[2 * rows + n] = facts.largest.column == target ? 1.0 : 0.0;
  }
  if (!losses.with_gradient) {
    return;
  }
  __syncthreads();  // thread 0 read the logit of the target
  write_gradient(losses, of_row, target, static_cast<float>(facts.log_sum_exp));
}

// Adds the sums of `arrays` arrays [count]. A block has an array.
__global__ void __launch_bounds__(kThreads) sum_arrays(const double* values, int64_t count, double* sums) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    sum += values[blockIdx.x * count + i];
  }
  sum = over_block(sum, Sum());
  if (threadIdx.x == 0) {
    sums[blockIdx.x] += sum;
  }
}

__device__ __forceinline__ double at_least_zero(double value) {
  return value < 0.0 ? 0.0 : value;
}

__global__ void __launch_bounds__(kThreads) two_pass_rows(PairLosses losses) {
  const int64_t n = blockIdx.x, columns = losses.extent.columns, pairs = losses.extent.rows;
  float* row_p = losses.logits.data + n * losses.logits.stride;
  float* row_q = losses.logits.data + (pairs + n) * losses.logits.stride;
  const int32_t target = losses.targets[n];
  const RowFacts p = facts_of_row(row_p, columns), q = facts_of_row(row_q, columns);
  const auto log_p = static_cast<float>(p.log_sum_exp), log_q = static_cast<float>(q.log_sum_exp);
  float difference_p = 0, difference_q = 0;  // means of x - y under p and q
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const float difference = row_p[c] - row_q[c];
    difference_p += expf(row_p[c] - log_p) * difference;
    difference_q += expf(row_q[c] - log_q) * difference;
  }
  const double between = p.log_sum_exp - q.log_sum_exp;
  const double kl_pq = at_least_zero(over_block(static_cast<double>(difference_p), Sum()) - between);
  const double kl_qp = at_least_zero(between - over_block(static_cast<double>(difference_q), Sum()));
  if (threadIdx.x == 0) {
    const auto smoothing = static_cast<double>(losses.label_smoothing);
    const Loss loss_p = loss_of(p, static_cast<double>(row_p[target]), smoothing, columns);
    const Loss loss_q = loss_of(q, static_cast<double>(row_q[target]), smoothing, columns);
    const auto reverse = static_cast<double>(losses.reverse);
    losses.row_losses[n] = losses.first * loss_p.smoothed + losses.second * loss_q.smoothed;
    losses.row_losses[pairs + n] = losses.first * loss_p.nll + losses.second * loss_q.nll;
    losses.row_losses[2 * pairs + n] = (kl_pq + reverse * kl_qp) / (1 + reverse);
    losses.row_losses[3 * pairs + n] = p.largest.column == target ? 1.0 : 0.0;
  }
  if (!losses.with_gradient) {
    return;
  }
  __syncthreads();
  const float spread = losses.label_smoothing / static_cast<float>(columns);
  const auto kl_of_p = static_cast<float>(kl_pq), kl_of_q = static_cast<float>(kl_qp);
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const float wanted = spread + (c == target ? 1.0F - losses.label_smoothing : 0.0F);
    const float x = row_p[c] - log_p, y = row_q[c] - log_q, of_p = expf(x), of_q = expf(y);
    row_p[c] = losses.scale_p * (of_p - wanted) +
               losses.divergence_scale * (of_p * (x - y - kl_of_p) + losses.reverse * (of_p - of_q));
    row_q[c] = losses.scale_q * (of_q - wanted) +
               losses.divergence_scale * (losses.reverse * of_q * (y - x - kl_of_q) + of_q - of_p);
  }
}

constexpr unsigned kMostThreadsOfBest = 1024;

// A thread has about 32 columns.
unsigned threads_of_best(int64_t columns) {
  return columns >= 16384 ? kMostThreadsOfBest : columns >= 2048 ? 256U : 64U;
}

// The first of the columns of this thread that stand behind a place.
__device__ Place first_behind(const Place& previous, const float* row, int64_t columns) {
  Place first{-INFINITY, kNoColumn};
  for (int64_t group = threadIdx.x; group * kGroup < columns; group += blockDim.x) {
    const int64_t left = columns - group * kGroup;
    const Eight x = load8(row + group * kGroup, left);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      const Place here{x.v[i] == x.v[i] ? x.v[i] : -INFINITY, static_cast<int32_t>(group * kGroup + i)};
      if (i < left && before(previous, here) && before(here, first)) {  // NaN is the smallest
        first = here;
      }
    }
  }
  return first;
}

// The k largest, one after the other. After each, only the thread that had it reads its columns again.
__global__ void __launch_bounds__(kMostThreadsOfBest) best_rows(BestOfRows best) {
  const int64_t n = blockIdx.x, columns = best.extent.columns;
  const float* row = best.logits.data + n * best.logits.stride;
  const RowFacts facts = facts_of_row(row, columns);
  Place own = first_behind({INFINITY, -1}, row, columns);
  for (int i = 0; i < best.k; ++i) {
    const Place found = first_of_block(own);
    if (threadIdx.x == 0) {
      best.values[n * best.k + i] = found.value;
      best.ids[n * best.k + i] = found.column;
    }
    if (own.column == found.column) {
      own = first_behind(found, row, columns);
    }
  }
  if (threadIdx.x == 0) {
    best.log_sums[n] = facts.log_sum_exp;
  }
}

void sum_up(const char* name, const double* row_losses, int64_t arrays, int64_t count, double* sums) {
  launch(name, sum_arrays, {dim3(static_cast<unsigned>(arrays)), kThreads}, row_losses, count, sums);
}

template <typename T>
void run_cross_entropy(Losses losses) {
  const auto bytes = static_cast<size_t>(losses.extent.columns) * sizeof(T);
  losses.keeps_rows = losses.with_gradient && bytes <= kMostSharedRow;
  launch("cross_entropy", cross_entropy_rows<T>,
         {dim3(static_cast<unsigned>(losses.extent.rows)), kThreadsOfLoss, losses.keeps_rows ? bytes : 0}, losses,
         losses.logits.as<T>());
}

}  // namespace

void cross_entropy(const Losses& losses, double* sums) {
  if (losses.logits.is_bfloat16) {
    run_cross_entropy<BFloat16>(losses);
  } else {
    run_cross_entropy<float>(losses);
  }
  sum_up("cross_entropy", losses.row_losses, 3, losses.extent.rows, sums);
}

void two_pass_cross_entropy(const PairLosses& losses, double* sums) {
  launch("two_pass_cross_entropy", two_pass_rows, {dim3(static_cast<unsigned>(losses.extent.rows)), kThreads}, losses);
  sum_up("two_pass_cross_entropy", losses.row_losses, 4, losses.extent.rows, sums);
}

void best_of_rows(const BestOfRows& best) {
  const LaunchShape shape{dim3(static_cast<unsigned>(best.extent.rows)), threads_of_best(best.extent.columns)};
  launch("best_of_rows", best_rows, shape, best);
}

}  // namespace dragoman::kernels::cuda
