"""Small models of every kind, imported from the stored runs of the C++ tests."""

from pathlib import Path

import pytest

import dragoman

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"


def imported(tmp_path_factory: pytest.TempPathFactory, format: str, source: str) -> Path:
    model = tmp_path_factory.mktemp("models") / format
    dragoman.import_model(format, GOLDEN / source, model)  # type: ignore[arg-type]
    return model


@pytest.fixture(scope="session")
def translator_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory, "hf-marian", "hf_marian/relu_separate")


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
