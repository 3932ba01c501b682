"""The view "Write": a text is continued as the server continues it, piece by piece, and what a person did survives."""
import json
import math
import os
import re

import rules
from fakes import asked, fake, faked, language_models, piece
from flows import expect, quoted, show_tab
from server import Server

READY = "document.querySelector('#write-model option') !== null"
PROMPT, WRITTEN, ERROR = (f"document.querySelector('#view-write {name}')" for name in ("#prompt", "#written", ".error"))
BUSY = {"status": 503, "body": {"error": {"message": "The server is busy, try again"}}, "headers": {"Retry-After": "1"}}
CARD = {"/v1/model": {"fails": True}}


def button(key):
    return f"[...document.querySelectorAll('#view-write button')].find((node) => node.dataset.t === {quoted(key)})"


def press(browser, key):
    browser.run(f"{button(key)}.click()")


def set_field(browser, name, value):
    browser.run(f"(() => {{ const field = document.getElementById('write-{name}'); field.value = {quoted(str(value))}; field.dispatchEvent(new Event('input')); }})()")


def type_prompt(browser, text):
    browser.run(f"{PROMPT}.value = {quoted(text)}; {PROMPT}.dispatchEvent(new Event('input'))")


def wait_until_written(browser):
    browser.wait(f"{WRITTEN}.getAttribute('aria-busy') === 'false'")


def written(browser):
    return browser.run(f"[...{WRITTEN}.querySelectorAll('.piece')].map((node) => node.textContent).join('')")


def check_write(browser, server, output):
    """The text is the server's for the same settings and seed; the alternatives of a piece are its log-probabilities."""
    browser.open(server.address + "/", READY)
    tabs = browser.run("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.id)")
    expect(tabs[0] == "tab-write" and "tab-translate" not in tabs, f"the tabs are {tabs}")
    expect(browser.run("document.getElementById('tab-write').getAttribute('aria-selected')") == "true", "the page opens Write")
    browser.wait("document.querySelector('.start') !== null")
    expect("perplexity" in browser.run("document.querySelector('.start').textContent"), "the empty page says what the model knows")
    type_prompt(browser, "The dog")
    for name, value in (("temperature", 0.9), ("top_k", 12), ("top_p", 0.9), ("max_tokens", 40), ("seed", 5)):
        set_field(browser, name, value)
    press(browser, "write.go")
    browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length > 0")
    wait_until_written(browser)
    status, answer = server.post("/v1/completions", {"prompt": "The dog", "temperature": 0.9, "top_k": 12, "top_p": 0.9, "max_tokens": 40, "seed": 5, "logprobs": 8})
    expect(status == 200, f"{answer}")
    choice = answer["choices"][0]
    expect(written(browser) == choice["text"], f"expected {choice['text']!r}, seen {written(browser)!r}")
    expect(browser.run(f"{WRITTEN}.textContent") == "The dog" + choice["text"], "the prompt stands before the text")
    expect("seed 5" in browser.run("document.querySelector('#view-write .box:last-child .count').textContent"), "the seed is told")

    browser.run(f"{WRITTEN}.querySelectorAll('.piece')[3].dispatchEvent(new PointerEvent('pointerenter'))")
    check_alternatives(browser, choice["logprobs"]["top_logprobs"][3], choice["logprobs"]["tokens"][3])
    browser.run(f"{WRITTEN}.querySelectorAll('.piece')[3].focus()")
    browser.key("ArrowRight")
    check_alternatives(browser, choice["logprobs"]["top_logprobs"][4], choice["logprobs"]["tokens"][4])
    expect(browser.run(f"{WRITTEN}.querySelectorAll('[tabindex=\"0\"]').length") == 1, "one piece is reached by Tab")
    browser.click("#written .piece:nth-of-type(3)")  # a tap; the prompt is the first span
    check_alternatives(browser, choice["logprobs"]["top_logprobs"][1], choice["logprobs"]["tokens"][1])

    check_survives(browser, server, choice["text"])
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.run(f"{button('translate.copy')}.focus()")
    press(browser, "translate.copy")
    browser.wait("navigator.clipboard.readText().then((text) => text === " + quoted("The dog" + choice["text"]) + ")")
    press(browser, "write.more")
    wait_until_written(browser)
    expect(browser.run(f"{PROMPT}.value") == "The dog" + choice["text"], "what was written is the beginning of what follows")


def check_alternatives(browser, top, token):
    visible = lambda text: text.replace(" ", "\u2423").replace("\n", "\u23ce")
    shown = browser.run("[...document.querySelectorAll('.alternatives-of .bars > :nth-child(3n + 1)')].map((node) => [node.textContent, node.nextSibling.nextSibling.textContent, node.classList.contains('chosen')])")
    expected = sorted(top.items(), key=lambda item: -item[1])
    expect([text for text, _, _ in shown] == [visible(text) for text, _ in expected], f"alternatives {shown}, expected {expected}")
    for (text, share, is_chosen), (other, score) in zip(shown, expected):
        value = 0.05 if share.startswith("<") else float(share.replace("%", ""))
        expect(abs(value - 100 * math.exp(score)) < 0.06, f"{text} has {share}, expected {math.exp(score)}")
        expect(is_chosen == (other == token), f"{text} is marked as chosen: {is_chosen}")


def check_survives(browser, server, text):
    """Language, theme and a reload leave prompt, settings and text alone; the address writes the same text again."""
    for name in ("language", "theme", "theme", "language"):
        browser.run(f"document.getElementById('{name}').click()")
    expect(written(browser) == text, "language and theme change the text")
    link = browser.run("location.href")
    browser.reload(READY)
    browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length > 0")
    expect(written(browser) == text and browser.run(f"{PROMPT}.value") == "The dog", "a reload loses the text")
    expect(browser.run("document.getElementById('write-top_k').value") == "12", "a reload loses the settings")
    browser.run(f"{WRITTEN}.querySelectorAll('.piece')[0].focus()")
    expect(not browser.run("document.querySelector('.alternatives-of').hidden"), "the alternatives are gone after a reload")
    browser.open(link, READY)
    browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length > 0")
    wait_until_written(browser)
    expect(written(browser) == text, f"the link {link} writes {written(browser)!r}")


def check_stream(browser, server):
    """Pieces of several bytes, the stop button, and a connection that is cut."""
    tokens = [("a", -0.5, {"b": -1.0}), ("bytes:\\xe4\\xbd", -1.0, {}), ("bytes:\\xa0", -0.1, {}), ("c", -2.0, {"d": -0.3})]
    first, second = piece("a\u4f60", tokens[:3]), piece("c", tokens[3:])
    first["choices"][0]["logprobs"]["text_offset"], second["choices"][0]["logprobs"]["text_offset"] = [0, 1, 2], [2]
    with faked(browser, server.address + "/", {**CARD, "/v1/completions": {"events": [first, second, piece("", finish="stop")]}}, READY):
        type_prompt(browser, "x")
        press(browser, "write.go")
        wait_until_written(browser)
        browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length === 3")
        expect(written(browser) == "a\u4f60c", f"written is {written(browser)!r}")
        browser.run(f"{WRITTEN}.querySelectorAll('.piece')[1].focus()")
        shown = browser.run("[...document.querySelectorAll('.alternatives-of .piece')].map((node) => node.textContent)")
        expect(shown == ["\\xe4\\xbd", "\\xa0"], f"a character of two pieces shows {shown}")

        text = browser.run(r"import('/assets/written_text.js').then(({ joined }) => joined(['a', 'bytes:\\xe4\\xbd', 'bytes:\\xa0', ' b']))")
        expect(text == "a\u4f60 b", f"the pieces of a character are joined to {text!r}")
        slow = [piece(letter, [(letter, -0.1, {})], i) for i, letter in enumerate("abcdefghij")]
        fake(browser, "/v1/completions", {"events": slow, "pause": 150})
        press(browser, "write.go")
        browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length >= 2")
        expect(browser.run(f"{button('write.inside')}?.disabled ?? true"), "a text that is still written cannot be looked into")
        press(browser, "write.stop")
        count = browser.run(f"{WRITTEN}.querySelectorAll('.piece').length")
        browser.run("new Promise((done) => setTimeout(done, 500))")
        expect(browser.run(f"{WRITTEN}.querySelectorAll('.piece').length") == count < 10, "it goes on after Stop")
        expect("stopped" in browser.run("document.querySelector('#view-write .box:last-child .count').textContent"), "it does not say that it was stopped")
        expect(browser.run(f"{ERROR}.textContent") == "", "a stop is no error")

        fake(browser, "/v1/completions", {"events": slow[:3], "cut": True})
        press(browser, "write.go")
        browser.wait(f"{ERROR}.textContent.includes('reached')")
        expect(written(browser) == "abc", "what had come is gone")


def check_errors(browser, server):
    """An old text never stands beside a new error; passing errors are tried again; sentences are in both languages."""
    answer = {"events": [piece("da", [("da", -0.1, {})]), piece("", finish="length")]}
    with faked(browser, server.address + "/", {**CARD, "/v1/completions": answer}, READY):
        type_prompt(browser, "x")
        press(browser, "write.go")
        browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length === 1")
        wait_until_written(browser)
        fake(browser, "/v1/completions", {"status": 400, "body": {"error": {"message": "prompt has 120 tokens, the model takes 96, the new ones counted; give a shorter prompt"}}})
        press(browser, "write.go")
        browser.wait(f"{ERROR}.textContent.includes('120')")
        expect(browser.run(f"{WRITTEN}.textContent") == "", "the old text stands beside the error")
        press_language = "document.getElementById('language').click()"
        browser.run(press_language)
        text = browser.run(f"{ERROR}.textContent")
        browser.run(press_language)
        expect("片段" in text and "120" in text, f"the error is not Chinese: {text!r}")
        rules.check_page(browser, "write, an error")
        fake(browser, "/v1/completions", [BUSY, answer])
        press(browser, "write.go")
        browser.wait(f"{ERROR}.textContent.includes('busy')")
        browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length === 1 && {ERROR}.textContent === ''", 10)
        before = len(asked(browser, "/v1/completions"))
        set_field(browser, "max_tokens", "0")
        press(browser, "write.go")
        browser.wait(f"{ERROR}.textContent.includes('Pieces at most')")
        expect(len(asked(browser, "/v1/completions")) == before, "a field that breaks its rule is sent")
        set_field(browser, "max_tokens", "20")
        texts = ["prompt has 6000 characters, at most 5000 are taken; give a shorter one", "Incorrect API key provided", "No API key is given; send it as",
                 "The model `x` does not exist; GET /v1/models lists those that are served", "prompt: U+4E2D is not in the vocabulary of 65 characters; leave it out",
                 "the completion took too long", "inspect: the parts asked for hold more than 600000 numbers; ask for fewer at a time"]
        browser.run(press_language)
        seen = browser.run(f"import('/assets/errors.js').then(({{ ServerError }}) => {json.dumps(texts)}.map((text) => new ServerError({{ status: 400, text }}).message))")
        browser.run(press_language)
        for text, sentence in zip(texts, seen):
            expect(any("\u4e00" <= letter <= "\u9fff" for letter in sentence) and text not in sentence, f"{text!r} becomes {sentence!r}")


def check_keys(browser, server):
    """The key is sent as OpenAI's clients send it, and the text that was refused is written when the key is there."""
    refused = {"status": 401, "body": {"error": {"message": "No API key is given; send it as \"Authorization: Bearer KEY\""}}}
    locked = language_models("a", "b")
    locked["body"]["keyRequired"] = True
    with faked(browser, server.address + "/", {**CARD, "/frontend/settings": locked, "/v1/completions": refused}, READY):
        expect(browser.run("document.querySelectorAll('#write-model option').length") == 2, "both models can be chosen")
        type_prompt(browser, "x")
        press(browser, "write.go")
        browser.wait(f"{ERROR}.textContent.includes('API key')")
        fake(browser, "/v1/completions", {"events": [piece("da", [("da", -0.1, {})])]})
        browser.run("window.headers = []; { const faked = window.fetch; window.fetch = (path, options = {}) => { window.headers.push(options.headers?.Authorization); return faked(path, options); }; } 0")
        browser.run("(() => { const key = document.getElementById('key'); key.value = 'secret'; key.dispatchEvent(new Event('change')); })()")
        browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length === 1")
        expect("Bearer secret" in browser.run("window.headers"), "the key is not sent")


def check_both_kinds(browser, server):
    """With models of both kinds both views are there, and the card follows the view that was used last."""
    browser.open(server.address + "/")
    tabs = browser.run("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.id)")
    expect(tabs[:2] == ["tab-translate", "tab-write"], f"the tabs are {tabs}")
    show_tab(browser, "write")
    type_prompt(browser, "The")
    press(browser, "write.go")
    browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length > 0")
    wait_until_written(browser)
    show_tab(browser, "card")
    browser.wait("document.querySelector('.card-title')?.textContent.includes('language-model')")
    expect("continues texts" in browser.run("document.getElementById('view-card').textContent"), "the card is of a language model")
    show_tab(browser, "inside")
    browser.wait("document.querySelector('textarea#inside-text')?.value && !document.querySelector('.story').hidden && !document.querySelector('.story').hasAttribute('aria-busy')")
    show_tab(browser, "translate")
    show_tab(browser, "inside")
    browser.wait("document.querySelector('input#inside-text')?.value && !document.querySelector('.story').hidden && !document.querySelector('.story').hasAttribute('aria-busy')")
    show_tab(browser, "translate")
    show_tab(browser, "card")
    browser.wait("document.querySelector('.card-title') && !document.querySelector('.card-title').textContent.includes('language-model')")


def check_looks(browser, server, output):
    """Names, contrast, width, sizes of text and focus, in both themes and languages, on a desk and on a phone."""
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for language in ("en", "zh"):
            for width, height in ((1280, 900), (390, 844)):
                browser.size(width, height)
                browser.open(server.address + "/", READY)
                if language == "zh":
                    browser.run("document.getElementById('language').click()")
                place = f"write-{width}-{theme}-{language}"
                browser.wait("document.querySelector('.start') !== null")
                browser.picture(os.path.join(output, f"{place}-empty.png"))
                rules.check_page(browser, f"{place}, empty")
                type_prompt(browser, "The dog")
                set_field(browser, "seed", "5")
                press(browser, "write.go")
                browser.wait(f"{WRITTEN}.querySelectorAll('.piece').length > 0")
                wait_until_written(browser)
                browser.run(f"{WRITTEN}.querySelectorAll('.piece')[2].focus()")
                browser.wait_until_still()
                browser.picture(os.path.join(output, f"{place}.png"))
                rules.check_page(browser, place)
                rules.check_text_size(browser, place)
                if theme == "light" and width == 1280:
                    rules.check_focus_order(browser, place)
                if language == "zh":
                    text = browser.run("document.getElementById('view-write').innerText")
                    left = [word for word in re.findall(r"[A-Za-z]{4,}", text) if word in ("Write", "Stop", "Seed", "Temperature", "pieces", "seed")]
                    expect(not left, f"English is left: {left}")
                    browser.run("document.getElementById('language').click()")
    browser.size(1280, 900)
    browser.prefer(prefers_color_scheme="light")


def checks(browser, program, output, model, language_model):
    """(name, action) of every check of this file, each against a server of its own."""
    def against(action, *names):
        with Server(program, *names) as server:
            action(server)

    alone = (None, [language_model])
    return [("write", lambda: against(lambda server: check_write(browser, server, output), *alone)),
            ("write: stream", lambda: against(lambda server: check_stream(browser, server), *alone)),
            ("write: errors", lambda: against(lambda server: check_errors(browser, server), *alone)),
            ("write: keys", lambda: against(lambda server: check_keys(browser, server), *alone)),
            ("write: both kinds of models", lambda: against(lambda server: check_both_kinds(browser, server), model, [language_model])),
            ("write: names, contrast, width, focus", lambda: against(lambda server: check_looks(browser, server, output), *alone))]
