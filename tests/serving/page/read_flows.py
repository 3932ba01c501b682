"""The view "Read": what an encoder says on the page is what the server answers, and what a person typed survives."""
import json
import math
import os
import re

import attacks
import rules
from fakes import asked, encoders, fake, faked
from flows import expect, number, quoted, show_tab
from server import Server, make_encoder

READY = "document.querySelector('#read-model option') !== null"
TEXT, SECOND, TASK, ANSWER, ERROR = (f"document.querySelector('#view-read {name}')" for name in ("#read-text", "#read-second", "#read-task", "#read-answer", ".error"))
BUSY = {"status": 503, "body": {"error": {"message": "The server is busy, try again"}}, "headers": {"Retry-After": "1"}}
CARD = {"/v1/model": {"fails": True}}
LABELLED = {"body": {"data": [{"label": "day", "probability": 0.75, "labels": [{"label": "day", "probability": 0.75}, {"label": "night", "probability": 0.25}]}]}}


def type_text(browser, text, field=TEXT):
    browser.run(f"{field}.value = {quoted(text)}; {field}.dispatchEvent(new Event('input')); 0")


def choose(browser, field, value):
    browser.run(f"(() => {{ const field = document.getElementById('read-{field}'); field.value = {quoted(value)}; field.dispatchEvent(new Event('change')); }})()")


def wait_for_answer(browser, what):
    browser.wait(f"{ANSWER}.querySelector({quoted(what)}) !== null && !{ANSWER}.classList.contains('waiting')")


def bars(browser, place=0):
    """[name, share] of each bar of one place."""
    return browser.run(f"[...{ANSWER}.querySelectorAll('.bars')[{place}].querySelectorAll('.piece')].map((node) => "
                       "[node.textContent, node.nextSibling.nextSibling.textContent])")


def expect_share(shown, expected, what):
    value = 0.05 if shown.startswith("<") else number(shown)
    expect(abs(value - 100 * expected) < 0.06, f"{what} has {shown}, expected {100 * expected}")


def check_classify(browser, server):
    """The bars are the probabilities of the server; labels are text, whatever they look like."""
    browser.open(server.address + "/", READY)
    tabs = browser.run("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.id)")
    expect(tabs == ["tab-read", "tab-inside", "tab-card", "tab-lab"], f"the tabs are {tabs}")
    browser.wait("document.querySelector('.start') !== null")
    start = browser.run("document.querySelector('.start').textContent")
    expect("accuracy" in start and "night" in start, f"the empty page says {start!r}")
    type_text(browser, "the cat sleeps at night")
    wait_for_answer(browser, ".bars")
    _, answer = server.post("/v1/classify", {"input": "the cat sleeps at night"})
    labels = answer["data"][0]["labels"]
    shown = bars(browser)
    expect([name for name, _ in shown] == [one["label"] for one in labels], f"labels {shown}, expected {labels}")
    for (name, share), one in zip(shown, labels):
        expect_share(share, one["probability"], name)
    attacks.check_nothing_ran(browser, "a label", "read")
    type_text(browser, "a second text", SECOND)
    _, answer = server.post("/v1/classify", {"input": "the cat sleeps at night", "second": "a second text"})
    best = answer["data"][0]
    browser.wait(f"{ANSWER}.querySelector('.number').textContent === " + quoted(f"{100 * best['probability']:.1f} %"))
    check_attention(browser, server)
    check_survives(browser)
    check_compare(browser, server)
    show_tab(browser, "card")
    browser.wait("document.querySelector('.card-title') !== null")
    expect("encoder" in browser.run("document.getElementById('view-card').textContent"), "the card is not that of an encoder")


def check_attention(browser, server):
    """A single text shows every head; a head that is chosen is the one of the server. A pair shows none."""
    browser.wait("document.querySelector('#view-read .thumb') === null")
    type_text(browser, "", SECOND)
    browser.wait("document.querySelectorAll('#view-read .thumb').length === 4")  # two layers of two heads
    browser.run("document.querySelectorAll('#view-read .thumb')[3].click()")
    browser.wait("document.querySelectorAll('#view-read .thumb')[3].getAttribute('aria-pressed') === 'true'")
    _, answer = server.post("/v1/inspect", {"text": "the cat sleeps at night", "parts": [{"part": "head", "path": "layers.1.self_attention", "head": 1}]})
    weights, n = answer["parts"][0]["weights"]["values"], len(answer["source"]["ids"])
    browser.run("document.querySelector('#view-read .side .links').querySelectorAll('button.token')[2].click()")
    shown = browser.run("[...document.querySelectorAll('#view-read .side')[0].querySelectorAll('.links .weight')].map((node) => node.textContent)")
    expected = weights[2 * n:3 * n]
    expect(len(shown) == n, f"{len(shown)} weights are shown, expected {n}: {shown}")
    for text, weight in zip(shown, expected):
        expect(abs(number(text) - weight) < 0.006, f"weights {shown}, expected {expected}")
    type_text(browser, "a second text", SECOND)
    browser.wait("document.querySelector('#view-read .thumb') === null")
    wait_for_answer(browser, ".bars")


def check_survives(browser):
    """Language, theme and a reload leave the text alone."""
    before = browser.run(f"{ANSWER}.querySelector('.bars').textContent")
    for name in ("language", "theme", "theme", "language"):
        browser.run(f"document.getElementById('{name}').click()")
    expect(browser.run(f"{ANSWER}.querySelector('.bars').textContent") == before, "language and theme change the answer")
    browser.reload(READY)
    wait_for_answer(browser, ".bars")
    expect(browser.run(f"{ANSWER}.querySelector('.bars').textContent") == before, "a reload changes the answer")
    expect(browser.run(f"{SECOND}.value") == "a second text", "a reload loses the second text")


def check_compare(browser, server):
    """The number is the cosine of the two vectors of the server."""
    choose(browser, "task", "compare")
    type_text(browser, "the dog runs at noon", SECOND)
    wait_for_answer(browser, ".likeness")
    _, answer = server.post("/v1/embeddings", {"input": ["the cat sleeps at night", "the dog runs at noon"]})
    a, b = (one["embedding"] for one in answer["data"])
    cosine = sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    browser.wait(f"Math.abs(Number({ANSWER}.querySelector('.likeness b').textContent.replace('\u2212', '-')) - {cosine}) < 0.0006")


def check_tag(browser, server):
    """Each word with a tag has the tag and the probability of the server; the text is as it was typed."""
    text = "the cat  sleeps\nat \U0001f319 night"
    browser.open(server.address + "/", READY)
    type_text(browser, text)
    wait_for_answer(browser, ".tagged")
    _, answer = server.post("/v1/tag", {"input": text})
    words = [word for word in answer["data"][0]["words"] if word["tag"] != "O"]
    expect(len(words) >= 2, f"the model tags {answer}")
    shown = browser.run(f"[...{ANSWER}.querySelectorAll('.tagged-word')].map((node) => [node.firstChild.textContent, node.lastChild.textContent])")
    expect([word for word, _ in shown] == [word["word"] for word in words], f"words {shown}, expected {words}")
    for (word, below), one in zip(shown, words):
        tag, share = below.split(" ", 1)
        expect(tag == one["tag"], f"{word} has {below}")
        expect_share(share, one["probability"], word)
    whole = browser.run(f"(() => {{ const copy = {ANSWER}.querySelector('.tagged').cloneNode(true); copy.querySelectorAll('small').forEach((node) => node.remove()); return copy.textContent; }})()")
    expect(whole == text, f"the text is {whole!r}")


def check_fill(browser, server):
    """Candidates are those of the server, and one that is chosen takes the place of its mask."""
    browser.open(server.address + "/", READY)
    type_text(browser, "the cat sleeps")
    browser.wait(f"{ANSWER}.textContent.includes('[MASK]')")
    text = "the [MASK] sleeps at [MASK]"
    type_text(browser, text)
    wait_for_answer(browser, ".bars")
    _, answer = server.post("/v1/fill-mask", {"input": text, "top": 8})
    for place, candidates in enumerate(answer["data"][0]["masks"]):
        shown = bars(browser, place)
        expect([piece for piece, _ in shown] == [one["piece"] for one in candidates], f"candidates {shown}, expected {candidates}")
        for (piece, share), one in zip(shown, candidates):
            expect_share(share, one["probability"], piece)
    second = answer["data"][0]["masks"][1][0]["piece"]
    browser.run(f"{ANSWER}.querySelectorAll('.bars')[1].querySelector('button').click()")
    expect(browser.run(f"{TEXT}.value") == f"the [MASK] sleeps at {second}", browser.run(f"{TEXT}.value"))
    browser.wait(f"{ANSWER}.querySelectorAll('.bars').length === 1 && !{ANSWER}.classList.contains('waiting')")


def check_errors(browser, server):
    """An old answer never stands beside a new error; passing errors are tried again; sentences are in both languages."""
    with faked(browser, server.address + "/", {**CARD, "/frontend/settings": encoders("one", "two"), "/v1/classify": LABELLED}, READY):
        type_text(browser, "a")
        wait_for_answer(browser, ".bars")
        fake(browser, "/v1/classify", {"status": 400, "body": {"error": {"message": "input: the text has 40 tokens, the model takes 32; give a shorter one"}}})
        type_text(browser, "a b")
        browser.wait(f"{ERROR}.textContent.includes('40')")
        expect(browser.run(f"{ANSWER}.textContent") == "", "the old answer stands beside the error")
        rules.check_page(browser, "read, an error")
        fake(browser, "/v1/classify", [BUSY, LABELLED])
        type_text(browser, "a b c")
        browser.wait(f"{ERROR}.textContent.includes('busy')")
        browser.wait(f"{ANSWER}.querySelector('.bars') !== null && {ERROR}.textContent === ''", 10)
        choose(browser, "model", "two")
        browser.wait("window.asked.some(([at, body]) => at === '/v1/classify' && body.includes('\"two\"'))")
        expect(asked(browser, "/v1/classify")[-1] == {"model": "two", "input": "a b c"}, f"{asked(browser, '/v1/classify')[-1]}")
        texts = ["input has 6000 characters, at most 5000 are taken; give a shorter one", "the encoding took too long",
                 "input: text 1 has no [MASK] in the part that the model can take; write it", "input: text 1 has 70 masks, at most 64 are taken"]
        browser.run("document.getElementById('language').click()")
        seen = browser.run(f"import('/assets/errors.js').then(({{ ServerError }}) => {json.dumps(texts)}.map((text) => new ServerError({{ status: 400, text }}).message))")
        browser.run("document.getElementById('language').click()")
        for text, sentence in zip(texts, seen):
            expect(any("\u4e00" <= letter <= "\u9fff" for letter in sentence) and text not in sentence, f"{text!r} becomes {sentence!r}")


def check_keys(browser, server):
    """The key is sent as OpenAI's clients send it, and the text that was refused is read when the key is there."""
    refused = {"status": 401, "body": {"error": {"message": "No API key is given; send it as \"Authorization: Bearer KEY\""}}}
    with faked(browser, server.address + "/", {**CARD, "/frontend/settings": encoders("one", key=True), "/v1/classify": refused}, READY):
        type_text(browser, "x")
        browser.wait(f"{ERROR}.textContent.includes('API key')")
        fake(browser, "/v1/classify", LABELLED)
        browser.run("window.headers = []; { const faked = window.fetch; window.fetch = (path, options = {}) => { window.headers.push(options.headers?.Authorization); return faked(path, options); }; } 0")
        browser.run("(() => { const key = document.getElementById('key'); key.value = 'secret'; key.dispatchEvent(new Event('change')); })()")
        wait_for_answer(browser, ".bars")
        expect("Bearer secret" in browser.run("window.headers"), "the key is not sent")


def check_with_translation(browser, server):
    """Beside a model that translates the view is there too; the card and Look inside follow it, and the translation after it."""
    browser.open(server.address + "/")
    tabs = browser.run("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.id)")
    expect(tabs[:3] == ["tab-translate", "tab-read", "tab-inside"], f"the tabs are {tabs}")
    show_tab(browser, "read")
    show_tab(browser, "card")
    browser.wait("document.querySelector('.card-title')?.textContent.includes('encoder-tag')")
    show_tab(browser, "inside")
    expect(browser.run("document.getElementById('inside-beam')") is None, "Look inside is still with the translation")
    show_tab(browser, "translate")
    show_tab(browser, "inside")
    browser.wait("document.getElementById('inside-beam') !== null && document.querySelector('input#inside-text')?.value && !document.querySelector('.story').hidden && !document.querySelector('.story').hasAttribute('aria-busy')")


def check_looks(browser, server, output):
    """Names, contrast, width, sizes of text and focus, in both themes and languages, on a desk and on a phone."""
    shown = {"encoder-classify": ("the cat sleeps at night", ".bars"), "encoder-tag": ("the cat sleeps at night", ".tagged"),
             "encoder-masked-language-model": ("the [MASK] sleeps at [MASK]", ".bars")}
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for language in ("en", "zh"):
            for width, height in ((1280, 900), (390, 844)):
                browser.size(width, height)
                browser.open(server.address + "/", READY)
                if language == "zh":
                    browser.run("document.getElementById('language').click()")
                for model, (text, what) in shown.items():
                    choose(browser, "model", model)
                    type_text(browser, "")
                    place = f"read-{width}-{theme}-{language}-{model}"
                    browser.wait("document.querySelector('.start') !== null")
                    rules.check_page(browser, f"{place}, empty")
                    type_text(browser, text)
                    wait_for_answer(browser, what)
                    browser.wait_until_still()
                    browser.picture(os.path.join(output, f"{place}.png"))
                    rules.check_page(browser, place)
                    rules.check_text_size(browser, place)
                    if theme == "light" and width == 1280:
                        rules.check_focus_order(browser, place)
                choose(browser, "task", "compare")
                type_text(browser, "the dog runs", SECOND)
                wait_for_answer(browser, ".likeness")
                rules.check_page(browser, f"read-{width}-{theme}-{language}-compare")
                browser.picture(os.path.join(output, f"read-{width}-{theme}-{language}-compare.png"))
                if language == "zh":
                    text = browser.run("document.getElementById('view-read').innerText")
                    left = re.findall(r"(?<![-\w])(?:Read|label|tag|mask|Text|cosine|texts)\b", text)
                    expect(not left, f"English is left: {left}")
                    browser.run("document.getElementById('language').click()")
                type_text(browser, "", SECOND)
    browser.size(1280, 900)
    browser.prefer(prefers_color_scheme="light")


def checks(browser, program, output, model):
    """(name, action) of every check of this file, each against a server of its own."""
    def against(action, tasks, translates=None):
        with Server(program, translates, [make_encoder(program, output, task) for task in tasks]) as server:
            action(server)

    return [("read: labels", lambda: against(lambda server: check_classify(browser, server), ["classify"])),
            ("read: tags", lambda: against(lambda server: check_tag(browser, server), ["tag"])),
            ("read: masks", lambda: against(lambda server: check_fill(browser, server), ["masked-language-model"])),
            ("read: errors", lambda: against(lambda server: check_errors(browser, server), ["classify"])),
            ("read: keys", lambda: against(lambda server: check_keys(browser, server), ["classify"])),
            ("read: beside translation", lambda: against(lambda server: check_with_translation(browser, server), ["tag"], model)),
            ("read: names, contrast, width, focus", lambda: against(lambda server: check_looks(browser, server, output),
                                                                    ["classify", "tag", "masked-language-model"]))]
