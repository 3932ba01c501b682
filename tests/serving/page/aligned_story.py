"""The story of recurrent and convolutional models: its scenes, its numbers, both sentences, and the way to the study and back."""
import math

import rules
import story
from flows import expect, number, quoted, tell
from formulas import rows_of

TEXT = "The dog was tired."
SCENES = {  # before the first word of the translation
    "recurrent": ["words", "forward", "backward", "layers", "summary", "memory"], "none": ["words", "forward", "backward", "layers", "summary"],
    "convolutional": ["words", "positions", "window", "layers", "memory"],
}


def scenes(browser):
    """[(name, begin, seconds)]"""
    found, begin = [], 0.0
    for name, seconds in browser.run("[...document.querySelectorAll('.story-scenes span')].map((node) => [node.className.replace('scene-', ''), Number(node.style.flexGrow)])"):
        found.append((name, begin, seconds))
        begin += seconds
    return found


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def length(values):
    return math.sqrt(sum(value * value for value in values))


def check_lines(lines, expected, name):
    """The numbers of a table agree with `expected` to the digits shown."""
    expect(len(lines) == len(expected), f"{name}: {len(lines)} lines, expected {len(expected)}")
    for line, values in zip(lines, expected):
        for text, value in zip(line[-len(values):], values):
            expect(abs(number(text) - value) < 0.00051 + 1e-4 * abs(value), f"{name}: {line} shows {text} for {value}")


def check_opening_numbers(browser, server, name, kind):
    """Beside the words stand the lengths of the states and their changes, or how far the gates are open."""
    part = {"part": "convolution", "path": "encoder.layers.0"} if kind == "convolutional" else {"part": "cell", "path": "encoder.layers.0.forward"}
    cell = server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": [part]})[1]["parts"][0]
    if kind == "convolutional":
        expected = [[sum(map(sigmoid, row)) / len(row)] for row in rows_of(cell["gate"])]
    else:
        expected = [[length(now), length([a - b for a, b in zip(now, before)])] for now, before in zip(rows_of(cell["state"]), rows_of(cell["before"]))]
    check_lines(story.table(browser)[1:], expected, f"{name}, opening")
    if kind != "convolutional":
        row = browser.run("[...document.querySelectorAll('.story table tr')].slice(1).map((line) => line.cells[0].textContent)")
        caption = browser.run("document.querySelector('.story .explain').textContent")
        at = next(r for r, word in enumerate(row) if f"At “{word}” it is" in caption)
        expect(f"is {expected[at][0]:.2f} long and moved by {expected[at][1]:.2f}" in caption, f"{name}: the caption is {caption!r}, expected {expected[at]}")


def check_step_numbers(browser, server, name, kind):
    """The candidates of the first step, and what it looks at: the mean over the layers that attend."""
    answer = server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": [{"part": "candidates", "count": 5}, {"part": "weights"}]})[1]
    candidates, attentions = answer["parts"][0]["steps"][0], answer["parts"][1]["attentions"]
    table = story.table(browser)
    for (piece, share), probability in zip(table[1:6], candidates["probabilities"]):
        shown = 0.05 if share.startswith("<") else number(share)
        expect(abs(shown - 100 * probability) < 0.06, f"{name}: {piece} has {share}, expected {probability}")
    columns = len(answer["source"]["ids"])
    expected = [[sum(entry["values"][column] for entry in attentions) / len(attentions)] for column in range(columns)] if attentions else []
    check_lines(table[7:], expected, f"{name}, first word")
    expect(len(table) == 7 + columns if attentions else len(table) == 6, f"{name}: the table has {len(table)} lines")


def check_story(browser, server, name, kind, layers, smallest=11):
    """Each scene is drawn, named, told in numbers, and leads to its step of the study."""
    browser.open(server.address + "/#inside")
    tell(browser, TEXT)
    found = scenes(browser)
    wanted = [scene for scene in SCENES[kind] if scene != "layers" or layers > 1]
    steps = len(server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": []})[1]["target"]["ids"])
    expect([scene for scene, _, _ in found] == [*wanted, "first", *["word"] * (steps - 1), "end"], f"{name}: the scenes are {[scene for scene, _, _ in found]}")
    story.watch_text(browser)
    titles = set()
    for scene, begin, seconds in [*found[:len(wanted) + 3], found[-1]]:
        for part in (0.02, 0.5, 0.9):
            seen = story.texts_at(browser, begin + part * seconds)
            words = [text for text, _ in seen]
            expect(any(text.startswith("The dog") for text in words) and "dog" in words, f"{name}, {scene}: the source is not on the stage: {words}")
            small = [text for text, size in seen if size < smallest]
            expect(not small, f"{name}, {scene}: written smaller than {smallest} pixels: {small[:5]}")
        told = browser.run("['h2', '.explain', '.shape', '.formula-row'].map((part) => document.querySelector(`.story ${part}`).textContent)")
        titles.add(told[0])
        bad = [word for word in ("story.", "{", "undefined", "NaN") if any(word in text for text in told)]
        expect(not bad and all(told), f"{name}, {scene}: {bad} in {told}")
        if scene == {"convolutional": "window"}.get(kind, "forward"):
            check_opening_numbers(browser, server, name, kind)
        if scene == "first":
            check_step_numbers(browser, server, name, kind)
        hash = browser.run("location.hash")
        browser.run("document.querySelector('.story-head button').click()")
        browser.wait("!document.querySelector('.workshop').hidden && document.querySelector('.stage h2') !== null && !document.querySelector('.stage').hasAttribute('aria-busy')")
        study = browser.run("location.hash")
        expect(not browser.run("document.querySelector('.stage .error') !== null") and (study == "#inside/encoder/embed") == (scene == "words") and study != "#inside/encoder/tokens",
               f"{name}, {scene}: the step that is studied is {study}")
        browser.run("document.querySelector('.to-story').click()")
        browser.wait("!document.querySelector('.story').hidden")
        expect(browser.run("location.hash") == hash, f"{name}, {scene}: the way back leads to {browser.run('location.hash')}")
    expect(len(titles) >= len(wanted) + 3, f"{name}: the titles are {titles}")
    expect(not browser.errors, f"{name}: {browser.errors[:3]}")


# From now on the strips and arcs that are drawn are kept: [y, the numbers of the row], and weights.
WATCH = """import('/assets/story_paint.js').then(({ Paint }) => {
  if (window.__strip) return 0;
  Object.assign(window, { __strip: Paint.prototype.strip, __arc: Paint.prototype.arc, __strips: [], __arcs: [] });
  Paint.prototype.strip = function (part, row, x, y, width, height, options = {}) {
    if (part && (options.alpha ?? 1) > 0.9 && row < part.shape[0]) window.__strips.push([y, part.values.slice(row * part.shape[1], (row + 1) * part.shape[1])]);
    return window.__strip.call(this, part, row, x, y, width, height, options);
  };
  Paint.prototype.arc = function (x1, y1, x2, y2, options) { window.__arcs.push(options.weight); return window.__arc.call(this, x1, y1, x2, y2, options); };
})"""


def same(left, right):
    return len(left) == len(right) and all(abs(a - b) < 1e-5 for a, b in zip(left, right))


def strips_of(kind, layers):
    """scene: [the part of it that has been played, a part of /v1/inspect, its matrix]"""
    last = f"encoder.layers.{layers - 1}"
    if kind == "convolutional":
        first = {"part": "convolution", "path": "encoder.layers.0"}
        own = [("window", 0.83, first, name) for name in ("value", "gate", "gated")] + [("window", 1, first, "result"), ("memory", 0.95, {"part": "output", "path": "encoder"}, "output"),
                                                                                  ("layers", 0.99, {"part": "convolution", "path": last}, "result")]
    else:
        own = [("forward", 0.98, {"part": "cell", "path": "encoder.layers.0.forward"}, "state"), ("backward", 0.79, {"part": "cell", "path": "encoder.layers.0.backward"}, "state"),
               ("summary", 0.95, {"part": "first_state", "path": "decoder.layers.0"}, "first_state"), ("layers", 0.99, {"part": "output", "path": last}, "output"), ("memory", 0.95, {"part": "output", "path": last}, "output")]
    return [("words", 0.99, {"part": "embedding", "path": "encoder.embedding"}, "words"), *own]


def check_strips(browser, server, name, kind, layers):
    """The strips on the stage are rows of the server's tensors, a row a word from above; the arcs are its weights."""
    browser.open(server.address + "/#inside")
    tell(browser, TEXT)
    browser.run(WATCH)
    begins, wanted = {scene: (begin, seconds) for scene, begin, seconds in reversed(scenes(browser))}, strips_of(kind, layers)
    answer = server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": [part for _, _, part, _ in wanted] + [{"part": "weights"}, {"part": "output", "path": "decoder"}]})[1]

    def drawn(scene, part):
        begin, seconds = begins[scene]
        browser.run("Object.assign(window, { __strips: [], __arcs: [] }); 0")
        story.scrub(browser, min(begin + part * seconds, begin + seconds - 0.051))
        return browser.run("window.__strips"), browser.run("window.__arcs")

    checked = 0
    for (scene, moment, _, matrix), part in zip(wanted, answer["parts"]):
        if scene not in begins:
            continue
        strips, before = drawn(scene, moment)[0], -1.0
        for row, values in enumerate(rows_of(part[matrix])):
            heights = [y for y, numbers in strips if same(numbers, values) and y > before]
            expect(heights, f"{name}, {scene}: row {row} of {matrix} is not drawn below the row before")
            before = min(heights)
            checked += 1
    strips, arcs = drawn("first", 0.63)
    expected = [weight for entry in answer["parts"][-2]["attentions"] for weight in entry["values"][:len(answer["source"]["ids"])] if weight >= 0.05]
    expect(same(sorted(arcs), sorted(expected)), f"{name}: the arcs are {sorted(arcs)}, expected {sorted(expected)}")
    output = rows_of(answer["parts"][-1]["output"])[0]
    expect(any(same(numbers, output) for _, numbers in drawn("first", 0.7)[0]), f"{name}: the decoder's output is not drawn")
    expect(checked > 20, f"{name}: only {checked} strips were compared")


def check_drawing(browser, server, name, kind):
    """What stands on the stage changes with the time, and a calm reader gets one picture of each scene."""
    browser.open(server.address + "/#inside")
    tell(browser, TEXT)
    for scene, begin, seconds in scenes(browser)[:7]:
        seen = set()
        for part in (0.1, 0.35, 0.6, 0.85):
            story.scrub(browser, begin + part * seconds)
            seen.add(browser.run("[...new Uint8Array(document.querySelector('.story-canvas').getContext('2d').getImageData(0, 0, 900, 300).data.buffer)].reduce((sum, value, i) => (sum * 31 + value * (i % 97)) % 1000003, 7)"))
        expect(len(seen) >= 3, f"{name}, {scene}: nothing moves")
    browser.run("document.activeElement.blur()")
    title = "document.querySelector('.story h2').textContent"
    story.scrub(browser, 0)
    before = browser.run(title)
    browser.key("ArrowRight")
    browser.wait(f"{title} !== {quoted(before)}")
    browser.prefer(prefers_reduced_motion="reduce")
    try:
        browser.open(server.address + "/#inside/story/" + ("window" if kind == "convolutional" else "forward"))
        browser.wait("document.querySelector('.story') !== null && !document.querySelector('.story').hidden && !document.querySelector('.story').hasAttribute('aria-busy')")
        expected = "Each word with its neighbours" if kind == "convolutional" else "Word by word, from the left"
        expect(browser.run(title) == expected, f"{name}: the address leads to {browser.run(title)!r}")
        still = story.at(browser)
        browser.run("new Promise((done) => setTimeout(done, 300))")  # in which nothing must move
        expect(story.at(browser) == still, f"{name}: it moves although less motion was asked for")
    finally:
        browser.prefer(prefers_reduced_motion="no-preference")


def check_looks(browser, server, output, name):
    for theme, language in (("light", "en"), ("dark", "zh")):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            browser.open(server.address + "/#inside")
            tell(browser, TEXT)
            if browser.run("document.documentElement.lang").startswith("zh") != (language == "zh"):
                browser.run("document.getElementById('language').click()")
            for scene, begin, seconds in scenes(browser)[1:7:2]:
                story.scrub(browser, begin + 0.7 * seconds)
                place = f"story-{name}-{scene}-{width}-{theme}"
                browser.picture(f"{output}/{place}.png")
                rules.check_page(browser, place)
                rules.check_text_size(browser, place)
            wide = browser.run("[document.querySelector('.story-canvas').getBoundingClientRect().width, innerWidth]")
            expect(0 < wide[0] <= wide[1], f"{name}: the stage is {wide[0]} wide in {wide[1]}")
    browser.run("document.getElementById('language').click()")
    browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    browser.size(1280, 900)


def check_length(browser):
    """60 to 90 seconds for a sentence of twelve words, with each kind of model; every scene has its words in both languages."""
    missing = browser.run("""Promise.all([import('/assets/strings.js'), import('/assets/story_aligned.js')]).then(([{ kLanguages }, { openingOf, variantOf }]) =>
      [{ architecture: 'recurrent', attention: 'none' }, { architecture: 'recurrent', attention: 'luong' }, { architecture: 'convolutional' }].flatMap((model) =>
        [...openingOf({ ...model, encoder_layers: 2 }), { name: 'first' }, { name: 'word' }, { name: 'end' }].map((scene) => `story.caption.${scene.name}${variantOf(scene, model)}`))
        .filter((key) => !(key in kLanguages.en) || !(key in kLanguages.zh)))""")
    expect(not missing, f"there are no words for {missing}")
    lengths = browser.run("""Promise.all([import('/assets/story_timeline.js'), import('/assets/story_aligned.js')]).then(([{ makeTimeline }, { openingOf }]) =>
      [{ architecture: 'recurrent', attention: 'none' }, { architecture: 'recurrent', attention: 'luong' }, { architecture: 'convolutional', kernel_width: 3 }].flatMap((model) => [1, 4].flatMap((layers) =>
        [12, 19, 30].map((steps) => makeTimeline({ steps, layers, opening: openingOf({ ...model, encoder_layers: layers }) }).seconds))))""")
    expect(all(60 <= seconds <= 90 for seconds in lengths), f"the story takes {lengths} s")
