import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman
from dragoman import Update
from dragoman._progress import progress_text
from dragoman.errors import AbsentFileError, UsageError

SMALL = dict(d_model=32, d_ff=64, n_heads=2, encoder_layers=1, decoder_layers=1, vocabulary_size=60, batch_tokens=256,
             warmup_steps=20, workers=1, average=0, progress=False)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("texts")
    draw = random.Random(1)
    words = {"the": "der", "cat": "kater", "dog": "hund", "sees": "sieht", "runs": "rennt", "red": "rote"}
    files = {}
    for part, count in (("train", 400), ("valid", 20)):
        lines = [[draw.choice(list(words)) for _ in range(draw.randint(2, 6))] for _ in range(count)]
        for side, table in (("source", {}), ("target", words)):
            file = folder / f"{part}.{side}"
            file.write_text("".join(" ".join(table.get(word, word) for word in line) + "\n" for line in lines))
            files[side if part == "train" else f"valid_{side}"] = file
    return files


def test_train_calls_back_and_gives_a_model(texts, tmp_path):
    class Follow(dragoman.Callback):
        def __init__(self):
            self.updates, self.validations, self.run = [], [], None

        def on_update(self, update):
            self.updates.append(update)

        def on_validation(self, validation):
            self.validations.append(validation)

        def on_end(self, run):
            self.run = run

    follow = Follow()
    run = dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=20, validate_every=10, callbacks=[follow],
                         **SMALL)
    assert [update.step for update in follow.updates] == list(range(1, 21))
    assert [each.step for each in follow.validations] == [10, 20] and follow.run is run
    assert run.step == 20 and run.reason == "finished: all steps done" and run.folder == tmp_path / "m"
    assert follow.updates[-1].loss < follow.updates[0].loss
    assert isinstance(run.load().translate("the cat runs"), str)


def test_a_given_tokenizer_is_used(texts, tmp_path):
    dragoman.train("tiny", **texts, model=tmp_path / "learned", max_steps=3, **SMALL)
    tokenizer = tmp_path / "learned" / "vocabulary.spm"
    with pytest.raises(UsageError, match="tokenizer has its own vocabulary_size; leave out vocabulary_size"):
        dragoman.train("tiny", **texts, model=tmp_path / "given", tokenizer=tokenizer, max_steps=3, **SMALL)
    shape = {name: value for name, value in SMALL.items() if name != "vocabulary_size"}
    dragoman.train("tiny", **texts, model=tmp_path / "given", tokenizer=tokenizer, max_steps=3, **shape)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("learned", "given")]
    assert weights[0] == weights[1]
    with pytest.raises(UsageError, match="--target-tokenizer"):
        dragoman.train("tiny", **texts, model=tmp_path / "two", tokenizer=tokenizer, target_tokenizer=tokenizer, **shape)
    with pytest.raises(AbsentFileError):
        dragoman.train("tiny", **texts, model=tmp_path / "none", tokenizer=tmp_path / "absent.spm", **shape)


def test_a_model_to_start_from_has_its_shape_and_vocabulary(texts, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    dragoman.train("tiny", **texts, model=first, max_steps=3, **SMALL)
    for name, value in {"d_model": 16, "vocabulary_size": 50, "joint_vocabulary": True}.items():
        with pytest.raises(UsageError, match=f"initial_model has its own {name}; leave out {name}"):
            dragoman.train("tiny", **texts, model=second, initial_model=first, max_steps=3, **{name: value})
    with pytest.raises(UsageError, match="leave out --tokenizer"):
        dragoman.train("tiny", **texts, model=second, initial_model=first, tokenizer=first / "vocabulary.spm")
    assert dragoman.train("tiny", **texts, model=second, initial_model=first, dropout=0.3, max_steps=3).step == 3


def test_callbacks_of_an_encoder_get_its_accuracy(tmp_path):
    draw = random.Random(2)
    for name, count in (("train", 200), ("valid", 30)):
        lines = [draw.choice(["good\ta fine red cat", "bad\ta poor grey dog", "good\tfine and red", "bad\tgrey and poor"]) for _ in range(count)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    seen = []

    class Follow(dragoman.Callback):
        def on_validation(self, validation):
            seen.append(validation)

    dragoman.train("bert-mini", task="classify", text=tmp_path / "train", valid_text=tmp_path / "valid", model=tmp_path / "m",
                   d_model=32, d_ff=64, n_heads=2, layers=1, vocabulary_size=80, batch_tokens=256, max_steps=60,
                   validate_every=30, warmup_steps=10, learning_rate=0.003, precision="float32", workers=1, progress=False,
                   callbacks=[Follow()])
    assert [each.step for each in seen] == [30, 60]
    assert all(0 <= each.accuracy <= 100 for each in seen) and seen[-1].accuracy > 90
    assert all(math.isnan(each.bleu) for each in seen)
    assert progress_text(Update(5, 10, 0.5, 1.0, 100.0, 0.1, -1.0, 0, math.nan, 0.0, 0.0), seen[-1]).endswith(f"accuracy {seen[-1].accuracy:.1f} %")


def test_a_callback_ends_the_run_and_the_same_call_goes_on(texts, tmp_path):
    run = dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=20, callbacks=[lambda update: update.step < 5],
                         **SMALL)
    assert run.step == 5 and run.reason.startswith("stopped on request")
    seen = []
    run = dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=8,
                         callbacks=[lambda update: seen.append(update.step)], **SMALL)
    assert run.step == 8 and seen == [6, 7, 8]


def test_a_callback_that_raises_ends_the_run_cleanly(texts, tmp_path):
    class Broken(Exception):
        pass

    def fail(update):
        if update.step == 3:
            raise Broken("at 3")

    with pytest.raises(Broken, match="at 3"):
        dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=20, callbacks=[fail], **SMALL)
    assert dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=4, **SMALL).step == 4


def test_ctrl_c_saves(texts, tmp_path):
    def interrupt(update):
        if update.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    with pytest.raises(KeyboardInterrupt, match="signal"):
        dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=20, callbacks=[interrupt], **SMALL)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert dragoman.train("tiny", **texts, model=tmp_path / "m", max_steps=5, **SMALL).step == 5


def test_wrong_options(texts, tmp_path):
    def message(error=UsageError, **options):
        with pytest.raises(error) as caught:
            dragoman.train("tiny", **{**texts, "model": tmp_path / "w", **SMALL, **options})
        return str(caught.value)

    assert "did you mean" in message(learning_rat=1)
    assert "dropout" in message(dropout=2.0)
    assert "n_heads" in message(n_heads=3)
    assert "batch_tokens" in message(batch_tokens="many")
    assert "no such file" in message(AbsentFileError, source=tmp_path / "none")
    assert "callback" in message(TypeError, callbacks=[5])
    with pytest.raises(UsageError, match="preset"):
        dragoman.train("huge", **texts, model=tmp_path / "w")
    assert not (tmp_path / "w" / "checkpoints").exists()


def test_the_same_weights_as_the_command_line(texts, tmp_path):
    command = os.environ.get("DRAGOMAN_PROGRAM", str(Path(sys.executable).parent / "dragoman"))
    flags = ["--d-model", "32", "--d-ff", "64", "--n-heads", "2", "--encoder-layers", "1", "--decoder-layers", "1",
             "--vocab-size", "60", "--batch-tokens", "256", "--warmup-steps", "20", "--workers", "1", "--average", "0",
             "--max-steps", "6", "--seed", "7"]
    for name, file in texts.items():
        flags += [f"--{name.replace('_', '-')}", str(file)]
    subprocess.run([command, "train", "--preset", "tiny", "--model", str(tmp_path / "c"), *flags], check=True,
                   capture_output=True)
    dragoman.train("tiny", **texts, model=tmp_path / "p", max_steps=6, seed=7, **SMALL)
    assert (tmp_path / "p" / "model.safetensors").read_bytes() == (tmp_path / "c" / "model.safetensors").read_bytes()


def test_presets():
    assert "tiny-hour" in dragoman.preset_names()


def test_the_language_of_the_text_chooses_tokenizer_and_normalisation(texts, tmp_path, caplog):
    chinese = tmp_path / "train.zh"
    chinese.write_text("我们走。\n他来了。\n" * 200)
    files = {"source": texts["source"], "target": chinese}
    with caplog.at_level("INFO", logger="dragoman.train"):
        dragoman.train("tiny", **files, model=tmp_path / "m", max_steps=1, **SMALL)
    assert "is Chinese" in caplog.text
    caplog.clear()
    with caplog.at_level("INFO", logger="dragoman.train"):
        dragoman.train("tiny", **files, model=tmp_path / "n", max_steps=1, tokenize="zh", normalization="identity", **SMALL)
    assert "is Chinese" not in caplog.text
