"""Models from folders."""

import os
import threading
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from dragoman import _dragoman
from dragoman._encoder import Encoder
from dragoman._generator import Generator
from dragoman._model import Folder, existing_folder
from dragoman._translator import Translator
from dragoman.errors import UsageError

Precision = Literal["auto", "float32", "bfloat16", "int8"]


def load(
    folder: Folder | Sequence[Folder],
    *,
    device: str = "cpu",
    precision: Precision = "auto",
    reverse: Folder | None = None,
    workers: int = 0,
    threads_per_worker: int = 1,
) -> Translator | Generator | Encoder:
    """Loads the model of a folder; the folder says which kind it is.

    Args:
        folder: of a model; several folders of models that translate vote with the mean of their probabilities.
        device: where to compute: "cpu", "cuda" (the first GPU), "cuda:1", or "auto", which takes a GPU if there is
            one. A process uses one GPU.
        precision: of the products with weights; "auto" is how the folder stores them, and float32 on a GPU.
        reverse: folder of a model of the other direction, which sorts the hypotheses (`reverse_weight`).
        workers: threads for `stream` and `translate_async`; 0 is one a core, and one on a GPU. Other calls have an option `workers`.
        threads_per_worker: threads that compute the products of one of these workers together.
    Returns: a `Translator`, a `Generator` or an `Encoder`.
    Raises: AbsentFileError if a folder is not there; DataError for one that holds no model, or a damaged one;
        UsageError for a device that is not there, and for a second GPU.
    """
    given: list[Folder] = [folder] if isinstance(folder, str | PathLike) else list(folder)
    folders = [existing_folder(each) for each in given]
    if not folders:
        raise UsageError("load: no folder is given; name one at least")
    kind = _dragoman.kind_of(folders[0])
    if kind == "translator":
        return Translator._load(
            folders, precision=precision, reverse="" if reverse is None else existing_folder(reverse),
            workers=workers, threads_per_worker=threads_per_worker, device=device)
    if len(folders) > 1 or reverse is not None:
        raise UsageError(f"load: {folders[0]} holds a model of kind {kind}; only models that translate vote together")
    if kind == "generator":
        return Generator._load(
            folders, precision=precision, workers=workers, threads_per_worker=threads_per_worker, device=device)
    return Encoder._load(folders, precision=precision, device=device)


class _Kept:
    """The models that `load_once` has loaded in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.models: dict[Any, Translator | Generator | Encoder] = {}


_kept = _Kept()
os.register_at_fork(after_in_child=_kept.__init__)  # type: ignore[misc]


def load_once(folder: Folder | Sequence[Folder], **arguments: Any) -> Translator | Generator | Encoder:
    """Loads a model as `load` does, once in each process: the same arguments give the same object later on.

    For engines that call a function many times in one worker, such as Spark and Ray. A folder that changes afterwards is
    not loaded again. The models stay in memory until the process ends.
    Threads: any number; one of them loads, the others wait.
    """
    given = [folder] if isinstance(folder, str | PathLike) else list(folder)
    key = (tuple(str(Path(each).resolve()) for each in given), tuple(sorted(arguments.items())))
    with _kept.lock:
        if key not in _kept.models:
            _kept.models[key] = load(folder, **arguments)
        return _kept.models[key]
