"""What dragoman raises.

Every error of the library is an `Error`, and also the exception of Python that fits:

| class | is also a | when |
|---|---|---|
| `UsageError` | `ValueError` | an option or argument breaks a rule |
| `DataError` | `ValueError` | a text or model cannot be used |
| `AbsentFileError` | `FileNotFoundError` | a file or folder is not there |
| `DeniedFileError` | `PermissionError` | the system refuses a file |
| `WriteError` | `OSError` | a file cannot be written |
| `Error` | `Exception` | anything else failed while running |

The text names the operation or file, the argument or line, the broken rule, the value seen, and what to try.
"""

__all__ = ["AbsentFileError", "DataError", "DeniedFileError", "Error", "UsageError", "WriteError"]


class Error(Exception):
    """An error of the library."""


class UsageError(Error, ValueError):
    """An option or argument breaks a rule."""


class DataError(Error, ValueError):
    """A text or a model cannot be used."""


class AbsentFileError(Error, FileNotFoundError):
    """A file or folder is not there."""


class DeniedFileError(Error, PermissionError):
    """The system refuses access to a file."""


class WriteError(Error, OSError):
    """A file cannot be written."""


_BY_STATUS = {2: UsageError, 65: DataError, 74: WriteError}
_BY_REASON = {"absent": AbsentFileError, "denied": DeniedFileError}


def error_of(status: int, reason: str, text: str) -> Error:
    """Returns the exception for an exit status of the program and the reason that the system gave, if any."""
    chosen: type[Error] = _BY_STATUS.get(status, Error)
    if status in (65, 74) and reason:
        chosen = _BY_REASON[reason]
    return chosen(text)
