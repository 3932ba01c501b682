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

/// Where the gradient of a variable is to be written: `accumulate` says whether the buffer holds an earlier part.
struct GradTarget {
  Tensor tensor;
  bool accumulate;
};

/// A tensor that may ask for its gradient. Copies share the tensor and the gradient.
/// Not safe for use from two threads; replicas of a model share values through tensors, not variables.
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

  /// The value in bfloat16, where the op that made it has rounded it in passing for products that will ask for that;
  /// undefined elsewhere.
  const Tensor& rounded() const { return state_->rounded; }
  void set_rounded(Tensor rounded) { state_->rounded = std::move(rounded); }

  bool has_grad() const { return state_->has_grad; }
  /// Throws Error when backward has not reached this variable: "gradient asked for before it was computed".
  const Tensor& grad() const;
  /// Forgets the gradient; a bound buffer stays and will be overwritten.
  void clear_grad();
  /// Parameters: write gradients into this tensor of equal shape and dtype, for ever.
  void bind_grad(Tensor buffer);

  /// Adds `grad` to the gradient; takes it over when it is the first. Does nothing unless requires_grad().
  /// Throws Error when shape or dtype differ: "gradient of shape [2, 3] for a variable of shape [2, 4]"; and when the
  /// gradient was declared final (Tape::on_final), as grad_target does.
  void add_grad(Tensor grad) const;
  /// The buffer for kernels that can write or accumulate by themselves. Marks the gradient as present.
  GradTarget grad_target() const;

 private:
  struct State {
    Tensor value;
    Tensor rounded;
    Tensor grad;
    bool requires_grad = false;
    bool has_grad = false;
    bool bound = false;
    bool is_final = false;          // nothing may be added until clear_grad
    const Tape* used_on = nullptr;  // the watching tape that has seen it
  };
  friend class Tape;
  void check_not_final() const;

  std::shared_ptr<State> state_;
};

/// Records what was computed, so that gradients can flow back through it in reverse order. A node holds one closure
/// and goes away as soon as it has run, so memory falls while backward proceeds. No recursion: the order of recording
/// is already topological. One tape belongs to one thread.
class Tape {
 public:
  /// Given the gradient of the output, adds to the gradients of the inputs.
  using Backward = std::function<void(const Tensor& grad_output)>;

  Tape() = default;
  /// A tape that keeps no nodes, and so nothing that ops save; they compute as if recorded. What they use counts as
  /// used by the node that is pushed on `outer` next (see `recompute`).
  explicit Tape(Tape& outer) : outer_(&outer) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Computes d `loss` / d v for each recorded variable v that asks for it, and empties the tape.
  /// @param loss  one element; its own gradient is 1 (or `scale`, e.g. 1 / number of target tokens).
  void backward(const Variable& loss, double scale = 1.0);
  /// The same from any variable, whose own gradient is `grad_output`.
  void backward_from(const Variable& output, Tensor grad_output);

  /// During backward, `hook` is told of each variable with a bound gradient (a parameter) that is used on this tape, as
  /// soon as its gradient is final: after the backward of the earliest op that took it. So gradients can travel while
  /// others are still computed. To be set before recording, on the last tape that adds to these gradients.
  using FinalHook = std::function<void(const Variable&)>;
  void on_final(FinalHook hook) { final_hook_ = std::move(hook); }

  /// Appends one node; ops call autograd::record instead.
  void push(const char* op, Variable output, Backward backward);
  /// Tells on_final that the node pushed next takes these; ops call autograd::record instead.
  void note_inputs(std::initializer_list<const Variable*> inputs);
  size_t size() const { return nodes_.size(); }

  /// The tape that ops of this thread record on; null when nothing is recorded.
  [[nodiscard]] static Tape* active();

 private:
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

/// While alive, ops of this thread record on `tape`; null switches recording off.
class [[nodiscard]] TapeScope {
 public:
  explicit TapeScope(Tape* tape);
  ~TapeScope();
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;

 private:
  Tape* previous_;
};

/// While alive, nothing is recorded: inference.
class [[nodiscard]] NoGrad : public TapeScope {
 public:
  NoGrad() : TapeScope(nullptr) {}
};

/// True if an op on these inputs must be recorded: a tape is active and an input asks for its gradient.
[[nodiscard]] bool needs_grad(std::initializer_list<const Variable*> inputs);

/// Wraps the value an op computed. If the op must be recorded, the result asks for its gradient and `backward` goes
/// on the tape; otherwise `backward` is dropped. An op is: check, compute, `return record(...)`.
[[nodiscard]] Variable record(const char* op, Tensor value, std::initializer_list<const Variable*> inputs,
                              Tape::Backward backward);

}  // namespace dragoman::autograd
