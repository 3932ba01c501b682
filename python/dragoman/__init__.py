"""dragoman: trains, evaluates, translates and generates with the Transformer.

    import dragoman

    model = dragoman.load("my-model")
    print(model.translate("A dog runs."))
"""

from dragoman import evaluate, nn, ops
from dragoman._callbacks import Callback, Run, Update, Validation
from dragoman._dragoman import Continuation, Translation, __version__
from dragoman._encoder import Classification, Encoder, MaskCandidate, TaggedSentence
from dragoman._exchange import export_model, import_model
from dragoman._generator import Generator, Part, TextScore
from dragoman._load import load, load_once
from dragoman._page import Page
from dragoman._stream import Stream
from dragoman._tensor import Tape, Tensor, tensor
from dragoman._train import preset_names, train
from dragoman._translator import PairScore, Token, Translator
from dragoman._vocabulary import Vocabulary
from dragoman.errors import Error

__all__ = [
    "Callback",
    "Classification",
    "Continuation",
    "Encoder",
    "Error",
    "Generator",
    "MaskCandidate",
    "Page",
    "PairScore",
    "Part",
    "Run",
    "Stream",
    "TaggedSentence",
    "Tape",
    "Tensor",
    "TextScore",
    "Token",
    "Translation",
    "Translator",
    "Update",
    "Validation",
    "Vocabulary",
    "__version__",
    "evaluate",
    "export_model",
    "import_model",
    "load",
    "load_once",
    "nn",
    "ops",
    "preset_names",
    "tensor",
    "train",
]
