import asyncio
import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

import dragoman
from dragoman.errors import AbsentFileError, DataError, UsageError

TEXTS = ["A dog runs.", "Two men talk.", "", "The cat sleeps on the mat."]


def command_of() -> str:
    """The program that was installed with the package, or the one that the environment names."""
    beside = Path(sys.executable).parent / "dragoman"
    return os.environ.get("DRAGOMAN_PROGRAM", str(beside))


def test_text_in_text_out(translator):
    assert isinstance(translator.translate("A dog runs."), str)
    assert translator.translate(TEXTS) == [translator.translate(text) for text in TEXTS]
    assert translator.translate(iter(TEXTS)) == translator.translate(tuple(TEXTS))
    assert translator.translate([]) == []


def test_equals_the_command_line(translator, translator_folder):
    lines = "\n".join(TEXTS) + "\n"
    for flags, options in ([], {}), (["--beam-size", "1"], {"beam_size": 1}):
        said = subprocess.run([command_of(), "translate", "--model", str(translator_folder), *flags], input=lines,
                              capture_output=True, text=True, check=True).stdout
        assert said.split("\n")[:-1] == translator.translate(TEXTS, **options)


def test_translations_tell_what_the_search_knows(translator):
    best = translator.translations(["A dog runs."], alignment=True, n_best=3)[0]
    assert best.text == str(best) == translator.translate("A dog runs.")
    assert best.score == pytest.approx(sum(best.token_scores), abs=1e-4)
    assert len(best.alternatives) == 2 and best.alternatives[0].normalised_score <= best.normalised_score
    assert best.alignment.shape == (len(best.tokens), len(best.source_tokens))
    numpy.testing.assert_allclose(best.alignment.sum(axis=1), 1, atol=1e-5)
    assert translator.translations(["A dog runs."])[0].alignment is None


def test_an_alignment_outlives_its_translation(translator):
    alignment = translator.translations(["A dog runs."], alignment=True)[0].alignment
    total = alignment.sum()
    translator.translate(TEXTS)
    assert alignment.sum() == total


def test_options_are_those_of_the_field_table(translator):
    with pytest.raises(UsageError, match='translate: unknown key "beam_sise"; did you mean "beam_size"'):
        translator.translate("x", beam_sise=2)
    with pytest.raises(ValueError, match="beam_size is 0, must be 1 to 128"):
        translator.translate("x", beam_size=0)
    with pytest.raises(ValueError, match="beam_size must be an integer"):
        translator.translate("x", beam_size=2.5)
    with pytest.raises(ValueError, match="must be one of gnmt, length"):
        translator.translate("x", length_penalty="none")
    with pytest.raises(TypeError, match="beam_size: a value of type complex cannot be an option"):
        translator.translate("x", beam_size=1j)
    assert translator.translate("x", beam_size=numpy.int64(1), alpha=numpy.float32(1)) is not None
    assert translator.translate("x", beam_size=None) == translator.translate("x")


def test_wrong_texts_are_refused(translator):
    with pytest.raises(TypeError, match=r"texts\[1\] must be a str, is int"):
        translator.translate(["a", 1])
    with pytest.raises(TypeError):
        translator.translate(5)
    with pytest.raises(UsageError, match="prefixes has 1 entries for 2 texts"):
        translator.translations(["a", "b"], prefixes=["x"])


def test_prefix(translator):
    word = translator.translations(["A dog runs."])[0].text.split(" ")[0]
    assert translator.translations(["Two men talk."], prefixes=[word])[0].text.startswith(word)


def test_stream_gives_the_translation_token_by_token(translator):
    stream = translator.stream("A dog runs.", beam_size=1)
    tokens = list(stream)
    best = translator.translations(["A dog runs."], beam_size=1)[0]
    assert [token.token for token in tokens] == best.tokens
    assert tokens[-1].text == best.text == stream.result.text
    with pytest.raises(RuntimeError, match="once"):
        list(stream)


def test_a_stream_that_is_left_is_cancelled(translator):
    for token in translator.stream("The cat sleeps on the mat.", beam_size=1):
        assert token.position == 0
        break
    assert translator.translate("A dog runs.")


def test_a_program_may_end_with_work_under_way(translator_folder):
    program = f"""
import dragoman
model = dragoman.load({str(translator_folder)!r})
streams = [model.stream("the cat sleeps on the mat " * 8) for _ in range(20)]
heads = [next(iter(stream), None) for stream in streams[:10]]
iterators = [iter(stream) for stream in streams[10:]]
firsts = [next(iterator, None) for iterator in iterators]
print("end")
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


def test_async_for_and_tasks(translator):
    async def work():
        tokens = [token.token async for token in translator.stream("A dog runs.", beam_size=1)]
        found = await asyncio.gather(*(translator.translate_async(text) for text in TEXTS * 8))
        with pytest.raises(UsageError):
            await translator.translate_async("x", beam_size=0)
        return tokens, [each.text for each in found]

    tokens, texts = asyncio.run(work())
    assert tokens == translator.translations(["A dog runs."], beam_size=1)[0].tokens
    assert texts == translator.translate(TEXTS) * 8


def test_a_cancelled_task_leaves_the_loop_working(translator):
    async def work():
        task = asyncio.create_task(translator.translate_async("The cat sleeps on the mat."))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await translator.translate_async("A dog runs.")).text

    assert asyncio.run(work()) == translator.translate("A dog runs.")


def test_threads_share_a_model_and_leave_the_lock(translator):
    wanted = translator.translate(TEXTS)
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    with ThreadPoolExecutor(4) as pool:
        assert all(found == wanted for found in pool.map(lambda _: translator.translate(TEXTS), range(16)))
    done.set()
    counter.join()
    assert counted > 0


def test_attention_is_a_page(translator, tmp_path):
    page = translator.show_attention("A dog runs.")
    assert page.html.startswith("<!doctype html>") or page.html.startswith("<!DOCTYPE html>")
    assert page._repr_html_().startswith("<iframe srcdoc=") and "http" not in page._repr_html_()[:200]
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html
    with pytest.raises(UsageError, match="blank"):
        translator.show_attention(" ")


def test_score(translator):
    alone = translator.score("A dog runs.", "Ein Hund läuft.")
    assert alone.log_prob < 0 and alone.tokens > 0 and alone.per_token == alone.log_prob / alone.tokens
    assert translator.score(["A dog runs."], ["Ein Hund läuft."]) == [alone]
    with pytest.raises(DataError):
        translator.score(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="both"):
        translator.score("a", ["b"])


def test_missing_and_wrong_folders(tmp_path, generator_folder):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        dragoman.load(tmp_path / "none")
    with pytest.raises(dragoman.Error):
        dragoman.load(tmp_path)
    with pytest.raises(UsageError, match="only models that translate"):
        dragoman.load([generator_folder, generator_folder])
    with pytest.raises(UsageError, match='device is "gpu", must be auto, cpu, cuda or cuda:N'):
        dragoman.load(generator_folder, device="gpu")
    assert issubclass(AbsentFileError, dragoman.Error) and issubclass(AbsentFileError, FileNotFoundError)


def test_ensemble(translator, translator_folder):
    both = dragoman.load([translator_folder, translator_folder])
    assert both.translate(TEXTS) == translator.translate(TEXTS)


def test_pickling_loads_the_folder_again(translator):
    again = pickle.loads(pickle.dumps(translator))
    assert again.translate("A dog runs.") == translator.translate("A dog runs.")
    assert copy.deepcopy(translator) is translator


def test_translations_can_be_pickled(translator):
    best = translator.translations(["A dog runs."], alignment=True, n_best=2)[0]
    again = pickle.loads(pickle.dumps(best))
    assert (again.text, again.tokens, again.score) == (best.text, best.tokens, best.score)
    assert (again.alignment == best.alignment).all() and len(again.alternatives) == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_load_its_own(translator, translator_folder):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            translator.translate("A dog runs.")
        except dragoman.Error as error:
            own = dragoman.load(translator_folder)
            status = 0 if "forked" in str(error) and own.translate("A dog runs.") is not None else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_load_once_loads_once_in_each_process(translator_folder, monkeypatch):
    loaded = []
    load = dragoman._load.load

    def counted(folder, **arguments):
        loaded.append(folder)
        return load(folder, **arguments)

    monkeypatch.setattr(dragoman._load, "load", counted)
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(lambda _: dragoman.load_once(translator_folder, workers=1), range(16)))
    assert len(set(map(id, models))) == len(loaded) == 1
    assert dragoman.load_once(str(translator_folder), workers=1) is models[0]
    assert dragoman.load_once(translator_folder, workers=1, precision="float32") is not models[0]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            own = dragoman.load_once(translator_folder, workers=1)
            status = 0 if own is not models[0] and own.translate("A dog runs.") is not None else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(AbsentFileError):
        dragoman.load_once("/none")


def test_ctrl_c_ends_a_long_call(translator_folder):
    program = f"""
import os, signal, sys, threading, time
import dragoman
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
model = dragoman.load({str(translator_folder)!r})
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    model.translate(["the cat sleeps on the mat " * 8] * 20000, beam_size=8)
except KeyboardInterrupt:
    sys.exit(0 if time.monotonic() - began < 100 and model.translate("a") is not None else 3)
sys.exit(4)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=300).returncode == 0


def test_the_handler_of_signals_stays(translator):
    before = signal.getsignal(signal.SIGINT)
    translator.translate("A dog runs.")
    assert signal.getsignal(signal.SIGINT) is before


WORDS = ["green maus chat the rot", "dog the the", "red katze"]


def test_languages_are_named(many_languages):
    model = many_languages
    assert "en" in model.source_languages and "de" in model.target_languages
    pair = {"source_language": "en", "target_language": "de"}
    texts = model.translate(WORDS, **pair)
    assert texts == [model.translate(text, **pair) for text in WORDS]
    own = {"source_language": "eng_Latn", "target_language": "deu_Latn"}
    assert model.translate(WORDS, **own) == texts
    assert model.translate(WORDS, source_language="en", target_language="fr") != texts
    found = model.translations(WORDS, **pair)
    assert [each.text for each in found] == texts
    stream = model.stream(WORDS[0], **pair)
    assert [token.text for token in stream][-1:] in ([], [stream.result.text])
    assert stream.result.text == texts[0]
    assert asyncio.run(model.translate_async(WORDS[0], **pair)).text == texts[0]
    score = model.score(WORDS[0], "der hund", **pair)
    assert score.tokens > 0
    assert model.score(WORDS[0], "der hund", source_language="de", target_language="en") != score
    with pytest.raises(UsageError, match="target language: the model writes"):
        model.translate("the dog", source_language="en")
    with pytest.raises(UsageError, match='target language is "xx"'):
        model.translate(WORDS, source_language="en", target_language="xx")


def test_languages_equal_the_command_line(many_languages):
    said = subprocess.run([command_of(), "translate", "--model", str(many_languages.folder),
                           "--source-language", "en", "--target-language", "de"],
                          input="\n".join(WORDS) + "\n", capture_output=True, text=True, check=True).stdout
    assert said.split("\n")[:-1] == many_languages.translate(WORDS, source_language="en", target_language="de")
