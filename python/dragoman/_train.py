"""Training."""

import logging
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from dragoman import _dragoman
from dragoman._callbacks import Callback, Run, Update, Validation
from dragoman._options import TrainOptions
from dragoman._progress import Progress
from dragoman.errors import AbsentFileError

File = str | PathLike[str]
Files = File | Sequence[File]

_log = logging.getLogger("dragoman.train")


CallbackLike = Callback | Callable[[Update], bool | None]


class _Followers:
    """Calls all callbacks, and remembers whether one wants the run to end."""

    def __init__(self, callbacks: Sequence[CallbackLike]) -> None:
        self._callbacks = callbacks
        self._goes_on = True

    def on_update(self, facts: dict[str, Any]) -> bool:
        update = Update(**facts)
        for callback in self._callbacks:
            answer = callback.on_update(update) if isinstance(callback, Callback) else callback(update)
            self._goes_on = self._goes_on and answer is not False
        return self._goes_on

    def on_validation(self, facts: dict[str, Any]) -> None:
        validation = Validation(**facts)
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                self._goes_on = self._goes_on and callback.on_validation(validation) is not False


def _files_of(name: str, given: Files | None) -> list[Path]:
    if given is None:
        return []
    files = [Path(each) for each in ([given] if isinstance(given, str | PathLike) else given)]
    for file in files:
        if not file.exists():
            raise AbsentFileError(f"train: {name} {file}: there is no such file")
    return files


def train(
    preset: str,
    *,
    model: File,
    task: str = "",
    source: Files | None = None,
    target: Files | None = None,
    valid_source: Files | None = None,
    valid_target: Files | None = None,
    text: Files | None = None,
    valid_text: Files | None = None,
    tokenizer: File | None = None,
    target_tokenizer: File | None = None,
    initial_model: File | None = None,
    model_config: File | None = None,
    device: str = "cpu",
    callbacks: Sequence[CallbackLike] = (),
    progress: bool = True,
    **options: Unpack[TrainOptions],
) -> Run:
    """Trains a model into a folder, and goes on with what the folder holds.

    Args:
        preset: recipe to start from; see `preset_names`.
        model: folder for the model.
        task: what the text means, if not what the preset says: "classify", "tag", "embed" or
            "masked-language-model" of an encoder, "span-corruption" or "text-to-text" of t5-mini.
        source, target: training text of a translation model, one sentence a line; several files are joined.
        valid_source, valid_target: validation text.
        text, valid_text: of a language model or an encoder.
        tokenizer: a SentencePiece model or, for a language model or an encoder, a tokenizer.json; not given: one is
            learned.
        target_tokenizer: of the target side, with `joint_vocabulary=False`; `tokenizer` is then of the source side.
        initial_model: model to start from, with its shape and its vocabulary.
        model_config: config.json with the shape of the model.
        device: where to train: "cpu", "cuda" (the first GPU), "cuda:1", or "auto", which takes a GPU if there is one.
            A GPU computes in bfloat16 unless `precision` says otherwise.
        callbacks: `Callback` objects, or functions of an `Update`; False ends the run.
        progress: show a line of progress, in a notebook or on a terminal.
        options: of the run, the shape and the vocabulary; what is not given is what the preset says.
    Returns: how the run ended.
    Raises: UsageError for options, AbsentFileError and DataError for text that cannot be used, before any update;
        KeyboardInterrupt after Ctrl-C, when the run has saved. A second Ctrl-C ends the process at once.
    """
    for callback in callbacks:
        if not isinstance(callback, Callback) and not callable(callback):
            raise TypeError(f"train: a callback must be a Callback or a function, is {type(callback).__name__}")
    given: dict[str, Files | None] = {
        "source": source, "target": target, "valid_source": valid_source, "valid_target": valid_target,
        "text": text, "valid_text": valid_text, "tokenizer": tokenizer, "target_tokenizer": target_tokenizer,
        "initial_model": initial_model, "model_config": model_config,
    }
    files = {name: _files_of(name, value) for name, value in given.items() if value is not None}
    files["model"] = [Path(model)]
    shown: list[CallbackLike] = [*callbacks, Progress()] if progress else list(callbacks)
    followers = _Followers(shown)
    facts = _dragoman.train(preset, task, files, dict(options), followers.on_update, followers.on_validation, _log.info,
                            device)
    if facts.pop("exit_status") != 0:
        raise KeyboardInterrupt(f"train: {facts['reason']}")
    run = Run(Path(model), **facts)
    for callback in shown:
        if isinstance(callback, Callback):
            callback.on_end(run)
    return run


def preset_names() -> list[str]:
    """Returns the names of the recipes."""
    return _dragoman.preset_names()
