"""Differentiable functions of tensors.

Inside `with Tape() as tape` they are recorded, and `tape.backward(loss)` computes gradients. Axes before the last
are free where a shape says [..., D].
"""

from dragoman._dragoman import (
    activation,
    add,
    attention,
    concatenate_columns,
    cross_entropy,
    dropout,
    embedding,
    exp,
    layer_norm,
    linear,
    log_softmax,
    matmul,
    mean,
    multiply,
    rms_norm,
    scale,
    softmax,
    square,
    subtract,
    sum,
)
from dragoman._tensor import Tensor

__all__ = [
    "activation",
    "add",
    "attention",
    "concatenate_columns",
    "cross_entropy",
    "dropout",
    "embedding",
    "exp",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "matmul",
    "mean",
    "multiply",
    "relu",
    "rms_norm",
    "scale",
    "silu",
    "softmax",
    "square",
    "subtract",
    "sum",
]


def relu(x: Tensor) -> Tensor:
    """max(0, x), by element: [..., D]."""
    return activation(x, "relu")


def gelu(x: Tensor) -> Tensor:
    """x times the cumulative normal distribution at x, by element: [..., D]."""
    return activation(x, "gelu")


def silu(x: Tensor) -> Tensor:
    """x / (1 + exp(-x)), by element: [..., D]."""
    return activation(x, "silu")
