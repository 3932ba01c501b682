"""Language models."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, overload

import numpy
import numpy.typing

from dragoman._dragoman import Continuation, GeneratorCore, Submitted
from dragoman._model import Model, as_texts
from dragoman._options import ScoreOptions, SearchOptions
from dragoman._page import Page
from dragoman._stream import Done, Stream


@dataclass(frozen=True)
class Part:
    """A part of a text that will not change again."""

    text: str  #: may be empty, while a character is not complete
    ids: list[int]  #: of the tokens since the last part


@dataclass(frozen=True)
class TextScore:
    """How probable a language model finds a text."""

    log_probs: numpy.typing.NDArray[numpy.float32]  #: [tokens] nats, of each token but the first
    log_prob: float  #: their sum
    bytes: int  #: of the text in UTF-8

    @property
    def loss(self) -> float:
        """Nats per token."""
        return -self.log_prob / len(self.log_probs)

    @property
    def perplexity(self) -> float:
        """e to the power of the loss."""
        return math.exp(self.loss)


class Generator(Model):
    """A language model, from `load`. Prompts in, continuations out."""

    _core: GeneratorCore

    @classmethod
    def _load(cls, folders: list[Path], **arguments: Any) -> "Generator":
        core = GeneratorCore.load(folders[0], **arguments)
        self = cls(folders, arguments, core.config)
        self._core = core
        return self

    @property
    def device(self) -> str:
        """Where the model computes: "cpu", or a GPU such as "cuda:0"."""
        return self._core.device

    @property
    def context(self) -> int:
        """The tokens that the model takes at most, prompt and continuation together."""
        return self._core.context

    @overload
    def generate(  # type: ignore[overload-overlap]
        self, prompts: str, *, max_tokens: int = 128, stop: Sequence[str] = (), context_shift: bool = False,
        context_keep: int = 0, **options: Unpack[SearchOptions]
    ) -> str: ...
    @overload
    def generate(
        self, prompts: Iterable[str], *, max_tokens: int = 128, stop: Sequence[str] = (), context_shift: bool = False,
        context_keep: int = 0, **options: Unpack[SearchOptions]
    ) -> list[str]: ...
    def generate(
        self, prompts: str | Iterable[str], *, max_tokens: int = 128, stop: Sequence[str] = (),
        context_shift: bool = False, context_keep: int = 0, **options: Unpack[SearchOptions]
    ) -> str | list[str]:
        """Continues a prompt, or several prompts together.

        Args:
            max_tokens: new tokens at most.
            stop: a text ends before the first of these strings.
            context_shift: when the context is full, its older half leaves and the text goes on.
            context_keep: tokens at the beginning that never leave.
            options: of the search. Not given: draws at temperature 0.8 among the likeliest 95 %.
        Returns: the new text without the prompt, or a list in the order of the prompts.
        Raises: UsageError for options out of range or a prompt too long; KeyboardInterrupt after Ctrl-C.
        """
        listed = [prompts] if isinstance(prompts, str) else prompts
        texts = [each.text for each in self.continuations(
            listed, max_tokens=max_tokens, stop=stop, context_shift=context_shift, context_keep=context_keep, **options)]
        return texts[0] if isinstance(prompts, str) else texts

    def continuations(
        self, prompts: Iterable[str], *, samples: int = 1, max_tokens: int = 128, stop: Sequence[str] = (),
        context_shift: bool = False, context_keep: int = 0, **options: Unpack[SearchOptions]
    ) -> list[Continuation]:
        """Continues prompts and tells scores and tokens.

        Args:
            samples: continuations of each prompt.
        Returns: `samples` entries for each prompt, in order.
        """
        self._check_process()
        return self._core.generate(
            as_texts(prompts, "prompts"), samples, max_tokens, list(stop), context_shift, context_keep, dict(options))

    def stream(
        self, prompt: str, *, max_tokens: int = 128, stop: Sequence[str] = (), context_shift: bool = False,
        context_keep: int = 0, **options: Unpack[SearchOptions]
    ) -> Stream[Part, Continuation]:
        """Continues a prompt and hands out each part of the text, for `for` and `async for`.

        Returns: a stream of `Part`; its `result` is the `Continuation`.
        """
        self._check_process()

        def start(put: Callable[[Any], None], done: Done) -> Submitted:
            def on_part(text: str, ids: list[int]) -> None:
                put(Part(text, ids))

            return self._core.submit(prompt, max_tokens, list(stop), context_shift, context_keep, dict(options),
                                     on_part, done)

        return Stream(start)

    def show_attention(
        self, prompt: str, *, max_tokens: int = 16, height: int = 900, **options: Unpack[SearchOptions]
    ) -> Page:
        """Shows all attention weights of a prompt and its continuation: in a notebook, or in a file by `save`.

        Raises: UsageError for a prompt that the model cannot read.
        """
        self._check_process()
        return Page(self._core.attention_page(prompt, max_tokens, dict(options)), height)

    def story(
        self, prompt: str, *, max_tokens: int = 16, height: int = 900, **options: Unpack[SearchOptions]
    ) -> Page:
        """Shows how the model goes on with a prompt, as an animation with the numbers of this text: in a notebook, or in
        a file by `save`.

        Raises: UsageError for a prompt of more than 128 tokens or one that the model cannot read.
        """
        self._check_process()
        return Page(self._core.story_page(prompt, max_tokens, dict(options)), height)

    def chat_prompt(self, messages: Iterable[Mapping[str, str]]) -> str:
        """Returns a conversation as the model's chat template writes it, and the beginning of the next answer.

        Args:
            messages: mappings with "role" and "content".
        Raises: UsageError for a model without a chat template.
        """
        return self._core.chat_prompt([(each["role"], each["content"]) for each in messages])

    def score(self, text: str, **options: Unpack[ScoreOptions]) -> TextScore:
        """Says how probable the model finds a text.

        Args:
            options: `window` and `stride`, in tokens; perplexity depends on them.
        Raises: DataError for a text of fewer than two tokens.
        """
        self._check_process()
        return TextScore(*self._core.score(text, dict(options)))
