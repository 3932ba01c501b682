"""Models that turn texts into vectors, classes, tags and pieces for gaps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, overload
from warnings import warn

import numpy
import numpy.typing

from dragoman._dragoman import EncoderCore, words_of_line
from dragoman._model import Model, as_texts
from dragoman._options import EncodeOptions

TextOrPair = str | tuple[str, str]
Sentence = str | Sequence[str]


@dataclass(frozen=True)
class Classification:
    """The class of a text."""

    label: str  #: the most probable one; of equal ones the first
    probability: float  #: of this label
    probabilities: dict[str, float]  #: of all labels, in the order of `Encoder.labels`


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence, each with a tag."""

    words: list[str]
    tags: list[str]
    probabilities: list[float]  #: of these tags


@dataclass(frozen=True)
class MaskCandidate:
    """A piece that may stand in place of a mask."""

    piece: str  #: as text, without spaces around it
    id: int
    probability: float


class Encoder(Model):
    """An encoder, from `load`. Its head says what else than `embed` it can do."""

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

    @property
    def head(self) -> str:
        """What is behind the encoder: "none", "words" (`fill_mask`), "classes" (`classify`) or "tags" (`tag`)."""
        return self._core.head

    @property
    def labels(self) -> list[str]:
        """The classes or tags; empty for other heads."""
        return self._core.labels

    @property
    def mask(self) -> str:
        """The piece that hides a place of a text, such as "[MASK]"; empty if the vocabulary has none."""
        return self._core.mask

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
        _warn_of_cut("embed", cut, len(listed))
        return vectors[0] if isinstance(texts, str) else vectors

    @overload
    def classify(  # type: ignore[overload-overlap]
        self, texts: TextOrPair, **options: Unpack[EncodeOptions]
    ) -> Classification: ...
    @overload
    def classify(self, texts: Iterable[TextOrPair], **options: Unpack[EncodeOptions]) -> list[Classification]: ...
    def classify(
        self, texts: TextOrPair | Iterable[TextOrPair], **options: Unpack[EncodeOptions]
    ) -> Classification | list[Classification]:
        """Gives a text, or a tuple of two texts that are read together, a label; several of them a list of labels.

        Raises: UsageError for an encoder with another head.
        Warns: as `embed`.
        """
        self._check_process()
        is_one = isinstance(texts, str | tuple)
        pairs = [_as_pair(text, index) for index, text in enumerate([texts] if is_one else texts)]
        probabilities, cut = self._core.classify(pairs, dict(options))
        _warn_of_cut("classify", cut, len(pairs))
        labels = self.labels
        classes = []
        for row in probabilities:
            best = int(row.argmax())
            classes.append(Classification(labels[best], float(row[best]), dict(zip(labels, row.tolist(), strict=True))))
        return classes[0] if is_one else classes

    @overload
    def tag(  # type: ignore[overload-overlap]
        self, sentences: str, **options: Unpack[EncodeOptions]
    ) -> TaggedSentence: ...
    @overload
    def tag(self, sentences: Iterable[Sentence], **options: Unpack[EncodeOptions]) -> list[TaggedSentence]: ...
    def tag(
        self, sentences: str | Iterable[Sentence], **options: Unpack[EncodeOptions]
    ) -> TaggedSentence | list[TaggedSentence]:
        """Gives each word of a sentence a tag.

        Args:
            sentences: a text, whose words blanks separate, or several sentences, each a text or a list of words.
        Returns: a sentence for a text, otherwise a list.
        Raises: UsageError for an encoder with another head.
        """
        self._check_process()
        listed: Iterable[Sentence] = [sentences] if isinstance(sentences, str) else sentences
        all_words = [_as_words(each, index) for index, each in enumerate(listed)]
        tagged = iter(self._core.tag([words for words in all_words if words], dict(options)))
        labels = self.labels
        result = []
        for words in all_words:
            numbers, probabilities = next(tagged) if words else ([], [])
            result.append(TaggedSentence(words, [labels[number] for number in numbers], probabilities))
        return result[0] if isinstance(sentences, str) else result

    @overload
    def fill_mask(  # type: ignore[overload-overlap]
        self, texts: str, *, candidates: int = 5, **options: Unpack[EncodeOptions]
    ) -> list[list[MaskCandidate]]: ...
    @overload
    def fill_mask(
        self, texts: Iterable[str], *, candidates: int = 5, **options: Unpack[EncodeOptions]
    ) -> list[list[list[MaskCandidate]]]: ...
    def fill_mask(
        self, texts: str | Iterable[str], *, candidates: int = 5, **options: Unpack[EncodeOptions]
    ) -> list[list[MaskCandidate]] | list[list[list[MaskCandidate]]]:
        """Says what may stand at each mask of a text.

        Args:
            texts: a text with one or more pieces `mask`, or several texts.
            candidates: for each mask.
        Returns: for a text, a list with the candidates of each mask, the most probable first; for several, a list of these.
        Raises: UsageError for an encoder with another head; DataError for a text without a mask.
        Warns: as `embed`.
        """
        self._check_process()
        listed = [texts] if isinstance(texts, str) else as_texts(texts, "texts")
        filled, cut = self._core.fill_mask(listed, candidates, dict(options))
        _warn_of_cut("fill_mask", cut, len(listed))
        result = [[[MaskCandidate(piece, id, probability) for id, piece, probability in of_mask] for of_mask in masks]
                  for masks in filled]
        return result[0] if isinstance(texts, str) else result


def _warn_of_cut(call: str, cut: int, texts: int) -> None:
    if cut > 0:
        warn(f"{call}: {cut} of {texts} texts are longer than the model takes and lost their end", stacklevel=3)


def _as_pair(text: object, index: int) -> tuple[str, str | None]:
    if isinstance(text, str):
        return text, None
    if isinstance(text, tuple) and len(text) == 2 and all(isinstance(each, str) for each in text):
        return text
    raise TypeError(f"texts[{index}] must be a str or a tuple of two, is {text!r:.80}")


def _as_words(sentence: Sentence, index: int) -> list[str]:
    if isinstance(sentence, str):
        return words_of_line(sentence)
    return as_texts(sentence, f"sentences[{index}]")
