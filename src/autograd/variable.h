#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::autograd {

using tensor::Tensor;
class Tape;

/// The buffer for the gradient of a variable. `accumulate` is set if the buffer holds an earlier part of the gradient.
struct GradTarget {
  Tensor tensor;
  bool accumulate;
};

/// One buffer for the gradients of variables that one product computed, side by side.
struct JoinedGrad {
  int64_t width = 0;  ///< columns of all of them
  Tensor whole = {};  ///< [N, width], undefined until a gradient is computed
};

/// A tensor that may require a gradient. Copies share the tensor and the gradient.
/// Threads: one thread at a time. Replicas of a model share values through tensors, not through variables.
class Variable {
 public:
  Variable() = default;
  explicit Variable(Tensor value, bool requires_grad = false);

  bool defined() const { return state_ != nullptr; }
  const Tensor& value() const { return state_->value; }
  Tensor& mutable_value() { return state_->value; }
  const tensor::Shape& shape() const { return value().shape(); }
  int64_t dim(int axis) const { return value().dim(axis); }
  tensor::DType dtype() const { return value().dtype(); }
  bool requires_grad() const { return state_ != nullptr && state_->requires_grad; }

  /// Returns: the value in bfloat16, if the op that computed it also rounded it for the products that follow; otherwise
  /// undefined.
  const Tensor& rounded() const { return state_->rounded; }
  void set_rounded(Tensor rounded) { state_->rounded = std::move(rounded); }

  /// Makes Tape::backward give the gradient of this variable in host memory. The op that computed the variable takes
  /// the gradient as a number, which it then reads without a wait for a device.
  void take_gradient_on_host() { state_->is_grad_on_host = true; }

  bool has_grad() const { return state_->has_grad; }
  /// Throws: Error if backward has not reached this variable: "variable: gradient requested before it was computed; run
  /// Tape::backward first".
  const Tensor& grad() const;
  /// Discards the gradient. A bound buffer stays, and the next gradient overwrites it.
  void clear_grad();
  /// Binds a buffer of equal shape and dtype, into which all later gradients are written. Parameters use this.
  void bind_grad(Tensor buffer);

  /// Adds `grad` to the gradient, or keeps it if it is the first part. Does nothing unless requires_grad().
  /// Throws: Error if shape or dtype differ: "variable: gradient of shape [2, 3] (float32) for a variable of shape [2,
  /// 4] (float32)". Error if the gradient was declared final (Tape::on_final).
  void add_grad(Tensor grad) const;
  /// Returns: the buffer, for kernels that write or accumulate gradients themselves. Marks the gradient as present.
  /// Throws: Error if the gradient was declared final (Tape::on_final).
  GradTarget grad_target() const;
  /// Makes the gradient columns first .. first + D of a buffer, if its op asks for empty_grad. Requires: a matrix [N,
  /// D].
  void join_grad(std::shared_ptr<JoinedGrad> joined, int64_t first);
  /// Returns: room for a part of the gradient, not written, for add_grad. The first part of a joined gradient has
  /// strided rows; later parts have room of their own.
  Tensor empty_grad() const;

 private:
  struct State {
    Tensor value;
    Tensor rounded;
    Tensor grad;
    bool requires_grad = false;
    bool has_grad = false;
    bool bound = false;
    bool is_grad_on_host = false;   // of a loss
    bool is_final = false;          // nothing may be added until clear_grad
    const Tape* used_on = nullptr;  // the watching tape that has seen it
    std::shared_ptr<JoinedGrad> joined;
    int64_t first_column = 0;    // of the joined gradient
    bool columns_taken = false;  // by a part of the gradient
  };
  friend class Tape;
  void check_not_final() const;

  std::shared_ptr<State> state_;
};

/// Records ops, so that backward can walk them in reverse order. A node holds one closure and is freed as soon as it
/// has run, so that memory falls while backward proceeds. There is no recursion: the order of recording is topological.
/// Threads: one tape belongs to one thread.
class Tape {
 public:
  /// Adds to the gradients of the inputs, given the gradient of the output.
  using Backward = std::function<void(const Tensor& grad_output)>;

  Tape() { ++tapes_of_thread(); }
  ~Tape() { --tapes_of_thread(); }
  /// Makes a tape that keeps no nodes, and so frees what ops save. Ops compute as if they were recorded. Their inputs
  /// count as inputs of the node that is pushed on `outer` next (see `recompute`).
  explicit Tape(Tape& outer) : Tape() { outer_ = &outer; }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Computes d `loss` / d v for each recorded variable v that requires a gradient, and empties the tape.
  /// @param loss  one element
  /// @param scale  the gradient of `loss` itself, such as 1 / number of target tokens
  void backward(const Variable& loss, double scale = 1.0);
  /// Computes gradients from any variable, whose own gradient is `grad_output`.
  void backward_from(const Variable& output, Tensor grad_output);

  /// Sets the hook that backward calls for each variable of this tape with a bound gradient (a parameter) as soon as
  /// the gradient is final. The gradient is final after the backward of the earliest op that uses the variable.
  /// Gradients can then be sent while others are still computed. Requires: nothing is recorded yet, and no later tape
  /// adds to these gradients.
  using FinalHook = std::function<void(const Variable&)>;
  void on_final(FinalHook hook) { final_hook_ = std::move(hook); }

  /// Appends one node. Ops call autograd::record instead.
  void push(const char* op, Variable output, Backward backward);
  /// Notes the inputs of the node that is pushed next, for on_final. Ops call autograd::record instead.
  void note_inputs(std::initializer_list<const Variable*> inputs);
  size_t size() const { return nodes_.size(); }

  /// Returns: the tape that ops of this thread record on; null if nothing is recorded.
  [[nodiscard]] static Tape* active();
  /// Returns: whether this thread has a tape, so that what it computes is training: also in a backward, and where a
  /// part is computed again.
  [[nodiscard]] static bool is_training() { return tapes_of_thread() > 0; }

 private:
  static int& tapes_of_thread();

  struct Node {
    const char* op;  // its name, for debuggers
    Variable output;
    Backward backward;
  };
  struct FirstUse {
    size_t node;  // index in nodes_
    Variable variable;
  };
  void declare_final(size_t node);

  std::vector<Node> nodes_;
  Tape* outer_ = nullptr;
  FinalHook final_hook_;
  std::vector<FirstUse> first_uses_;  // in the order of nodes
};

/// While alive, ops of this thread record on `tape`. Null switches recording off.
class [[nodiscard]] TapeScope {
 public:
  explicit TapeScope(Tape* tape);
  ~TapeScope();
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;

 private:
  Tape* previous_;
};

/// While alive, nothing is recorded. Inference uses this.
class [[nodiscard]] NoGrad : public TapeScope {
 public:
  NoGrad() : TapeScope(nullptr) {}
};

/// Returns: true if an op on these inputs must be recorded, which is if a tape is active and an input requires a
/// gradient.
[[nodiscard]] bool needs_grad(std::initializer_list<const Variable*> inputs);

/// Wraps the value that an op computed. If the op must be recorded, the result requires a gradient and `backward` is
/// pushed on the tape. Otherwise `backward` is dropped. An op checks, computes, and returns record(...).
[[nodiscard]] Variable record(const char* op, Tensor value, std::initializer_list<const Variable*> inputs,
                              Tape::Backward backward);

}  // namespace dragoman::autograd
