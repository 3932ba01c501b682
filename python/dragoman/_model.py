"""What all kinds of models share."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragoman.errors import AbsentFileError, Error

Folder = str | os.PathLike[str]


def existing_folder(folder: Folder) -> Path:
    """Returns the path. Raises: AbsentFileError, "my-model: there is no such folder; ..."."""
    path = Path(folder)
    if not path.is_dir():
        raise AbsentFileError(f"{path}: there is no such folder; give the folder that train or import_model has written")
    return path


def as_texts(texts: Iterable[str], name: str) -> list[str]:
    """Returns the texts as a list. Raises: TypeError for a member that is no string."""
    listed = list(texts)
    for index, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{index}] must be a str, is {type(text).__name__}")
    return listed


class Model:
    """A model of a folder. Any number of threads may use one object.

    Pickling keeps the folder and the arguments of `load`, not the weights; the copy loads them again. After a fork the
    child cannot use the models of its parent, because their threads stay behind: it raises `Error`.
    """

    def __init__(self, folders: list[Path], arguments: dict[str, Any], config: str) -> None:
        self._folders = folders
        self._arguments = arguments
        self._config: dict[str, Any] = json.loads(config)
        self._process = os.getpid()

    @property
    def folder(self) -> Path:
        """The folder of the model; of several models, that of the first."""
        return self._folders[0]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration: a copy of config.json."""
        return dict(self._config)

    @property
    def architecture(self) -> str:
        """The name of the architecture: "transformer", "decoder-only", ..."""
        return str(self._config["architecture"])

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise Error(
                f"{self.folder}: the model was loaded before this process was forked; load it in the child, or start "
                'processes with multiprocessing.get_context("spawn")'
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r}, architecture={self.architecture!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_again, (type(self), self._folders, self._arguments)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Model":
        return self


def _load_again(kind: type[Any], folders: list[Path], arguments: dict[str, Any]) -> Any:
    return kind._load(folders, **arguments)
