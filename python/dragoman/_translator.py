"""Models that translate."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Unpack, overload

from dragoman._dragoman import Submitted, Translation, TranslatorCore
from dragoman._model import Model, as_texts
from dragoman._options import ScoreOptions, SearchOptions
from dragoman._page import Page
from dragoman._stream import Done, Stream, result_of
from dragoman.errors import UsageError


@dataclass(frozen=True)
class Token:
    """One more sub-word of a translation that will not change again."""

    position: int
    id: int
    token: str  #: U+2581 stands for a space
    text: str  #: of the translation so far


class PairScore(NamedTuple):
    """How probable a model finds a translation."""

    log_prob: float  #: nats, the end counted
    tokens: int  #: sub-words and the end

    @property
    def per_token(self) -> float:
        """log_prob / tokens; 0 for no tokens."""
        return self.log_prob / self.tokens if self.tokens > 0 else 0.0


class Translator(Model):
    """A model that translates, from `load`. Text in, text out; the result for a text never depends on the others."""

    _core: TranslatorCore

    @property
    def source_languages(self) -> list[str]:
        """The codes of the languages that the model reads; empty where its folder does not say."""
        return list(self._core.source_languages)

    @property
    def target_languages(self) -> list[str]:
        """The codes of the languages that the model writes; empty where its folder does not say."""
        return list(self._core.target_languages)

    @classmethod
    def _load(cls, folders: list[Path], **arguments: Any) -> "Translator":
        core = TranslatorCore.load(folders, **arguments)
        self = cls(folders, arguments, core.config)
        self._core = core
        return self

    @property
    def device(self) -> str:
        """Where the model computes: "cpu", or a GPU such as "cuda:0"."""
        return self._core.device

    @overload
    def translate(  # type: ignore[overload-overlap]
        self, texts: str, *, source_language: str = "", target_language: str = "", **options: Unpack[SearchOptions]
    ) -> str: ...
    @overload
    def translate(
        self, texts: Iterable[str], *, source_language: str = "", target_language: str = "", **options: Unpack[SearchOptions]
    ) -> list[str]: ...
    def translate(
        self, texts: str | Iterable[str], *, source_language: str = "", target_language: str = "", **options: Unpack[SearchOptions]
    ) -> str | list[str]:
        """Translates a text, or several texts together.

        Args:
            texts: one line, or lines.
            source_language: of a model for several languages: a common code ("en") or the model's own ("eng_Latn").
            target_language: likewise. `source_languages` and `target_languages` list them.
            options: those of the search; what is not given is what the model's folder says.
        Returns: the translation, or a list in the order of the texts. A blank text has an empty translation.
        Raises: UsageError, "beam_size is 0, must be 1 to 128", "target language: the model writes 100 languages; name one";
            KeyboardInterrupt after Ctrl-C, within one step.
        """
        self._check_process()
        languages = (source_language, target_language)
        if isinstance(texts, str):
            return self._core.translate_texts([texts], dict(options), languages)[0]
        return self._core.translate_texts(as_texts(texts, "texts"), dict(options), languages)

    def translations(
        self,
        texts: Iterable[str],
        *,
        prefixes: Sequence[str] | None = None,
        phrases: Sequence[Sequence[str]] | None = None,
        banned: Sequence[str] = (),
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[SearchOptions],
    ) -> list[Translation]:
        """Translates texts and tells what the search knows: scores, tokens, and what the options ask for.

        Args:
            texts: lines.
            prefixes: what each translation must begin with; "" for nothing.
            phrases: what each translation must hold.
            banned: phrases that no translation may hold.
            source_language, target_language: as in `translate`. Without them prefixes may bring the model's codes.
            options: `alignment=True` for attention weights, `n_best=5` for alternatives, and those of `translate`.
        Returns: a `Translation` for each text, in order.
        Raises: UsageError as `translate`, and for a list of another length.
        """
        self._check_process()
        lines = as_texts(texts, "texts")
        for name, given in (("prefixes", prefixes), ("phrases", phrases)):
            if given is not None and len(given) != len(lines):
                raise UsageError(f"{name} has {len(given)} entries for {len(lines)} texts; give one for each")
        return self._core.translate(
            lines,
            dict(options),
            list(prefixes or ()),
            [list(each) for each in phrases or ()],
            list(banned),
            (source_language, target_language),
        )

    def stream(
        self,
        text: str,
        *,
        prefix: str = "",
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[SearchOptions],
    ) -> Stream[Token, Translation]:
        """Translates a line and hands out each token as soon as it is sure, for `for` and `async for`.

        Greedy search (`beam_size=1`) is sure of each token at once, a beam when all its hypotheses share it.
        Returns: a stream of `Token`; its `result` is the `Translation`.
        """
        self._check_process()
        languages = (source_language, target_language)

        def start(put: Callable[[Any], None], done: Done) -> Submitted:
            def on_token(position: int, id: int, token: str, so_far: str) -> None:
                put(Token(position, id, token, so_far))

            return self._core.submit(text, dict(options), prefix, languages, on_token, done)

        return Stream(start)

    async def translate_async(
        self,
        text: str,
        *,
        prefix: str = "",
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[SearchOptions],
    ) -> Translation:
        """Translates a line together with those that other tasks and threads translate meanwhile.

        Cancelling the task cancels the search.
        """
        self._check_process()
        languages = (source_language, target_language)

        def start(done: Done) -> Submitted:
            return self._core.submit(text, dict(options), prefix, languages, None, done)

        result: Translation = await result_of(start)
        return result

    def show_attention(
        self,
        text: str,
        *,
        height: int = 900,
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[SearchOptions],
    ) -> Page:
        """Shows all attention weights of a text and its translation: in a notebook, or in a file by `save`.

        Raises: UsageError for a blank text or one that is translated in parts.
        """
        self._check_process()
        return Page(self._core.attention_page(text, dict(options), (source_language, target_language)), height)

    def story(
        self,
        text: str,
        *,
        height: int = 900,
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[SearchOptions],
    ) -> Page:
        """Shows how the model translates a text, as an animation with the numbers of this text: in a notebook, or in a
        file by `save`.

        Raises: UsageError for a blank text, one of more than 128 tokens, and a model whose decoder has no story.
        """
        self._check_process()
        return Page(self._core.story_page(text, dict(options), (source_language, target_language)), height)

    @overload
    def score(  # type: ignore[overload-overlap]
        self,
        sources: str,
        targets: str,
        *,
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[ScoreOptions],
    ) -> PairScore: ...
    @overload
    def score(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[ScoreOptions],
    ) -> list[PairScore]: ...
    def score(
        self,
        sources: str | Iterable[str],
        targets: str | Iterable[str],
        *,
        source_language: str = "",
        target_language: str = "",
        **options: Unpack[ScoreOptions],
    ) -> PairScore | list[PairScore]:
        """Says how probable the model finds given translations.

        Returns: a `PairScore`, or a list in the order of the pairs.
        Raises: DataError for lists of unlike length, and for a text too long for the model.
        """
        self._check_process()
        alone = isinstance(sources, str)
        if alone != isinstance(targets, str):
            raise TypeError("score: sources and targets must both be str, or both lists")
        left = [sources] if isinstance(sources, str) else as_texts(sources, "sources")
        right = [targets] if isinstance(targets, str) else as_texts(targets, "targets")
        scores = [
            PairScore(*row)
            for row in self._core.score(left, right, dict(options), (source_language, target_language))
        ]
        return scores[0] if alone else scores
