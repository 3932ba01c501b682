"""Scores of translations, equal to those of sacreBLEU to the last digit."""

from collections.abc import Iterable, Sequence
from typing import Literal

from dragoman._dragoman import Score
from dragoman import _dragoman
from dragoman._model import as_texts

__all__ = ["Score", "bleu", "chrf", "ter"]

References = Iterable[str] | Iterable[Sequence[str]]


def _references(references: References) -> list[list[str]]:
    """One list of lines is one set of references; several lists are several."""
    listed = list(references)
    if all(isinstance(each, str) for each in listed):
        return [as_texts(listed, "references")]  # type: ignore[arg-type]
    return [as_texts(each, f"references[{index}]") for index, each in enumerate(listed)]


def bleu(
    hypotheses: Iterable[str],
    references: References,
    *,
    tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a",
    lowercase: bool = False,
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
) -> Score:
    """BLEU of a text (Papineni et al. 2002).

    Args:
        hypotheses: translations, one a line.
        references: right translations, or several lists of them.
    Raises: DataError for texts of unlike length or without lines.
    """
    return _dragoman.bleu(as_texts(hypotheses, "hypotheses"), _references(references), tokenize, lowercase,
                          smooth_method, smooth_value, effective_order)


def chrf(
    hypotheses: Iterable[str],
    references: References,
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
) -> Score:
    """chrF of a text (Popovic 2015); `word_order=2` is chrF++."""
    return _dragoman.chrf(as_texts(hypotheses, "hypotheses"), _references(references), char_order, word_order, beta,
                          lowercase)


def ter(
    hypotheses: Iterable[str],
    references: References,
    *,
    case_sensitive: bool = False,
    normalized: bool = False,
    no_punctuation: bool = False,
    asian_support: bool = False,
) -> Score:
    """The translation edit rate of a text (Snover et al. 2006); lower is better."""
    return _dragoman.ter(as_texts(hypotheses, "hypotheses"), _references(references), case_sensitive, normalized,
                         no_punctuation, asian_support)
