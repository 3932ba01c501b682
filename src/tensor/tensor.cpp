#include "tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "tensor/dtype_info.h"

namespace dragoman::tensor {

struct Tensor::Storage {
  Storage(std::shared_ptr<Allocator> from, size_t bytes)
      : allocator(std::move(from)), memory(allocator->allocate(bytes)) {}
  ~Storage() { allocator->release(memory); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // What is kept of some elements of a constant tensor.
  struct Derived {
    std::type_index type;
    const char* first;
    int64_t size;
    std::shared_ptr<const void> result;
    Refresh refresh;  // empty: it cannot be
  };
  std::shared_ptr<Allocator> allocator;
  void* memory;
  std::unique_ptr<std::pair<std::mutex, std::vector<Derived>>> derived;  // null unless the tensor is constant
};

namespace {

std::array<int64_t, Shape::kMaxRank> row_major_strides(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> strides{};
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = step;
    step *= shape[axis];
  }
  return strides;
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0.0;
  } else {
    return static_cast<T>(value);
  }
}

double element(const Tensor& tensor, int64_t index) {
  return visit_dtype(tensor.dtype(),
                     [&]<typename T>(std::type_identity<T>) { return to_double(tensor.data<T>()[index]); });
}

void set_element(Tensor& tensor, int64_t index, double value) {
  visit_dtype(tensor.dtype(),
              [&]<typename T>(std::type_identity<T>) { tensor.data<T>()[index] = from_double<T>(value); });
}

// Calls `visit(begin of a dense run, begin in a contiguous copy)` for each run along the last axis.
template <typename Visit>
void for_each_run(const Shape& shape, const Tensor& tensor, Visit visit) {
  const int rank = shape.rank();
  const int64_t run = rank == 0 ? 1 : shape[rank - 1];
  const int64_t runs = run == 0 ? 0 : shape.size() / run;
  for (int64_t index = 0; index < runs; ++index) {
    int64_t rest = index, offset = 0;
    for (int axis = rank - 2; axis >= 0; --axis) {
      offset += rest % shape[axis] * tensor.stride(axis);
      rest /= shape[axis];
    }
    visit(offset, index * run, run);
  }
}

// A contiguous tensor in host memory with the elements of `tensor`, which is the result if it is one.
Tensor dense_on_host(const Tensor& tensor) {
  if (tensor.device().is_host() && tensor.is_contiguous()) {
    return tensor;
  }
  const ArenaScope on_host(Arena::host());
  return tensor.clone();
}

// Conversion where source or result is not in host memory.
Tensor converted_by_host(const Tensor& tensor, DType dtype) {
  const auto convert = [&] {
    const ArenaScope on_host(Arena::host());
    return dense_on_host(tensor).to(dtype);
  };
  return convert().clone();
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor tensor;
  int64_t bytes = 0;
  base::check_argument(!__builtin_mul_overflow(shape.size(), static_cast<int64_t>(dtype_bytes(dtype)), &bytes),
                       "tensor: {} of {} does not fit 64-bit sizes", shape, dtype_name(dtype));
  tensor.storage_ = std::make_shared<Storage>(Arena::current(), static_cast<size_t>(bytes));
  tensor.first_ = static_cast<char*>(tensor.storage_->memory);
  tensor.shape_ = shape;
  tensor.strides_ = row_major_strides(shape);
  tensor.dtype_ = dtype;
  tensor.device_ = tensor.storage_->allocator->device();
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor tensor = empty(shape, dtype);
  tensor.storage_->allocator->clear(tensor.first_, static_cast<size_t>(tensor.size()) * dtype_bytes(dtype));
  return tensor;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor tensor = empty(shape, dtype);
  tensor.fill(value);
  return tensor;
}

template <typename T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  base::check_argument(static_cast<int64_t>(values.size()) == shape.size(), "tensor: {} values for shape {}",
                       values.size(), shape);
  Tensor tensor = empty(shape, DTypeOf<T>::value);
  if (tensor.device().is_host()) {
    std::copy(values.begin(), values.end(), tensor.data<T>());
  } else {
    tensor.storage_->allocator->copy_from_host(values.data(), values.size_bytes(), tensor.first_);
  }
  return tensor;
}

bool Tensor::is_contiguous() const {
  const auto dense = row_major_strides(shape_);
  for (int axis = 0; axis < rank(); ++axis) {
    if (dim(axis) > 1 && stride(axis) != dense[static_cast<size_t>(axis)]) {
      return false;
    }
  }
  return true;
}

void Tensor::check_access_slowly(DType asked) const {
  base::check(asked == dtype_, base::ErrorKind::kRuntime, "tensor: asked for {}, holds {}", dtype_name(asked),
              dtype_name(dtype_));
  base::check(storage_->allocator->host_may_access(), base::ErrorKind::kRuntime,
              "tensor: the host asked for the memory of {}, a {} {}; use a transfer of tensor/transfer.h",
              device_.name(), dtype_name(dtype_), shape_);
}

template <typename T>
std::span<const T> Tensor::span() const {
  base::check_argument(is_contiguous(), "tensor: span of a strided view {}; clone it first", shape_);
  return {data<T>(), static_cast<size_t>(size())};
}

template <typename T>
std::span<T> Tensor::span() {
  base::check_argument(is_contiguous(), "tensor: span of a strided view {}; clone it first", shape_);
  return {data<T>(), static_cast<size_t>(size())};
}

template <typename T>
std::vector<T> Tensor::to_vector() const {
  const Tensor dense = dense_on_host(*this);
  const std::span<const T> elements = dense.span<T>();
  return {elements.begin(), elements.end()};
}

double Tensor::item() const {
  base::check_argument(size() == 1, "tensor: item() of shape {}, must hold one element", shape_);
  return element(dense_on_host(*this), 0);
}

Tensor Tensor::reshape(const Shape& shape) const {
  base::check_argument(shape.size() == size(), "reshape: {} has {} elements, {} has {}", shape_, size(), shape,
                       shape.size());
  base::check_argument(is_contiguous(), "reshape: {} is a strided view; clone it first", shape_);
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = row_major_strides(shape);
  return view;
}

Tensor Tensor::rows(int64_t begin, int64_t end) const {
  base::check_argument(rank() >= 1 && 0 <= begin && begin <= end && end <= dim(0), "rows: [{}, {}) of shape {}", begin,
                       end, shape_);
  Tensor view = *this;
  view.first_ += begin * stride(0) * static_cast<int64_t>(dtype_bytes(dtype_));
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::ranges::copy(shape_.dims(), dims.begin());
  dims[0] = end - begin;
  view.shape_ = Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank())));
  return view;
}

Tensor Tensor::columns(int64_t begin, int64_t end) const {
  base::check_argument(rank() == 2 && 0 <= begin && begin <= end && end <= dim(1), "columns: [{}, {}) of shape {}",
                       begin, end, shape_);
  Tensor view = *this;
  view.first_ += begin * static_cast<int64_t>(dtype_bytes(dtype_));
  view.shape_ = Shape{dim(0), end - begin};
  return view;
}

Tensor Tensor::reinterpret(int64_t byte_offset, const Shape& shape, DType dtype) const {
  const auto width = static_cast<int64_t>(dtype_bytes(dtype));
  const int64_t held = size() * static_cast<int64_t>(dtype_bytes(dtype_)), asked = shape.size() * width;
  base::check_argument(is_contiguous() && byte_offset >= 0 && asked <= held - byte_offset,
                       "tensor: {} bytes from {} on, asked of {} contiguous ones", asked, byte_offset, held);
  if (reinterpret_cast<uintptr_t>(first_ + byte_offset) % static_cast<uintptr_t>(width) != 0) {
    base::check(device_.is_host(), base::ErrorKind::kRuntime, "tensor: {} bytes from {} on are not aligned on {}",
                asked, byte_offset, device_.name());
    Tensor copy = empty(shape, dtype);
    std::memcpy(copy.raw_data(), first_ + byte_offset, static_cast<size_t>(asked));
    return copy;
  }
  Tensor view = *this;
  view.first_ += byte_offset;
  view.shape_ = shape;
  view.strides_ = row_major_strides(shape);
  view.dtype_ = dtype;
  return view;
}

void Tensor::set_constant() {
  storage_->derived = std::make_unique<std::pair<std::mutex, std::vector<Storage::Derived>>>();
}

std::shared_ptr<const void> Tensor::derived_as(std::type_index type,
                                               const std::function<std::shared_ptr<const void>()>& make,
                                               const Refresh& refresh) const {
  if (storage_->derived == nullptr) {
    return make();
  }
  auto& [mutex, results] = *storage_->derived;
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find_if(results, [&](const Storage::Derived& each) {
    return each.type == type && each.first == first_ && each.size == size();
  });
  return found != results.end() ? found->result : results.emplace_back(type, first_, size(), make(), refresh).result;
}

template <typename T>
void Tensor::refill(std::span<const T> values) {
  base::check_argument(static_cast<int64_t>(values.size()) == size(), "tensor: refill of {} elements with {}", size(),
                       values.size());
  base::check_argument(storage_->derived != nullptr, "tensor: refill of a tensor that is not constant");
  auto& [mutex, results] = *storage_->derived;
  const std::lock_guard lock(mutex);
  for (const Storage::Derived& each : results) {
    base::check_argument(each.refresh && each.first == first_ && each.size == size(),
                         "tensor: what was derived of it cannot be refilled");
  }
  std::ranges::copy(values, span<T>().begin());
  for (const Storage::Derived& each : results) {
    each.refresh(*this, each.result.get());
  }
}

template void Tensor::refill<int32_t>(std::span<const int32_t>);

Tensor Tensor::clone() const {
  Tensor copy = empty(shape_, dtype_);
  copy.copy_from(*this);
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) {
    return clone();
  }
  if (!device_.is_host() || !Arena::current()->device().is_host()) {
    return converted_by_host(*this, dtype);
  }
  const Tensor dense = is_contiguous() ? *this : clone();
  Tensor converted = empty(shape_, dtype);
  if (dtype_ == DType::kBFloat16 && dtype == DType::kFloat32) {  // models are large
    std::ranges::transform(dense.span<BFloat16>(), converted.data<float>(), to_float);
    return converted;
  }
  if (dtype_ == DType::kFloat32 && dtype == DType::kBFloat16) {
    std::ranges::transform(dense.span<float>(), converted.data<BFloat16>(), to_bfloat16);
    return converted;
  }
  for (int64_t index = 0; index < size(); ++index) {
    set_element(converted, index, element(dense, index));
  }
  return converted;
}

void Tensor::copy_from(const Tensor& source) {
  base::check_argument(shape_ == source.shape_ && dtype_ == source.dtype_, "copy: {} {} into {} {}",
                       dtype_name(source.dtype_), source.shape_, dtype_name(dtype_), shape_);
  if (is_contiguous() && source.is_contiguous()) {
    copy_bytes(source, 0, 0, size());
    return;
  }
  base::check_argument(is_contiguous() || rank() == 2, "copy: into a strided view of rank {}", rank());
  for_each_run(shape_, source, [&](int64_t offset, int64_t dense, int64_t run) {
    copy_bytes(source, offset, is_contiguous() ? dense : dense / run * stride(0), run);
  });
}

// Copies `elements` from element `from` of source on to element `to` on, over the host if the devices differ.
void Tensor::copy_bytes(const Tensor& source, int64_t from, int64_t to, int64_t elements) {
  const auto width = static_cast<int64_t>(dtype_bytes(dtype_));
  const char* first = source.first_ + from * width;
  char* target = first_ + to * width;
  const auto bytes = static_cast<size_t>(elements * width);
  if (device_.is_host() && source.device_.is_host()) {
    std::memmove(target, first, bytes);
  } else if (device_ == source.device_) {
    storage_->allocator->copy_inside(first, bytes, target);
  } else if (device_.is_host()) {
    source.storage_->allocator->copy_to_host(first, bytes, target);
  } else if (source.device_.is_host()) {
    storage_->allocator->copy_from_host(first, bytes, target);
  } else {
    base::fail(base::ErrorKind::kRuntime, "copy: from {} to {}; copy to the host first", source.device_.name(),
               device_.name());
  }
}

void Tensor::fill(double value) {
  if (!device_.is_host() && value == 0.0 && !std::signbit(value) && is_contiguous()) {
    return storage_->allocator->clear(first_, static_cast<size_t>(size()) * dtype_bytes(dtype_));
  }
  if (!device_.is_host()) {
    // The host gives a small piece, and the device copies what is there already.
    constexpr int64_t kPiece = 4096;
    const int64_t elements = size(), first = is_contiguous() ? std::min(elements, kPiece) : elements;
    const Tensor piece = [&] {
      const ArenaScope on_host(Arena::host());
      return full(is_contiguous() ? Shape{first} : shape_, value, dtype_);
    }();
    if (!is_contiguous()) {
      return copy_from(piece);
    }
    copy_bytes(piece, 0, 0, first);
    for (int64_t done = first; done < elements; done *= 2) {
      copy_bytes(*this, 0, done, std::min(done, elements - done));
    }
    return;
  }
  for_each_run(shape_, *this, [&](int64_t offset, int64_t, int64_t run) {
    if (dtype_ == DType::kFloat32) {
      std::fill_n(data<float>() + offset, run, static_cast<float>(value));
      return;
    }
    for (int64_t column = 0; column < run; ++column) {
      set_element(*this, offset + column, value);
    }
  });
}

BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) {
    return {static_cast<uint16_t>((bits >> 16) | 0x0040)};
  }
  return {static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

void check_shape(const Tensor& tensor, const Shape& expected, const char* op, const char* argument) {
  base::check_argument(tensor.shape() == expected, "{}: {} is {}, must be {}", op, argument, tensor.shape(), expected);
}

void check_matrix(const Tensor& tensor, DType dtype, const char* op, const char* argument) {
  base::check_argument(tensor.rank() == 2, "{}: {} is {}, must be a matrix", op, argument, tensor.shape());
  base::check_argument(tensor.dtype() == dtype, "{}: {} is {}, must be {}", op, argument, dtype_name(tensor.dtype()),
                       dtype_name(dtype));
  base::check_argument(tensor.dim(1) <= 1 || tensor.stride(1) == 1, "{}: {} is not dense along its rows", op, argument);
}

std::string_view dtype_name(DType dtype) {
  return dtype_info(dtype).name;
}

size_t dtype_bytes(DType dtype) {
  return dtype_info(dtype).bytes;
}

#define DRAGOMAN_INSTANTIATE(T)                                      \
  template Tensor Tensor::from<T>(std::span<const T>, const Shape&); \
  template std::span<const T> Tensor::span<T>() const;               \
  template std::span<T> Tensor::span<T>();                           \
  template std::vector<T> Tensor::to_vector<T>() const;
DRAGOMAN_INSTANTIATE(float)
DRAGOMAN_INSTANTIATE(double)
DRAGOMAN_INSTANTIATE(int32_t)
DRAGOMAN_INSTANTIATE(int8_t)
DRAGOMAN_INSTANTIATE(bool)
DRAGOMAN_INSTANTIATE(BFloat16)
#undef DRAGOMAN_INSTANTIATE

}  // namespace dragoman::tensor
