"""What people do on the page, and that the numbers it shows are the server's."""
import json
import math
import os
import re

SENTENCE = "The animal didn't cross the street because it was too tired."


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def quoted(text):
    return json.dumps(text)


def number(text):
    return float(text.replace("\u2212", "-").replace("%", "").strip())


def show_tab(browser, name):
    browser.run(f"document.getElementById('tab-{name}').click()")
    browser.wait(f"!document.getElementById('view-{name}').hidden")


def translate(browser, text):
    browser.run("(() => { const source = document.getElementById('source'); source.focus(); source.value = ''; source.dispatchEvent(new Event('input')); })()")
    browser.wait("document.getElementById('output').textContent === ''")
    browser.type(text)
    browser.wait("document.getElementById('output').textContent.trim() !== ''"
                 " && !document.getElementById('output').classList.contains('waiting')")


def check_translate(browser, server, folder):
    show_tab(browser, "translate")
    translate(browser, SENTENCE)
    _, answer = server.post("/translate", {"q": SENTENCE, "source": "en", "target": "de", "alternatives": 3})
    seen = " ".join(browser.run("document.getElementById('output').textContent").split())
    expect(seen == " ".join(answer["translatedText"].split()), f"expected {answer['translatedText']!r}, seen {seen!r}")

    # Typing on cancels: the last text wins, whatever the order of the answers.
    for text in ("A cat", "A cat saw", "A cat saw a dog."):
        browser.run(f"document.getElementById('source').value = {quoted(text)};"
                    "document.getElementById('source').dispatchEvent(new Event('input'))")
    _, answer = server.post("/translate", {"q": "A cat saw a dog.", "source": "en", "target": "de"})
    browser.wait("document.getElementById('output').textContent.replace(/\\s+/g, ' ').trim() === "
                 + quoted(answer["translatedText"].strip()))

    # A word that is pointed at, and one that has the focus, lights others up.
    browser.wait("document.querySelectorAll('#output .word').length > 0")
    browser.run("document.querySelector('#output .word').focus()")
    expect(browser.run("document.querySelectorAll('.aligned .word.linked').length") > 0, "no source word lights up")
    expect(browser.run("document.querySelectorAll('.aligned .word.on, #output .word.on').length") == 1, "one word is on")

    path = os.path.join(folder, "upload.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("The dog was tired.")
    browser.choose_file("input[type=file]", path)
    browser.wait("document.getElementById('source').value === 'The dog was tired.'")
    # Until the answer to the file is there, the alternatives on show are those of the text before it.
    _, answer = server.post("/translate", {"q": "The dog was tired.", "source": "en", "target": "de", "alternatives": 3})
    others = [text for text in answer["alternatives"] if text.strip() and text != answer["translatedText"]]
    browser.wait("JSON.stringify([...document.querySelectorAll('.alternatives button')].map((button) => button.textContent)) === "
                 + quoted(json.dumps(others, ensure_ascii=False, separators=(",", ":"))))
    other = others[0]
    browser.run("document.querySelector('.alternatives button').click()")
    seen = browser.run("document.getElementById('output').textContent")
    expect(seen == other, f"an alternative is not taken over: expected {other!r}, seen {seen!r}")
    expect(browser.run("document.querySelector('.pair button').disabled"), "de to en is not served, but swap is offered")
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click(".box:last-child .bar button")
    browser.wait("navigator.clipboard.readText().then((text) => text === " + quoted(other) + ")")


def check_blank_alternatives(browser):
    """A model may have a blank alternative: it must not become a button without a name."""
    show_tab(browser, "translate")
    browser.run("window.realFetch = window.fetch; window.fetch = (path, options) => path === '/translate'"
                " ? Promise.resolve(new Response(JSON.stringify({translatedText: 'best', alternatives: ['', ' ', 'best', 'next']}),"
                " {status: 200, headers: {'Content-Type': 'application/json'}}))"
                " : window.realFetch(path, options)")
    try:
        translate(browser, "A cat.")
        browser.wait("document.getElementById('output').textContent.trim() === 'best'")
        seen = browser.run("[...document.querySelectorAll('.alternatives button')].map((button) => button.textContent).join('|')")
        expect(seen == "next", f"expected the alternative 'next' alone, seen {seen!r}")
    finally:
        browser.run("window.fetch = window.realFetch; delete window.realFetch")


def tell(browser, text=SENTENCE):
    """Looks into a sentence, which begins its story."""
    show_tab(browser, "inside")
    browser.wait("document.getElementById('inside-text') !== null")
    browser.run(f"document.getElementById('inside-text').value = {quoted(text)};"
                "document.querySelector('.ask').requestSubmit()")
    browser.wait("!document.getElementById('view-inside').hasAttribute('aria-busy') && !document.querySelector('.story').hidden"
                 " && !document.querySelector('.story').hasAttribute('aria-busy')")


def open_stage(browser, place):
    """Opens a stage of the study by its address, as "encoder/2/head/1"."""
    browser.run(f"window.__before = location.hash === {quoted('#inside/' + place)} ? null : document.querySelector('.stage header'); location.hash = {quoted('#inside/' + place)}")
    browser.wait("document.querySelector('.stage h2') !== null && !document.querySelector('.stage').hasAttribute('aria-busy')"
                 " && document.querySelector('.stage header') !== window.__before")


def look_inside(browser, text=SENTENCE):
    """Looks into a sentence, and opens the first stage of the study."""
    tell(browser, text)
    open_stage(browser, "encoder/tokens")


def places(browser):
    now, every = re.match(r"(\d+) / (\d+)", browser.run("document.querySelector('.place').textContent")).groups()
    return int(now), int(every)


def press(browser, label):
    browser.run(f"[...document.querySelectorAll('.player button')].find((b) => b.getAttribute('aria-label') === {quoted(label)}).click()")


def step(browser, label):
    """Presses the button of a step, and waits until the stage it leads to is shown."""
    before = places(browser)[0]
    press(browser, label)
    browser.wait(f"!document.querySelector('.place').textContent.startsWith('{before} ')"
                 " && !document.querySelector('.stage').hasAttribute('aria-busy')")


def title(browser):
    return browser.run("document.querySelector('.stage h2').textContent")


def wait_for_stage(browser, name):
    browser.wait(f"document.querySelector('.stage h2').textContent === {quoted(name)}"
                 " && document.querySelector('.stage-body').childElementCount > 0")


def go_to(browser, name):
    """Steps on until a stage of that title is shown."""
    for _ in range(80):
        if title(browser) == name:
            return
        step(browser, "One step on")
    raise AssertionError(f"no stage {name!r} within 80 steps")


def check_steps(browser):
    look_inside(browser)
    first, every = places(browser)
    expect(first == 1, f"the first stage is 1, seen {first}")
    seen = [title(browser)]
    for _ in range(12):
        step(browser, "One step on")
        seen.append(title(browser))
    expect(len(set(seen)) >= 11, f"expected 11 different stages, seen {seen}")
    for expected in reversed(seen[:-1]):
        step(browser, "One step back")
        expect(title(browser) == expected, f"a step back leads to {title(browser)!r}, expected {expected!r}")
    browser.run("document.body.focus(); document.activeElement.blur()")
    browser.key("ArrowRight")
    wait_for_stage(browser, seen[1])
    press(browser, "Play")
    browser.wait(f"!document.querySelector('.place').textContent.startsWith('2 ')", 10)
    press(browser, "Pause")
    stopped = places(browser)
    browser.run("new Promise((done) => setTimeout(done, 2000))")
    expect(places(browser) == stopped, "it goes on after a pause")
    press(browser, "To the end")
    wait_for_stage(browser, "Beam search: several translations at once")
    expect(places(browser)[0] == every, "the end is the last stage")


def head(server, path, which):
    status, answer = server.post("/v1/inspect", {"text": SENTENCE, "beam_size": 4,
                                                 "parts": [{"part": "head", "path": path, "head": which}]})
    expect(status == 200, f"inspect: {answer}")
    return answer["parts"][0], answer


def check_attention(browser, server):
    look_inside(browser)
    go_to(browser, "Soft-max turns scores into weights")
    chosen = browser.run("[...document.querySelectorAll('.stage .heads button')].findIndex((b) => b.getAttribute('aria-pressed') === 'true')")
    part, answer = head(server, "encoder.layers.0.self_attention", chosen)
    columns = len(answer["source"]["ids"])
    row = browser.run("[...document.querySelectorAll('.stage .links .from button')].findIndex((b) => b.getAttribute('aria-pressed') === 'true')")
    weights = part["weights"]["values"][row * columns:(row + 1) * columns]
    shown = browser.run("[...document.querySelectorAll('.stage .links .to .weight')].map((node) => node.textContent)")
    for column in range(columns):
        expect(abs(number(shown[column]) - weights[column]) < 0.0051, f"weight {column}: {shown[column]} for {weights[column]}")

    # The cell under the matrix: query times key, summed, scaled, soft-maxed.
    steps = browser.run("[...document.querySelectorAll('.chain b')].map((node) => node.textContent)")
    column = weights.index(max(weights))
    width = part["query"]["shape"][1]
    product = sum(q * k for q, k in zip(part["query"]["values"][row * width:(row + 1) * width],
                                        part["key"]["values"][column * width:(column + 1) * width]))
    for text, value in zip(steps, (product, product / math.sqrt(width), weights[column])):
        expect(abs(number(text) - value) < 0.006 + abs(value) * 1e-3, f"the cell shows {steps}, expected {value}")

    browser.run("document.querySelectorAll('.stage .heads button')[1].click()")
    browser.wait("document.querySelectorAll('.stage .heads button')[1]?.getAttribute('aria-pressed') === 'true'")
    browser.run("document.querySelector('.stage canvas').focus()")
    before = browser.run("document.querySelector('.stage .readout').textContent")
    browser.key("ArrowUp")
    browser.wait(f"document.querySelector('.stage .readout').textContent !== {quoted(before)}")
    expect(browser.run("document.querySelectorAll('.thumb').length") == 8, "2 layers of 4 heads at a glance")
    browser.run("document.querySelectorAll('.thumb')[5].click()")
    browser.wait("document.querySelector('.crumbs').textContent.includes('layer 2') && document.querySelector('.crumbs').textContent.includes('Head 2')")
    expect("it" in browser.run("document.querySelector('.panels h2').textContent"), "where \"it\" looks is not shown")


def check_output(browser, server):
    look_inside(browser)
    press(browser, "One word on")
    wait_for_stage(browser, "The encoder is done")
    press(browser, "One word on")
    wait_for_stage(browser, "The next word")
    status, answer = server.post("/v1/inspect", {"text": SENTENCE, "beam_size": 4, "parts": [
        {"part": "logits", "step": 0}, {"part": "candidates", "count": 12}, {"part": "beam"}]})
    expect(status == 200, f"inspect: {answer}")
    logits, candidates, tree = answer["parts"]
    for temperature in (1.0, 0.5, 2.0):
        browser.run(f"(() => {{ const slider = document.getElementById('temperature'); slider.value = {temperature}; slider.dispatchEvent(new Event('input')); }})()")
        shown = browser.run("[...document.querySelectorAll('.candidates:not(.heads-row) .number:not(.note)')].map((node) => node.textContent)")
        total = sum(math.exp(z / temperature) for z in logits["logits"]["values"])
        for text, z in zip(shown, candidates["steps"][0]["logits"]):
            expected = 100 * math.exp(z / temperature) / total
            shown_share = 0.05 if text.startswith("<") else number(text)
            expect(abs(shown_share - expected) < 0.06, f"temperature {temperature}: {text} shown for {expected}")
    press(browser, "To the end")
    wait_for_stage(browser, "Beam search: several translations at once")
    best = browser.run("document.querySelector('.ranking tbody td:nth-child(2)').textContent")
    expect(best == answer["target"]["text"], f"the best of the beam is {best!r}, the translation {answer['target']['text']!r}")
    expect(browser.run("document.querySelectorAll('.beam .node').length") == len(tree["nodes"]), "a node of the beam is missing")


def check_card(browser, server):
    show_tab(browser, "card")
    browser.wait("document.querySelector('.part-bars') !== null")
    card = server.get("/v1/model?source=en&target=de")
    shown = browser.run("document.querySelector('.card-view').textContent").replace("\u202f", "")
    expect(str(card["parameters"]["total"]) in shown, f"the number of parameters, {card['parameters']['total']}, is not shown")
    expect(len(card["training"]["train"]) > 0 and browser.run("document.querySelector('.chart .train') !== null"), "no training curve")


def check_languages(browser):
    keys = browser.run("import('/assets/strings.js').then(({ kLanguages }) => ['en', 'zh'].map((code) => Object.keys(kLanguages[code])))")
    expect(sorted(keys[0]) == sorted(keys[1]), f"texts in one language alone: {set(keys[0]) ^ set(keys[1])}")
    english, values = browser.run("import('/assets/strings.js').then(({ kLanguages }) => [kLanguages.en, kLanguages.zh])")
    for key, text in english.items():
        names = lambda string: sorted(set(re.findall(r"\{(\w+)\}", string)))
        expect(names(text) == names(values[key]), f"{key}: {names(text)} in English, {names(values[key])} in Chinese")
    browser.run("document.getElementById('language').click()")
    expect(browser.run("document.getElementById('tab-inside').textContent") == "看看里面", "the tabs are not Chinese")
    for tab in ("translate", "inside", "card", "lab"):
        show_tab(browser, tab)
        browser.wait(f"/[\\u4e00-\\u9fff]/.test(document.getElementById('view-{tab}').innerText)")
    browser.run("document.getElementById('language').click()")


# What the window shows of a tall matrix, and the derivation of a stage.
def check_study_of_long_sentences(browser):
    """The chosen row stays in the window, columns of arcs have an end, and a stage leads to its derivation."""
    browser.size(1280, 700)
    look_inside(browser, " ".join([SENTENCE] * 4))
    open_stage(browser, "encoder/1/head/1")
    box = "document.querySelector('.stage .links-box')"
    browser.wait(f"{box} !== null && {box}.clientHeight < 700 && {box}.scrollHeight > {box}.clientHeight")
    for word in (1, 12, 20):
        open_stage(browser, f"decoder/1/scores/head/1/word/{word}")
        step(browser, "One step on")
        browser.wait("""(() => {
            const row = document.querySelector('.stage .heatmap').chosenRow();
            const player = document.querySelector('.player').getBoundingClientRect();
            return row.top >= player.bottom && row.bottom <= innerHeight;
        })()""", 10)
    open_stage(browser, "encoder/1/feed")
    browser.run("document.querySelector('.stage .to-derivation').click()")
    browser.wait("document.querySelectorAll('.stage .derivation math').length > 2")
    browser.size(1280, 900)
