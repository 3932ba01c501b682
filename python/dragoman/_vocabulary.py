"""Vocabularies: text to ids and back."""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Unpack, overload

from dragoman._dragoman import VocabularyCore
from dragoman._options import VocabularyOptions

File = str | PathLike[str]


class Vocabulary:
    """A SentencePiece model or a tokenizer.json. Any number of threads may use one object."""

    def __init__(self, path: File) -> None:
        """Reads a file. Raises: AbsentFileError, or DataError for a file that is no vocabulary."""
        self._core = VocabularyCore.from_file(Path(path))

    @classmethod
    def _of(cls, core: VocabularyCore) -> "Vocabulary":
        self = cls.__new__(cls)
        self._core = core
        return self

    @classmethod
    def train(cls, files: File | Sequence[File], **options: Unpack[VocabularyOptions]) -> "Vocabulary":
        """Learns a vocabulary from the lines of text files."""
        listed = [files] if isinstance(files, str | PathLike) else files
        return cls._of(VocabularyCore.train([Path(file) for file in listed], dict(options)))

    @overload
    def encode(self, texts: str) -> list[int]: ...  # type: ignore[overload-overlap]
    @overload
    def encode(self, texts: Iterable[str]) -> list[list[int]]: ...
    def encode(self, texts: str | Iterable[str]) -> list[int] | list[list[int]]:
        """Returns the ids of a text, or of each text, without begin and end."""
        if isinstance(texts, str):
            return self._core.encode(texts)
        return [self._core.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids. Raises: Error for an id outside the vocabulary."""
        return self._core.decode(list(ids))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Returns the piece of each id; U+2581 stands for a space."""
        return [self._core.piece(id) for id in ids]

    def id(self, piece: str) -> int:
        """Returns the id of a piece, or that of the unknown piece."""
        return self._core.id(piece)

    def normalize(self, text: str) -> str:
        """Returns the text that is cut into pieces."""
        return self._core.normalize(text)

    def save(self, path: File) -> None:
        """Writes the vocabulary to a file."""
        Path(path).write_bytes(self._core.to_bytes())

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._core.sha256() == other._core.sha256()

    def __hash__(self) -> int:
        return hash(self._core.sha256())

    def __repr__(self) -> str:
        return f"Vocabulary(pieces={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _vocabulary_from, (self._core.to_bytes(),)


def _vocabulary_from(data: bytes) -> Vocabulary:
    return Vocabulary._of(VocabularyCore.from_bytes(data, "vocabulary"))
