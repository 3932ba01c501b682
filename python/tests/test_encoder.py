"""Classes, tags and candidates for masks, beside what transformers computed for the same folders."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import GOLDEN, imported

import dragoman
from dragoman.errors import DataError, UsageError

ENCODERS = GOLDEN / "hf_encoders"


def stored(folder: str) -> tuple[list[dict[str, Any]], dict[str, numpy.ndarray]]:
    """Returns the texts and the arrays that were computed for them."""
    data = (ENCODERS / folder / "expected.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    arrays = {}
    for name, array in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = array["data_offsets"]
            values = numpy.frombuffer(data[8 + size + begin : 8 + size + end], "float32")
            arrays[name] = values.reshape(array["shape"])
    return json.loads((ENCODERS / folder / "expected.json").read_text()), arrays


def softmax(logits: numpy.ndarray) -> numpy.ndarray:
    powers = numpy.exp(logits - logits.max())
    return powers / powers.sum()


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {head: imported(tmp_path_factory, "hf-bert", f"hf_encoders/bert_{head}") for head in ("classes", "tags", "words")}


def test_classes_are_those_of_transformers(folders):
    model = dragoman.load(folders["classes"])
    assert model.head == "classes" and len(model.labels) == 3
    texts, arrays = stored("bert_classes")
    for number, text in enumerate(texts):
        given = (text["text"], text["pair"]) if text.get("pair") else text["text"]
        found = model.classify(given)
        expected = softmax(arrays[f"logits.{number}"])
        numpy.testing.assert_allclose(list(found.probabilities.values()), expected, atol=1e-5)
        assert list(found.probabilities) == model.labels
        assert found.label == model.labels[expected.argmax()] and found.probability == max(found.probabilities.values())
    one_text = [text["text"] for text in texts if not text.get("pair")]
    assert model.classify(one_text) == [model.classify(text) for text in one_text]
    assert model.classify([]) == []


def test_tags_are_those_of_transformers(folders):
    model = dragoman.load(folders["tags"])
    _, arrays = stored("bert_tags")
    cats = model.tag("cats")
    assert cats.words == ["cats"]
    assert cats.tags == [model.labels[arrays["logits.1"][1].argmax()]]
    numpy.testing.assert_allclose(cats.probabilities, softmax(arrays["logits.1"][1]).max(), atol=1e-5)
    several = model.tag(["the cat  sleeps", [], ["the", "cat", "sleeps"], "cats"], workers=1)
    assert several[0] == several[2] and several[3] == cats
    assert several[1] == dragoman.TaggedSentence([], [], [])


def test_candidates_are_those_of_the_program(folders):
    model = dragoman.load(folders["words"])
    assert model.head == "words" and model.labels == [] and model.mask == "[MASK]"
    filled = model.fill_mask("the [MASK] near the [MASK]", candidates=3)
    assert [len(candidates) for candidates in filled] == [3, 3]
    for candidates in filled:
        probabilities = [candidate.probability for candidate in candidates]
        assert probabilities == sorted(probabilities, reverse=True)
    assert model.fill_mask(["cats [MASK]", "the [MASK] near the [MASK]"], candidates=3)[1] == filled
    everything = model.fill_mask("[MASK] cats", candidates=90)[0]
    assert sum(candidate.probability for candidate in everything) == pytest.approx(1, abs=1e-4)
    assert sorted(candidate.id for candidate in everything) == list(range(90))


def test_wrong_calls_are_refused(folders):
    classifier, words = dragoman.load(folders["classes"]), dragoman.load(folders["words"])
    with pytest.raises(UsageError, match="head classes, tag needs tags; train it with --task tag"):
        classifier.tag("cats")
    with pytest.raises(UsageError, match="head words, classify needs classes"):
        words.classify("cats")
    with pytest.raises(DataError, match=r"fill_mask: text 2 has no \[MASK\]"):
        words.fill_mask(["[MASK]", "cats"])
    with pytest.raises(UsageError, match="candidates is 0"):
        words.fill_mask("[MASK]", candidates=0)
    with pytest.raises(TypeError, match=r"texts\[1\] must be a str or a tuple of two"):
        classifier.classify(["cats", ["a", "b"]])
    with pytest.raises(TypeError):
        dragoman.load(folders["tags"]).tag([[1]])
    with pytest.warns(UserWarning, match="classify: 1 of 1 texts are longer than the model takes"):
        classifier.classify("cats " * 5000)
