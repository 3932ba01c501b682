"""The pages that a notebook shows, in a Chromium without a network."""

import math
import random
import re
from pathlib import Path

import pytest

import dragoman
from dragoman.errors import UsageError

WORDS = ["the", "cat", "dog", "sees", "runs", "red", "it"]
STORY = "document.querySelector('.story')"
IS_TOLD = f"{STORY} !== null && !{STORY}.hasAttribute('aria-busy') && {STORY}.querySelector('h2').textContent !== ''"
# The number of different colours on the stage: 1 for one that nothing was drawn on.
COLOURS = """(() => {
    const canvas = document.querySelector('.story-canvas');
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
})()"""


@pytest.fixture(scope="module")
def small_translator(tmp_path_factory: pytest.TempPathFactory) -> dragoman.Translator:
    folder = tmp_path_factory.mktemp("pages")
    draw = random.Random(1)
    text = "".join(" ".join(draw.choices(WORDS, k=draw.randint(3, 7))) + "\n" for _ in range(300))
    (folder / "text").write_text(text)
    run = dragoman.train(
        "tiny", source=folder / "text", target=folder / "text", model=folder / "model", max_steps=60, d_model=32, d_ff=64,
        n_heads=2, encoder_layers=2, decoder_layers=2, vocabulary_size=60, batch_tokens=512, warmup_steps=20, average=0,
        progress=False)
    model = run.load()
    assert isinstance(model, dragoman.Translator)
    return model


@pytest.fixture(scope="module")
def small_generator(tmp_path_factory: pytest.TempPathFactory) -> dragoman.Generator:
    folder = tmp_path_factory.mktemp("generator")
    draw = random.Random(2)
    (folder / "text").write_text("".join(" ".join(draw.choices(WORDS, k=draw.randint(3, 7))) + "\n" for _ in range(400)))
    model = dragoman.train(
        "gpt-mini", text=folder / "text", model=folder / "model", valid_share=0.1, max_steps=60, d_model=32, d_ff=64,
        n_heads=4, layers=2, max_positions=64, max_length=64, warmup_steps=10, progress=False).load()
    assert isinstance(model, dragoman.Generator)
    return model


def show(browser, page: dragoman.Page, path: Path, ready: str) -> None:
    page.save(path)
    browser.errors.clear()
    browser.open(path.as_uri(), ready="true")
    browser.wait(ready)


def scenes(browser) -> list[dict]:
    """Goes through all scenes; returns title, caption and the number of colours of each."""
    told = []
    for _ in range(200):
        told.append({"title": browser.run(f"{STORY}.querySelector('h2').textContent"),
                     "caption": browser.run(f"{STORY}.querySelector('.explain').textContent"), "colours": browser.run(COLOURS)})
        before = browser.run(f"{STORY}.querySelector('.progress').value")
        browser.run(f"{STORY}.querySelectorAll('.story-player button')[2].click()")
        if browser.run(f"{STORY}.querySelector('.progress').value") == before:
            break
    return told


def check_story(browser, written: str) -> list[dict]:
    told = scenes(browser)
    assert browser.errors == []
    assert all(scene["colours"] > 10 for scene in told), [scene["title"] for scene in told if scene["colours"] <= 10]
    assert all("{" not in scene["caption"] and "NaN" not in scene["caption"] for scene in told)
    assert written in told[-1]["caption"]
    assert browser.run("[...document.querySelectorAll('[src], [href]')].length") == 0
    return told


def test_the_story_of_a_translation(browser, small_translator, tmp_path):
    text = "the cat sees it"
    best = small_translator.translations([text], beam_size=2)[0]
    show(browser, small_translator.story(text, beam_size=2), tmp_path / "story.html", IS_TOLD)
    told = check_story(browser, best.text)
    # Nine scenes of the encoder, one for each piece with its probability, and the end.
    assert len(told) == 9 + len(best.token_scores) + 1
    for scene, score in zip(told[9:], best.token_scores, strict=False):
        shares = [float(share) for share in re.findall(r"([\d.]+) %", scene["caption"])]
        assert any(abs(share - 100 * math.exp(score)) < 0.06 for share in shares), (scene["caption"], score)


def test_the_story_without_self_attention(browser, small_aligned, tmp_path):
    text = "the cat sees it"
    best = small_aligned.translations([text], beam_size=2)[0]
    show(browser, small_aligned.story(text, beam_size=2), tmp_path / "story.html", IS_TOLD)
    told = check_story(browser, best.text)
    first = 6 if small_aligned.config.get("attention", "none") != "none" else 5  # scenes of the encoder
    assert len(told) == first + len(best.token_scores) + 1, [scene["title"] for scene in told]
    for scene, score in zip(told[first:], best.token_scores, strict=False):
        shares = [float(share) for share in re.findall(r"([\d.]+) %", scene["caption"])]
        assert any(abs(share - 100 * math.exp(score)) < 0.06 for share in shares), (scene["caption"], score)


def test_the_story_speaks_chinese_and_knows_the_dark(browser, small_translator, tmp_path):
    show(browser, small_translator.story("the cat sees it"), tmp_path / "story.html", IS_TOLD)
    browser.click("#language")
    assert re.search("[\u4e00-\u9fff]{4}", browser.run(f"{STORY}.querySelector('.explain').textContent"))
    assert browser.run("document.documentElement.lang") == "zh-Hans"
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.click("#theme")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != light
    assert browser.errors == []


def test_the_story_of_a_language_model(browser, small_generator, tmp_path):
    prompt = "the cat"
    options = {"sampling_temperature": 0.0}
    page = small_generator.story(prompt, max_tokens=5, **options)
    show(browser, page, tmp_path / "story.html", IS_TOLD)
    written = small_generator.continuations([prompt], max_tokens=5, **options)[0]
    told = check_story(browser, "")
    assert len(told) >= 8 + len(written.ids)


def test_the_attention_page_of_a_language_model(browser, small_generator, tmp_path):
    page = small_generator.show_attention("the cat", max_tokens=5, sampling_temperature=0.0)
    show(browser, page, tmp_path / "attention.html", "document.querySelectorAll('#overview canvas').length > 0")
    config = small_generator.config
    shown = browser.run("document.querySelectorAll('#overview canvas').length")
    assert shown >= config["layers"] * config["n_heads"]
    assert browser.errors == []


def test_a_text_is_no_markup(browser, small_translator, tmp_path):
    text = "the </script><script>window.ran = 1</script><img src=x onerror=window.ran=1> cat"
    for name, page in (("story", small_translator.story(text)), ("attention", small_translator.show_attention(text))):
        show(browser, page, tmp_path / f"{name}.html", "document.readyState === 'complete'")
        browser.wait_until_still()
        assert browser.run("window.ran === undefined")
        assert browser.errors == []


def test_what_cannot_be_shown_is_said(small_translator, small_generator):
    with pytest.raises(UsageError, match="blank"):
        small_translator.story(" ")
    with pytest.raises(UsageError, match="can be looked into"):
        small_translator.story("cat dog " * 200)
    with pytest.raises(UsageError, match="beam_siz"):
        small_translator.story("cat", beam_siz=3)  # type: ignore[call-arg]
    assert "<iframe" in small_generator.story("the", max_tokens=2)._repr_html_()
