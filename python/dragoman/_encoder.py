"""Models that turn texts into vectors."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack
from warnings import warn

import numpy
import numpy.typing

from dragoman._dragoman import EncoderCore
from dragoman._model import Model, as_texts
from dragoman._options import EncodeOptions


class Encoder(Model):
    """An encoder, from `load`."""

    _core: EncoderCore

    @classmethod
    def _load(cls, folders: list[Path], **arguments: Any) -> "Encoder":
        core = EncoderCore.load(folders[0], **arguments)
        self = cls(folders, arguments, core.config)
        self._core = core
        return self

    @property
    def device(self) -> str:
        """Where the model computes: "cpu", or a GPU such as "cuda:0"."""
        return self._core.device

    def embed(
        self, texts: str | Iterable[str], **options: Unpack[EncodeOptions]
    ) -> numpy.typing.NDArray[numpy.float32]:
        """Turns a text into a vector, or several texts into a matrix.

        Returns: float32 [D] for a text, [B, D] for several; the memory is that of the library, not a copy.
        Warns: UserWarning where a text was longer than the model takes and lost its end.
        """
        self._check_process()
        listed = [texts] if isinstance(texts, str) else as_texts(texts, "texts")
        vectors, cut = self._core.embed(listed, dict(options))
        if cut > 0:
            warn(f"embed: {cut} of {len(listed)} texts are longer than the model takes and lost their end", stacklevel=2)
        return vectors[0] if isinstance(texts, str) else vectors
