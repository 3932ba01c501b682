"""Models without self-attention: what Python says is what the commands say, alone and in a batch."""

import subprocess
from pathlib import Path

import pytest

import dragoman
from dragoman.errors import UsageError
from test_translate import command_of

TEXTS = ["the cat sees it", "it", "", "red dog runs the the cat it", "the dog sees"]


@pytest.fixture(scope="module", params=["float32", "bfloat16", "int8"])
def in_precision(request: pytest.FixtureRequest, small_aligned: dragoman.Translator) -> tuple[dragoman.Translator, list[str]]:
    """The model with weights of a precision, and the flags of a command that has the same."""
    folder = small_aligned.folder
    model = dragoman.load(folder, precision=request.param)
    assert isinstance(model, dragoman.Translator)
    return model, ["--model", str(folder), "--precision", request.param]


def said_by(*words: str, text: str = "") -> list[str]:
    return subprocess.run([command_of(), *words], input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def test_translations(in_precision):
    model, flags = in_precision
    together = model.translate(TEXTS)
    assert together == said_by("translate", *flags, text="\n".join(TEXTS) + "\n")
    assert together == [model.translate(text) for text in TEXTS]
    assert len(set(together)) > 2  # of a model that says the same of every text the above would hold too


def test_scores(small_aligned, tmp_path):
    folder = small_aligned.folder
    source, target = tmp_path / "source", tmp_path / "target"
    targets = list(reversed(TEXTS))
    source.write_text("\n".join(TEXTS) + "\n")
    target.write_text("\n".join(targets) + "\n")
    together = small_aligned.score(TEXTS, targets)
    assert together == [small_aligned.score(*pair) for pair in zip(TEXTS, targets, strict=True)]
    said = said_by("score", "--model", str(folder), "--source", str(source), "--target", str(target))
    for score, line in zip(together, said, strict=True):
        log_prob, per_token, tokens = line.split("\t")
        assert score.log_prob == pytest.approx(float(log_prob), abs=1e-4)
        assert score.per_token == pytest.approx(float(per_token), abs=1e-4) and score.tokens == int(tokens)


def test_alignments(small_aligned):
    if small_aligned.config.get("attention") == "none":
        with pytest.raises(UsageError, match="attention"):
            small_aligned.translations(["the cat sees it"], alignment=True)
        return
    best = small_aligned.translations(["the cat sees it"], alignment=True)[0]
    assert best.alignment.shape == (len(best.tokens), len(best.source_tokens))
