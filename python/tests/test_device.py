"""Models on a GPU, or on its emulation in a build with -DDRAGOMAN_CUDA=emulated; without either, what is said."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

import dragoman
from dragoman.errors import UsageError

TEXTS = ["A dog runs.", "", "The house is red and the cat sleeps."]


@pytest.fixture(scope="module")
def on_gpu(translator_folder):
    """The translator on the GPU."""
    model = dragoman.load(translator_folder, device="auto")
    if model.device == "cpu":
        pytest.skip("there is no GPU")
    return model


def test_a_model_says_its_device(translator, generator, encoder, translator_folder):
    assert translator.device == generator.device == encoder.device == "cpu"
    assert dragoman.load(translator_folder, device="auto").device in ("cpu", "cuda:0")


def test_wrong_devices(translator_folder, tmp_path):
    with pytest.raises(UsageError, match='device is "gpu", must be auto, cpu, cuda or cuda:N'):
        dragoman.load(translator_folder, device="gpu")
    with pytest.raises(UsageError, match='device is "cuda:x"'):
        dragoman.train("tiny", model=tmp_path / "model", device="cuda:x")
    assert not (tmp_path / "model").exists()


def test_without_a_gpu(translator_folder, tmp_path):
    if dragoman.load(translator_folder, device="auto").device != "cpu":
        pytest.skip("there is a GPU")
    with pytest.raises(dragoman.Error, match="cuda: (this program was built without CUDA|no device)"):
        dragoman.load(translator_folder, device="cuda")
    with pytest.raises(dragoman.Error, match="cuda: "):
        dragoman.train("tiny", model=tmp_path / "model", device="cuda")
    assert not (tmp_path / "model").exists()


def test_translations_are_those_of_the_cpu(on_gpu, translator):
    assert on_gpu.device == "cuda:0"
    assert on_gpu.translate(TEXTS, beam_size=1) == translator.translate(TEXTS, beam_size=1)
    seen, expected = on_gpu.score(TEXTS[:1], TEXTS[2:]), translator.score(TEXTS[:1], TEXTS[2:])
    assert seen[0][0] == pytest.approx(expected[0][0], abs=1e-3)
    assert "".join(part.token for part in on_gpu.stream(TEXTS[0])).strip() == on_gpu.translate(TEXTS[0]).strip()
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(on_gpu.translate, [TEXTS] * 3)) == [on_gpu.translate(TEXTS)] * 3
    again = pickle.loads(pickle.dumps(on_gpu))
    assert again.device == "cuda:0" and again.translate(TEXTS) == on_gpu.translate(TEXTS)


def test_other_models_are_those_of_the_cpu(on_gpu, generator, encoder, generator_folder, encoder_folder):
    written = dragoman.load(generator_folder, device="cuda")
    assert written.generate("the", max_tokens=8, beam_size=1) == generator.generate("the", max_tokens=8, beam_size=1)
    vectors = dragoman.load(encoder_folder, device="cuda").embed(["a dog", "the red house"])
    numpy.testing.assert_allclose(vectors, encoder.embed(["a dog", "the red house"]), atol=1e-4)


def test_one_gpu_a_process(on_gpu, translator_folder):
    with pytest.raises(UsageError, match="cuda:1"):
        dragoman.load(translator_folder, device="cuda:1")


def test_training(on_gpu, tmp_path):
    lines = {"source": "the cat sees\nthe dog runs\n", "target": "der kater sieht\nder hund rennt\n"}
    files = {}
    for side, text in lines.items():
        files[side] = tmp_path / side
        files[side].write_text(text * 50)
        files[f"valid_{side}"] = tmp_path / f"valid.{side}"
        files[f"valid_{side}"].write_text(text)
    run = dragoman.train("tiny", model=tmp_path / "model", device="cuda", max_steps=3, d_model=16, d_ff=16, n_heads=2,
                         encoder_layers=1, decoder_layers=1, vocabulary_size=40, batch_tokens=256, progress=False, **files)
    assert run.step == 3
    assert isinstance(dragoman.load(tmp_path / "model", device="cuda").translate("the cat"), str)
