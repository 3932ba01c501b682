"""The layers of the library, as modules that are put together in Python.

A module is called like a function. Its parameters are tensors; `numpy()` of one is a view that can be written.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from dragoman import _dragoman
from dragoman._dragoman import AdamCore, Layer
from dragoman._tensor import Tape, Tensor, as_tensor

__all__ = [
    "Adam",
    "Embedding",
    "FeedForward",
    "LayerNorm",
    "Linear",
    "Module",
    "MultiheadAttention",
    "RMSNorm",
    "Sequential",
    "Tape",
]


class Module:
    """A layer, or several: modules, tensors, and lists of them among its attributes belong to it."""

    training = True
    _layer: Layer | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.forward(*arguments, **named)

    def forward(self, *arguments: Any, **named: Any) -> Any:
        """Computes the result. A module of your own overwrites it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def _members(self) -> Iterator[tuple[str, Any]]:
        for name, value in vars(self).items():
            if isinstance(value, list | tuple):
                yield from ((f"{name}.{index}", each) for index, each in enumerate(value))
            else:
                yield name, value

    def named_parameters(self) -> dict[str, Tensor]:
        """Returns the parameters by their paths: {"attention.query.weight": ...}."""
        named = dict(self._layer.parameters()) if self._layer is not None else {}
        for name, member in self._members():
            if isinstance(member, Module):
                named |= {f"{name}.{path}": tensor for path, tensor in member.named_parameters().items()}
            elif isinstance(member, Tensor) and member.requires_grad:
                named[name] = member
        return named

    def parameters(self) -> list[Tensor]:
        """Returns the parameters, for an optimizer."""
        return list(self.named_parameters().values())

    def train(self, mode: bool = True) -> "Module":
        """Switches dropout on or off, here and in all members."""
        self.training = mode
        for _, member in self._members():
            if isinstance(member, Module):
                member.train(mode)
        return self

    def eval(self) -> "Module":
        """Switches dropout off."""
        return self.train(False)

    def __repr__(self) -> str:
        count = sum(_size(parameter) for parameter in self.parameters())
        return f"{type(self).__name__}({count:,} parameters)"


def _size(tensor: Tensor) -> int:
    size = 1
    for length in tensor.shape:
        size *= length
    return size


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Module) -> None:
        self.modules = list(modules)

    def forward(self, x: Any) -> Any:
        """Passes x through all modules."""
        for module in self.modules:
            x = module(x)
        return x


class Linear(Module):
    """x W + b along the last axis. Parameters: weight [d_in, d_out], bias [d_out]."""

    def __init__(self, d_in: int, d_out: int, *, bias: bool = True, seed: int = 1) -> None:
        self._layer = self._linear = _dragoman.LinearLayer(d_in, d_out, bias, seed)

    def forward(self, x: Any) -> Tensor:
        """[..., d_in] to [..., d_out]."""
        return self._linear.forward(as_tensor(x))


class LayerNorm(Module):
    """Layer normalisation over the last axis. Parameters: gain [D], bias [D]."""

    def __init__(self, width: int, *, epsilon: float = 1e-5) -> None:
        self._layer = self._norm = _dragoman.NormLayer(width, epsilon, False)

    def forward(self, x: Any) -> Tensor:
        """[..., D] to [..., D]."""
        return self._norm.forward(as_tensor(x))


class RMSNorm(Module):
    """RMS normalisation over the last axis. Parameter: gain [D]."""

    def __init__(self, width: int, *, epsilon: float = 1e-5) -> None:
        self._layer = self._norm = _dragoman.NormLayer(width, epsilon, True)

    def forward(self, x: Any) -> Tensor:
        """[..., D] to [..., D]."""
        return self._norm.forward(as_tensor(x))


class Embedding(Module):
    """Rows of a table for ids. Parameter: weight [pieces, width]."""

    def __init__(self, pieces: int, width: int, *, scale: float = 1.0, seed: int = 1) -> None:
        self._scale = scale
        self._layer = self._table = _dragoman.EmbeddingLayer(pieces, width, seed)

    def forward(self, ids: Any) -> Tensor:
        """int32 [...] to [..., width]."""
        return self._table.forward(as_tensor(ids), self._scale)


class FeedForward(Module):
    """activation(x W1 + b1) W2 + b2. Parameters: inner.* and outer.*, each weight and bias."""

    def __init__(
        self, width: int, hidden: int, *, dropout: float = 0.0, activation: str = "relu", seed: int = 1
    ) -> None:
        self._layer = self._feed_forward = _dragoman.FeedForwardLayer(width, hidden, dropout, activation, seed)

    def forward(self, x: Any) -> Tensor:
        """[..., width] to [..., width]."""
        return self._feed_forward.forward(as_tensor(x), self.training)


class MultiheadAttention(Module):
    """Concat(head_1 .. head_H) W^O, head_i = softmax(Q_i K_i^T / sqrt(Dh)) V_i (Vaswani et al. 2017, section 3.2.2).

    Parameters: query, key, value and output, each weight [D, D] and bias [D]; the heads are the columns of one matrix.
    Dropout acts on the attention weights while training.
    """

    def __init__(self, hid_dim: int, n_heads: int, dropout: float = 0.0, *, seed: int = 1) -> None:
        self._layer = self._attention = _dragoman.AttentionLayer(hid_dim, n_heads, dropout, seed)

    def forward(self, query: Any, key: Any, value: Any, mask: Any = None, *, causal: bool = False) -> Tensor:
        """query [B, T, D], key and value [B, S, D] give [B, T, D].

        Args:
            mask: bool [B, S], true = may be attended to; None = all.
            causal: query t sees the keys 0 .. t.
        """
        return self._attention.forward(
            as_tensor(query), as_tensor(key), as_tensor(value), self.training, causal,
            None if mask is None else as_tensor(mask))

    def weights(self, query: Any, key: Any, mask: Any = None, *, causal: bool = False) -> Tensor:
        """Returns the attention weights [B, H, T, S], without dropout and without gradients."""
        return self._attention.weights(
            as_tensor(query), as_tensor(key), causal, None if mask is None else as_tensor(mask))


class Adam:
    """Adam (Kingma and Ba 2015); weight decay above 0 makes it AdamW (Loshchilov and Hutter 2019)."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        learning_rate: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
        clip_norm: float = 0.0,
    ) -> None:
        """Args: clip_norm: largest norm of all gradients together; 0 = no clipping."""
        self.learning_rate = learning_rate
        self._clip_norm = clip_norm
        self._core = AdamCore(list(parameters), betas[0], betas[1], epsilon, weight_decay)

    def step(self) -> None:
        """Updates the parameters by their gradients, and discards the gradients."""
        self._core.step(self.learning_rate, self._clip_norm)
        self._core.clear_gradients()
