#include "ops/relative_positions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "ops/gemm.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

// The bucket of a distance on one side of the query.
int64_t bucket_of_distance(int64_t distance, int64_t count, int64_t max_distance) {
  const int64_t exact = count / 2;
  if (distance < exact) {
    return distance;
  }
  const float ratio = static_cast<float>(distance) / static_cast<float>(exact);
  const auto range = static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
  const float place = std::log(ratio) / range * static_cast<float>(count - exact);
  return std::min(count - 1, exact + static_cast<int64_t>(place));
}

// The bucket of t - s = place - reach, for the places of a table by distance.
std::vector<int64_t> buckets_of_places(const RelativeBuckets& buckets, int64_t reach) {
  std::vector<int64_t> result;
  for (int64_t place = 0; place < 2 * reach; ++place) {
    result.push_back(relative_bucket(reach - place, buckets));
  }
  return result;
}

template <typename T>
Tensor spread(const Tensor& weight, const std::vector<int64_t>& buckets) {
  const int64_t heads = weight.dim(1);
  Tensor table = Tensor::empty({heads, static_cast<int64_t>(buckets.size())}, weight.dtype());
  const tensor::HostView<T> from(weight);
  tensor::HostEdit<T> edit(table);
  auto to = edit.span().begin();
  for (int64_t head = 0; head < heads; ++head) {
    for (const int64_t bucket : buckets) {
      *to++ = from[static_cast<size_t>(bucket * heads + head)];
    }
  }
  return table;
}

template <typename T>
Tensor gathered_grad(const Tensor& grad, const RelativeBuckets& buckets) {
  const int64_t heads = grad.dim(0), width = grad.dim(1);
  const std::vector<int64_t> of_places = buckets_of_places(buckets, width / 2);
  Tensor result = Tensor::zeros({buckets.count, heads}, grad.dtype());
  const tensor::HostView<T> from(grad);
  tensor::HostEdit<T> edit(result);
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t place = 0; place < width; ++place) {
      const int64_t bucket = of_places[static_cast<size_t>(place)];
      edit.span()[static_cast<size_t>(bucket * heads + head)] += from[static_cast<size_t>(head * width + place)];
    }
  }
  return result;
}

// 1 where a place is of a bucket, otherwise 0, on a device, where the table and its gradient are products with it, so
// that nothing waits.
struct Selection {
  RelativeBuckets buckets;
  Tensor table;  // [buckets, places]
};

Tensor make_selection(const RelativeBuckets& buckets, int64_t reach) {
  const std::vector<int64_t> of_places = buckets_of_places(buckets, reach);
  const auto places = static_cast<int64_t>(of_places.size());
  std::vector<float> chosen(static_cast<size_t>(buckets.count * places));
  for (int64_t place = 0; place < places; ++place) {
    chosen[static_cast<size_t>(of_places[static_cast<size_t>(place)] * places + place)] = 1.0F;
  }
  return Tensor::from(chosen, {buckets.count, places});
}

// The selection, which is kept beside the offsets.
Tensor selection(const RelativeBuckets& buckets, int64_t reach, const Tensor& offsets) {
  const auto kept = offsets.derived<Selection>([&] {
    return std::make_shared<const Selection>(Selection{buckets, make_selection(buckets, reach)});
  });
  const bool fits = kept->buckets == buckets && kept->table.dim(1) == 2 * reach;
  return fits ? kept->table : make_selection(buckets, reach);
}

}  // namespace

int64_t relative_bucket(int64_t offset, const RelativeBuckets& buckets) {
  if (!buckets.both_sides) {
    return bucket_of_distance(std::max<int64_t>(-offset, 0), buckets.count, buckets.max_distance);
  }
  const int64_t half = buckets.count / 2;
  return (offset > 0 ? half : 0) + bucket_of_distance(std::abs(offset), half, buckets.max_distance);
}

Tensor bias_by_distance(const Tensor& weight, const RelativeBuckets& buckets, int64_t reach, const Tensor& offsets) {
  if (!weight.device().is_host()) {
    Tensor table = Tensor::empty({weight.dim(1), 2 * reach});  // [H, 2R]
    gemm(weight, Transpose::kYes, selection(buckets, reach, offsets), Transpose::kNo, table);
    return table;
  }
  const std::vector<int64_t> of_places = buckets_of_places(buckets, reach);
  return weight.dtype() == DType::kFloat64 ? spread<double>(weight, of_places) : spread<float>(weight, of_places);
}

Tensor bias_weight_grad(const Tensor& grad, const RelativeBuckets& buckets, const Tensor& offsets) {
  if (!grad.device().is_host()) {
    Tensor sums = Tensor::empty({buckets.count, grad.dim(0)});  // [C, H]
    gemm(selection(buckets, grad.dim(1) / 2, offsets), Transpose::kNo, grad, Transpose::kYes, sums);
    return sums;
  }
  return grad.dtype() == DType::kFloat64 ? gathered_grad<double>(grad, buckets) : gathered_grad<float>(grad, buckets);
}

Tensor bias_of_last_query(const Tensor& weight, const RelativeBuckets& buckets, int64_t length) {
  std::vector<int64_t> of_keys;
  for (int64_t key = 0; key < length; ++key) {
    of_keys.push_back(relative_bucket(key + 1 - length, buckets));
  }
  return spread<float>(weight, of_keys);
}

void add_step_bias(const Tensor& bias, kernels::StepKeys& keys) {
  base::check_argument(bias.dtype() == DType::kFloat32, "step bias: is {}, must be float32",
                       tensor::dtype_name(bias.dtype()));
  keys.bias = static_cast<const float*>(bias.device_data()) + (bias.dim(1) - keys.length);
  keys.bias_stride = bias.dim(1);
}

}  // namespace dragoman::ops
