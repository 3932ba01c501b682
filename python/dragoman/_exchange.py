"""Models of other programs, in and out."""

from pathlib import Path

from dragoman import _dragoman
from dragoman._model import Folder, existing_folder
from dragoman._options import ExportFormat, GgufType, ImportFormat
from dragoman.errors import AbsentFileError


def import_model(
    format: ImportFormat,
    folder: Folder,
    model: Folder,
) -> list[str]:
    """Makes a model folder of a model of Hugging Face transformers.

    Args:
        folder: of the other model.
        model: the folder to write; new or empty.
    Returns: notes for the user.
    Raises: DataError for a model that dragoman cannot represent; UsageError if `model` holds something already.
    """
    if not Path(folder).exists():
        raise AbsentFileError(f"{folder}: there is no such folder; give the folder of the other model")
    return _dragoman.import_model(format, Path(folder), Path(model))


def export_model(
    format: ExportFormat,
    model: Folder,
    folder: Folder,
    *,
    source_language: str = "",
    target_language: str = "",
    gguf_type: GgufType = "f16",
) -> list[str]:
    """Writes a model as another program reads it.

    Args:
        folder: the folder or, for gguf, the file to write; must not be there yet.
    Returns: notes for the user.
    """
    return _dragoman.export_model(format, existing_folder(model), Path(folder), source_language, target_language,
                                  gguf_type)
