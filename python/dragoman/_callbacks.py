"""What follows a run of training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman._encoder import Encoder
from dragoman._generator import Generator
from dragoman._load import load
from dragoman._translator import Translator


@dataclass(frozen=True)
class Update:
    """The state of a run after an update."""

    step: int  #: number of updates
    max_steps: int  #: last step of the run; 0 = unlimited
    epoch: float  #: passes over the text
    loss: float  #: nats per target token
    tokens_per_second: float  #: target tokens
    learning_rate: float
    seconds_left: float  #: negative = unknown
    skipped_updates: int  #: with gradients that were not finite
    kl: float  #: R-Drop, SimCut: divergence of the two passes, nats per target token; NaN = not measured
    minutes: float  #: of the time limit that ends the run first
    max_minutes: float  #: that limit; 0 = none


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation. A number that was not measured is NaN."""

    step: int
    epoch: float
    loss: float  #: nats per target token, without label smoothing
    perplexity: float
    bleu: float
    chrf: float
    is_best: bool
    seconds: float
    accuracy: float  #: percent, of labels, hidden words or pairs of texts; of encoders
    mrr: float  #: percent, mean reciprocal rank of the right texts; of encoders of pairs


class Callback:
    """Follows a run. Overwrite what you need. An exception ends the run cleanly: it saves, then `train` raises it."""

    def on_update(self, update: Update) -> bool | None:
        """Is called after each update. False ends the run; the same call of `train` goes on with it."""

    def on_validation(self, validation: Validation) -> bool | None:
        """Is called after each validation. False ends the run after the next update."""

    def on_end(self, run: "Run") -> None:
        """Is called once when the run has ended without an error."""


@dataclass(frozen=True)
class Run:
    """How a run of `train` ended."""

    folder: Path  #: holds the best model
    reason: str  #: "finished: all steps done"
    step: int
    best_step: int  #: 0 = nothing was validated
    best_score: float
    seconds: float  #: of all parts of the run together

    def load(self, **arguments: Any) -> Translator | Generator | Encoder:
        """Loads the model, as `dragoman.load`."""
        return load(self.folder, **arguments)
