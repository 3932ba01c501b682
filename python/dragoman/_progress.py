"""The line of progress of a run, on a terminal or in a notebook."""

import math
import sys
import time
from typing import Any

from dragoman._callbacks import Callback, Run, Update, Validation

_SECONDS = 0.2  # between two drawings


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:02.0f} min"


def _score(validation: Validation) -> str:
    """Returns the score that says most; one that was not measured is NaN."""
    if not math.isnan(validation.bleu):
        return f"BLEU {validation.bleu:.1f}"
    if not math.isnan(validation.accuracy):
        return f"accuracy {validation.accuracy:.1f} %"
    return f"perplexity {validation.perplexity:.2f}"


def progress_text(update: Update, validation: Validation | None) -> str:
    """Returns the line: "step 120/1,000  loss 3.412  12,345 tokens/s  40 s left  BLEU 12.3"."""
    steps = f"step {update.step:,}" + (f"/{update.max_steps:,}" if update.max_steps else "")
    parts = [steps, f"loss {update.loss:.3f}", f"{update.tokens_per_second:,.0f} tokens/s"]
    if 0 <= update.seconds_left < float("inf"):
        parts.append(f"{_duration(update.seconds_left)} left")
    if validation is not None:
        parts.append(_score(validation))
    return "  ".join(parts)


def _notebook_display() -> Any:
    """Returns a place in the notebook whose text can be replaced, or None outside a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    return display({"text/plain": "training"}, raw=True, display_id=True)  # type: ignore[no-untyped-call,unused-ignore]


class Progress(Callback):
    """Shows a line that is rewritten: in a notebook, or on a terminal. Elsewhere it shows nothing."""

    def __init__(self) -> None:
        self._place = _notebook_display()
        self._is_terminal = self._place is None and sys.stderr is not None and sys.stderr.isatty()
        self._validation: Validation | None = None
        self._drawn = 0.0
        self._last: Update | None = None

    def on_update(self, update: Update) -> None:
        self._last = update
        if time.monotonic() - self._drawn >= _SECONDS:
            self._draw()

    def on_validation(self, validation: Validation) -> None:
        self._validation = validation
        self._draw()

    def on_end(self, run: Run) -> None:
        self._draw()
        if self._is_terminal:
            print(file=sys.stderr)

    def _draw(self) -> None:
        if self._last is None:
            return
        self._drawn = time.monotonic()
        text = progress_text(self._last, self._validation)
        if self._place is not None:
            self._place.update({"text/plain": text}, raw=True)
        elif self._is_terminal:
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)
