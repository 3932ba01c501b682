"""Wrong calls raise; they never end the process."""

import random
import resource
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import dragoman
from dragoman import Tape, Tensor, evaluate, nn, ops, tensor

ODD = [None, True, 0, -1, 3, 2**31, 2**63, 2**70, -(2**70), 0.5, float("nan"), float("inf"), "", "x", "ä" * 50, "\0",
       "\ud800", b"x", [], [1], ["a"], [["a"]], (), {}, {"a": 1}, object(), numpy.zeros(3), numpy.zeros((2, 3), "float32"),
       numpy.zeros((0, 4), "float32"), numpy.array(5, "int32"), numpy.zeros((2, 2, 2, 2, 2)), Path("/none"), int, len]


def odd_tensor(draw: random.Random) -> object:
    shape = [draw.choice([0, 1, 2, 3, 4]) for _ in range(draw.randint(0, 4))]
    dtype = draw.choice(["float32", "float64", "int32", "bool"])
    return tensor(numpy.ones(shape, dtype), requires_grad=draw.random() < 0.3)


def test_a_thousand_odd_calls(translator, generator, encoder):
    draw = random.Random(1)
    functions = [translator.translate, translator.translations, translator.score, translator.stream, generator.generate,
                 generator.continuations, generator.stream, generator.score, generator.chat_prompt, encoder.embed,
                 encoder.classify, encoder.tag, encoder.fill_mask,
                 evaluate.bleu, evaluate.chrf, evaluate.ter, dragoman.load, dragoman.load_once, dragoman.Vocabulary,
                 translator.story, translator.show_attention, generator.story, generator.show_attention, dragoman.import_model,
                 dragoman.export_model, tensor, Tensor.view, nn.Linear, nn.MultiheadAttention, nn.Embedding,
                 nn.Adam, nn.FeedForward, nn.LayerNorm, *(getattr(ops, name) for name in ops.__all__)]
    names = ["beam_size", "n_best", "alignment", "max_tokens", "stop", "prefix", "prefixes", "phrases", "workers",
             "length_penalty", "samples", "tokenize", "beta", "bias", "seed", "dropout", "odd", "x", "kind", "n_heads"]
    refused = 0
    for _ in range(1000):
        function = draw.choice(functions)
        values = [odd_tensor(draw) if draw.random() < 0.4 else draw.choice(ODD) for _ in range(draw.randint(0, 4))]
        # Sizes that are legal but huge would only use up memory.
        values = [7 if isinstance(value, int) and value >= 2**31 and function in (
            nn.Linear, nn.MultiheadAttention, nn.Embedding, nn.FeedForward, nn.LayerNorm) else value for value in values]
        named = {draw.choice(names): draw.choice(ODD)} if draw.random() < 0.4 else {}
        try:
            with Tape():
                result = function(*values, **named)
            if isinstance(result, dragoman.Stream):
                result.close()
        except Exception as error:  # noqa: BLE001
            assert str(error) is not None
            refused += 1
    assert refused > 500
    assert translator.translate("A dog runs.")


def test_wrong_types_for_training(tmp_path):
    for value in ODD:
        for name in ("source", "max_steps", "learning_rate", "d_model", "preset"):
            arguments = {"preset": "tiny", "source": "/none", "target": "/none", "model": tmp_path / "m", name: value}
            with pytest.raises(Exception):
                dragoman.train(**arguments, progress=False)


def test_the_import_is_quick():
    def seconds_of(module: str) -> float:
        """Processor time, which other programs of the machine hardly change."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds_of("dragoman") for _ in range(3)) < 0.3 + min(seconds_of("numpy") for _ in range(3))


def test_the_types_of_a_program(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("""
import dragoman
from dragoman import nn, ops, tensor

model = dragoman.load("x")
if isinstance(model, dragoman.Translator):
    one: str = model.translate("a", beam_size=2)
    many: list[str] = model.translate(["a"], length_penalty="gnmt")
    score: float = model.translations(["a"])[0].score
    model.translate("a", beam_sise=2)  # error
    model.translate("a", length_penalty="other")  # error
if isinstance(model, dragoman.Encoder):
    width: int = model.embed("a").shape[0]
shape: tuple[int, ...] = ops.softmax(tensor([[1.0]])).shape
""")
    said = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True).stdout
    wrong = [line for line in said.splitlines() if ": error:" in line]
    lines = [int(line.split(":")[1]) for line in wrong]
    assert sorted(set(lines)) == [10, 11], said
