"""Tensors."""

from typing import Any

import numpy

from dragoman._dragoman import Tape, Tensor

__all__ = ["Tape", "Tensor", "as_tensor", "tensor"]

_DTYPES = ("float32", "float64", "int32", "bool")


def tensor(data: Any, *, dtype: str | None = None, requires_grad: bool = False) -> Tensor:
    """Returns a tensor of data.

    A contiguous writable array of float32, float64, int32 or bool is viewed, not copied: both see what the other
    writes. Such arrays are those of NumPy and of any library with DLPack. Other data are converted: whole numbers to
    int32, other numbers to float32.

    Args:
        data: array, nested lists, number or Tensor.
        dtype: "float32", "float64", "int32" or "bool".
        requires_grad: whether `Tape.backward` computes its gradient.
    """
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return Tensor.view(data.numpy(), requires_grad)
    if not isinstance(data, numpy.ndarray) and hasattr(data, "__dlpack__"):
        data = numpy.from_dlpack(data)
    array = numpy.asarray(data)
    wanted = dtype or (array.dtype.name if isinstance(data, numpy.ndarray) else None)
    if wanted not in _DTYPES:
        wanted = "int32" if array.dtype.kind in "iu" else "bool" if array.dtype.kind == "b" else "float32"
    if array.dtype.name != wanted:
        if wanted == "int32" and array.size and not -(2**31) <= array.min() <= array.max() < 2**31:
            raise OverflowError("tensor: a number does not fit int32")
        array = array.astype(wanted)
    if not array.flags.c_contiguous or not array.flags.writeable:
        array = numpy.array(array, order="C")
    return Tensor.view(array, requires_grad)


def as_tensor(data: Any) -> Tensor:
    """Returns data itself if it is a tensor, otherwise `tensor(data)`."""
    return data if isinstance(data, Tensor) else tensor(data)
