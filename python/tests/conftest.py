"""Small models of every kind: imported from the stored runs of the C++ tests, or trained for a moment."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dragoman

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"


sys.path.append(str(GOLDEN.parent / "serving" / "page"))  # the browser of the tests of the page


def imported(tmp_path_factory: pytest.TempPathFactory, format: str, source: str) -> Path:
    model = tmp_path_factory.mktemp("models") / format
    dragoman.import_model(format, GOLDEN / source, model)  # type: ignore[arg-type]
    return model


@pytest.fixture(scope="session")
def translator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory, "hf-marian", "hf_marian/relu_separate")


@pytest.fixture(scope="session")
def many_languages(tmp_path_factory: pytest.TempPathFactory) -> dragoman.Translator:
    """A model that translates between several languages."""
    model = dragoman.load(imported(tmp_path_factory, "hf-m2m100", "hf_m2m100/nllb"))
    assert isinstance(model, dragoman.Translator)
    return model


@pytest.fixture(scope="session")
def generator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory, "hf-llama", "hf_language_models/llama")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory, "hf-bert", "hf_encoders/bert_bare")


@pytest.fixture(scope="session")
def translator(translator_folder: Path) -> dragoman.Translator:
    model = dragoman.load(translator_folder)
    assert isinstance(model, dragoman.Translator)
    return model


@pytest.fixture(scope="session", params=["gru-mini", "lstm-mini", "conv-mini"])
def small_aligned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dragoman.Translator:
    """A model without self-attention; the GRU has no attention at all."""
    folder = tmp_path_factory.mktemp(request.param)
    draw = random.Random(3)
    words = ["the", "cat", "dog", "sees", "runs", "red", "it"]
    (folder / "text").write_text("".join(" ".join(draw.choices(words, k=draw.randint(3, 7))) + "\n" for _ in range(300)))
    shape = {"gru-mini": dict(layers=2, attention="none"), "lstm-mini": dict(layers=2),
             "conv-mini": dict(encoder_layers=3, decoder_layers=2)}[request.param]
    model = dragoman.train(
        request.param, source=folder / "text", target=folder / "text", model=folder / "model", max_steps=40, d_model=16,
        d_hidden=24, vocabulary_size=60, batch_tokens=512, warmup_steps=10, average=0, progress=False, **shape).load()
    assert isinstance(model, dragoman.Translator)
    return model


@pytest.fixture(scope="session")
def generator(generator_folder: Path) -> dragoman.Generator:
    model = dragoman.load(generator_folder)
    assert isinstance(model, dragoman.Generator)
    return model


@pytest.fixture(scope="session")
def encoder(encoder_folder: Path) -> dragoman.Encoder:
    model = dragoman.load(encoder_folder)
    assert isinstance(model, dragoman.Encoder)
    return model


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium without a network."""
    devtools = pytest.importorskip("devtools")
    program = devtools.find_chromium()
    if program is None:
        pytest.skip("there is no Chromium; scripts/install_dependencies.sh --browser installs it")
    tab = devtools.Browser(program)
    tab.size(1280, 900)
    tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    yield tab
    tab.close()
