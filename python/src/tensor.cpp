#include "tensor.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include "base/error.h"
#include "bindings.h"
#include "kernels/adam.h"
#include "kernels/backends/backend_of.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/reshape.h"
#include "tensor/arena.h"

namespace dragoman::python {
namespace {

using tensor::DType;

// The memory of an array of another library, as the allocator of the one tensor that views it.
class BorrowedMemory final : public tensor::Allocator {
 public:
  explicit BorrowedMemory(Array array)
      : array_(new Array(std::move(array)), [](Array* held) {
          if (nb::is_alive()) {
            const nb::gil_scoped_acquire acquired;
            delete held;
          }
        }) {}

  tensor::Device device() const override { return {}; }
  std::shared_ptr<tensor::Allocator> another() const override { return std::make_shared<tensor::Arena>(); }
  void* allocate(size_t /*bytes*/) override { return array_->data(); }
  void release(void* /*block*/) override {}
  void reserve(size_t /*bytes*/) override {}
  void give_back() override {}
  tensor::ArenaCounters counters() const override { return {}; }
  bool host_may_access() const override { return true; }
  void copy_to_host(const void* device, size_t bytes, void* host) const override { std::memcpy(host, device, bytes); }
  void copy_from_host(const void* host, size_t bytes, void* device) const override { std::memcpy(device, host, bytes); }
  void copy_inside(const void* from, size_t bytes, void* to) const override { std::memmove(to, from, bytes); }
  void clear(void* device, size_t bytes) const override { std::memset(device, 0, bytes); }

 private:
  std::shared_ptr<Array> array_;
};

struct KnownType {
  nb::dlpack::dtype array;
  DType tensor;
};

std::vector<KnownType> known_types() {
  return {{nb::dtype<float>(), DType::kFloat32},
          {nb::dtype<double>(), DType::kFloat64},
          {nb::dtype<int32_t>(), DType::kInt32},
          {nb::dtype<bool>(), DType::kBool}};
}

nb::dlpack::dtype array_type_of(DType dtype) {
  for (const KnownType& known : known_types()) {
    if (known.tensor == dtype) {
      return known.array;
    }
  }
  base::fail(base::ErrorKind::kUsage, "tensor: {} has no array; ask for float32", tensor::dtype_name(dtype));
}

// A view of the memory of a tensor for any library.
template <typename Kind>
nb::ndarray<Kind> array_of(const Tensor& tensor) {
  std::vector<size_t> shape;
  std::vector<int64_t> strides;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    shape.push_back(static_cast<size_t>(tensor.dim(axis)));
    strides.push_back(tensor.stride(axis));
  }
  auto* held = new Tensor(tensor);
  const nb::capsule owner(held, [](void* memory) noexcept { delete static_cast<Tensor*>(memory); });
  return nb::ndarray<Kind>(held->raw_data(), shape.size(), shape.data(), owner, strides.data(),
                           array_type_of(tensor.dtype()));
}

nb::object dlpack_of(const Variable& variable, const nb::kwargs& arguments) {
  return nb::cast(array_of<nb::array_api>(variable.value())).attr("__dlpack__")(**arguments);
}

nb::tuple shape_tuple(const Variable& variable) {
  nb::list dims;
  for (const int64_t size : variable.shape().dims()) {
    dims.append(size);
  }
  return nb::tuple(dims);
}

// While entered, ops of the thread are recorded.
class TapeContext {
 public:
  TapeContext& enter() {
    base::check_usage(!scope_, "tape: it is entered already; use another");
    thread_ = std::this_thread::get_id();
    scope_.emplace(&tape_);
    return *this;
  }

  void exit() {
    base::check_usage(scope_ && thread_ == std::this_thread::get_id() && autograd::Tape::active() == &tape_,
                      "tape: it is left in another thread or order than it was entered; nest `with` blocks");
    scope_.reset();
  }

  void backward(const Variable& loss, double scale) {
    base::check_usage(loss.shape().size() == 1,
                      "backward: the loss is {}, must be one number; take ops.sum or ops.mean", loss.shape());
    const nb::gil_scoped_release released;
    const autograd::NoGrad nothing_recorded;
    tape_.backward(loss, scale);
  }

  size_t size() const { return tape_.size(); }

 private:
  autograd::Tape tape_;
  std::optional<autograd::TapeScope> scope_;
  std::thread::id thread_;
};

// Adam over parameters whose gradients a tape has computed (training/optimizer.h works on one flat buffer).
class Adam {
 public:
  Adam(std::vector<Variable> parameters, const kernels::AdamScalars& scalars)
      : parameters_(std::move(parameters)), scalars_(scalars) {
    for (const Variable& each : parameters_) {
      base::check_usage(each.requires_grad(), "Adam: a parameter of shape {} requires no gradient", each.shape());
      moments_.push_back(
          {Tensor::zeros({each.shape().size()}, each.dtype()), Tensor::zeros({each.shape().size()}, each.dtype())});
    }
  }

  void step(double learning_rate, double clip_norm) {
    scalars_.learning_rate = learning_rate;
    scalars_.gradient_scale = scale_for(clip_norm);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Variable& parameter = parameters_[i];
      if (parameter.has_grad()) {
        const tensor::Shape flat{parameter.shape().size()};
        Tensor weights = parameter.mutable_value().reshape(flat);
        kernels::backend_of(weights).adam_update(weights, parameter.grad().reshape(flat), moments_[i].first,
                                                 moments_[i].second, scalars_);
      }
    }
    ++scalars_.step;
  }

  void clear_gradients() {
    for (Variable& parameter : parameters_) {
      parameter.clear_grad();
    }
  }

 private:
  struct Moments {
    Tensor first, second;
  };

  double scale_for(double clip_norm) const {
    if (clip_norm <= 0.0) {
      return 1.0;
    }
    double squares = 0.0;
    for (const Variable& parameter : parameters_) {
      if (parameter.has_grad()) {
        squares += kernels::backend_of(parameter.grad()).sum_of_squares(parameter.grad());
      }
    }
    const double norm = std::sqrt(squares);
    return norm > clip_norm ? clip_norm / norm : 1.0;
  }

  std::vector<Variable> parameters_;
  std::vector<Moments> moments_;
  kernels::AdamScalars scalars_;
};

}  // namespace

Tensor view_of(Array array) {
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    dims.push_back(static_cast<int64_t>(array.shape(axis)));
  }
  for (const KnownType& known : known_types()) {
    if (array.dtype() == known.array) {
      const tensor::ArenaScope scope(std::make_shared<BorrowedMemory>(std::move(array)));
      return Tensor::empty(shape_of(dims), known.tensor);
    }
  }
  base::fail(
      base::ErrorKind::kUsage,
      "tensor: the array has a dtype of {} bits, must be float32, float64, int32 or bool; convert it with astype",
      static_cast<int>(array.dtype().bits));
}

nb::ndarray<nb::numpy> numpy_of(const Tensor& tensor) {
  return array_of<nb::numpy>(tensor);
}

tensor::Shape shape_of(const std::vector<int64_t>& dims) {
  base::check_usage(dims.size() <= static_cast<size_t>(tensor::Shape::kMaxRank),
                    "tensor: {} axes are given, at most {} are supported", dims.size(), tensor::Shape::kMaxRank);
  return tensor::Shape(dims);
}

void bind_tensor(nb::module_& module) {
  using nb::arg;
  using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Variable>(module, "Tensor", "An array in memory of dragoman, or a view of one of NumPy, with a gradient.")
      .def_static(
          "view", [](Array array, bool requires_grad) { return Variable(view_of(std::move(array)), requires_grad); },
          arg("array"), arg("requires_grad") = false,
          nb::sig("def view(array: object, requires_grad: bool = False) -> Tensor"),
          "Returns a tensor with the memory of a contiguous array, which is not copied.")
      .def_prop_ro("shape", &shape_tuple, nb::sig("def shape(self) -> tuple[int, ...]"), "The sizes of the axes.")
      .def_prop_ro(
          "dtype", [](const Variable& self) { return std::string(tensor::dtype_name(self.dtype())); },
          "\"float32\", \"float64\", \"int32\" or \"bool\".")
      .def_prop_ro("requires_grad", &Variable::requires_grad, "Whether a backward computes its gradient.")
      .def_prop_ro(
          "grad",
          [](const Variable& self) -> std::optional<Variable> {
            return self.has_grad() ? std::optional(Variable(self.grad())) : std::nullopt;
          },
          "The gradient, or None before a backward has reached this tensor.")
      .def("clear_grad", &Variable::clear_grad, "Discards the gradient.")
      .def(
          "numpy", [](const Variable& self) { return numpy_of(self.value()); },
          nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
          "Returns an array with the memory of this tensor, which is not copied.")
      .def(
          "__array__",
          [](const Variable& self, nb::object dtype, nb::object copy) {
            const nb::object array = nb::cast(numpy_of(self.value()));
            if (dtype.is_none() && (copy.is_none() || !nb::cast<bool>(copy))) {
              return array;
            }
            return nb::module_::import_("numpy").attr("array")(array, dtype);
          },
          arg("dtype") = nb::none(), arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                  "numpy.typing.NDArray[typing.Any]"))
      .def("__dlpack__", &dlpack_of, nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__", [](const Variable&) { return std::pair(1, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def(
          "item", [](const Variable& self) { return self.value().item(); }, "Returns the only element.")
      .def(
          "detach", [](const Variable& self) { return Variable(self.value()); },
          "Returns a tensor with the same memory that no gradient flows through.")
      .def(
          "reshape",
          [](const Variable& self, const std::vector<int64_t>& shape) { return ops::reshape(self, shape_of(shape)); },
          arg("shape"), "Returns a tensor of another shape with the same memory.")
      .def("__add__", &ops::add, ReleaseGil())
      .def("__sub__", &ops::subtract, ReleaseGil())
      .def("__mul__", &ops::multiply, ReleaseGil())
      .def("__mul__", &ops::scale, ReleaseGil())
      .def("__rmul__", &ops::scale, ReleaseGil())
      .def(
          "__truediv__", [](const Variable& self, double divisor) { return ops::scale(self, 1.0 / divisor); },
          ReleaseGil())
      .def(
          "__neg__", [](const Variable& self) { return ops::scale(self, -1.0); }, ReleaseGil())
      .def(
          "__matmul__",
          [](const Variable& self, const Variable& other) {
            return ops::matmul(self, kernels::Transpose::kNo, other, kernels::Transpose::kNo);
          },
          ReleaseGil())
      .def("__len__",
           [](const Variable& self) {
             base::check_usage(self.shape().rank() > 0, "tensor: a scalar has no length");
             return self.dim(0);
           })
      .def("__repr__", [](const Variable& self) {
        return fmt::format("Tensor(shape={}, dtype={}{})", self.shape(), tensor::dtype_name(self.dtype()),
                           self.requires_grad() ? ", requires_grad=True" : "");
      });

  nb::class_<TapeContext>(module, "Tape", "Records the ops of the thread inside a `with` block.")
      .def(nb::init<>())
      .def("__enter__", &TapeContext::enter, nb::rv_policy::reference)
      .def(
          "__exit__", [](TapeContext& self, const nb::args&) { self.exit(); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("__len__", &TapeContext::size)
      .def("backward", &TapeContext::backward, arg("loss"), arg("scale") = 1.0,
           "Computes the gradients of the loss, one number, and empties the tape.");

  nb::class_<Adam>(module, "AdamCore")
      .def(
          "__init__",
          [](Adam* self, std::vector<Variable> parameters, double beta1, double beta2, double epsilon,
             double weight_decay) {
            new (self) Adam(std::move(parameters),
                            {.beta1 = beta1, .beta2 = beta2, .epsilon = epsilon, .weight_decay = weight_decay});
          },
          arg("parameters"), arg("beta1"), arg("beta2"), arg("epsilon"), arg("weight_decay"))
      .def("step", &Adam::step, arg("learning_rate"), arg("clip_norm"), nb::call_guard<nb::gil_scoped_release>())
      .def("clear_gradients", &Adam::clear_gradients);
}

}  // namespace dragoman::python
