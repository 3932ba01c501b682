"""Look inside of recurrent models: the study is recomputed from what it shows, and the panels show alignment and states."""
import math
import os

import aligned_story
import compare_flows
import formulas
import rules
from flows import expect, look_inside, open_stage, quoted
from formulas import check_shown, formula, rows_of
from server import Server, Servers, make_recurrent_model

TEXT = "The dog was tired."
WORD = 2
CELL = ("cellInput", "cellState", "cellGates", "cellNew")
ATTENTION = ("scores", "softmax", "context")
KINDS = {  # layers, gates, whether the cell is fed, what stands before and behind the cells of a step
    "bahdanau": (2, "rzn", True, ("sourceQuery", *ATTENTION), ("readout",)),
    "feeding": (1, "ifgo", True, (), (*ATTENTION, "attentional")),
    "luong": (1, "rzn", False, (), (*ATTENTION, "readout")),
    "none": (1, "ifgo", False, (), ("readout",)),
}

READOUTS = {"bahdanau": "tanh(stW+[st(1),ct]W1+yt−1Wy+b)", "luong": "tanh(stW+ctWc+b)", "none": "tanh(stW+b)"}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def gate(shown):
    rows = [rows_of(shown["input"]), rows_of(shown["state"])]
    zeros = [[0.0] * len(rows[0][0])] * len(rows[0])
    fed = rows_of(shown["fed"]) if shown["fed"] else zeros
    reset = rows_of(shown["reset"]) if shown["reset"] else [[1.0] * len(rows[0][0])] * len(rows[0])
    function = math.tanh if shown["function"] == "tanh" else sigmoid
    return [[function(p + w + r * u) for p, u, w, r in zip(*row)] for row in zip(*rows, fed, reset)]


def by_element(compute, *names):
    return lambda shown: [[compute(*numbers) for numbers in zip(*row)] for row in zip(*(rows_of(shown[name]) for name in names))]


def movement(shown):
    length = lambda row: math.sqrt(sum(value * value for value in row))
    return [[length(now), length([a - b for a, b in zip(now, before)])] for now, before in zip(rows_of(shown["state"]), rows_of(shown["before"]))]


def additive(shown):
    weight = shown["weight"]["values"]
    return [[sum(v * math.tanh(q + k) for v, q, k in zip(weight, query, key)) for key in rows_of(shown["right"])] for query in rows_of(shown["left"])]


formulas.LAWS.update({
    "gate": gate, "movement": movement, "additive": additive,
    "gru_state": by_element(lambda z, n, before: (1 - z) * n + z * before, "z", "n", "before"),
    "lstm_memory": by_element(lambda f, before, i, g: f * before + i * g, "f", "before", "i", "g"),
    "lstm_state": by_element(lambda o, memory: o * math.tanh(memory), "o", "memory"),
    "tanh": by_element(math.tanh, "input"),
    "concat": lambda shown: [a + b for a, b in zip(rows_of(shown["left"]), rows_of(shown["right"]))],
    "ends": lambda shown: [rows_of(shown["left"])[-1] + rows_of(shown["right"])[0]],
    "sums": lambda shown: [[sum(numbers) for numbers in zip(*row)] for row in zip(*map(rows_of, shown["parts"]))],
})


def look(browser, server):
    browser.open(server.address + "/")
    look_inside(browser, TEXT)


def places(kind):
    layers, _, is_fed, before, behind = KINDS[kind]
    yield from ("encoder/tokens", "encoder/embed")
    for layer in range(1, layers + 1):
        yield from (f"encoder/{layer}/{way}/{name}" for way in ("forward", "backward") for name in CELL)
        yield f"encoder/{layer}/join"
    yield "encoder/summary"
    yield from (f"encoder/{layer}/firstState" for layer in range(1, layers + 1))
    if kind != "none":
        yield from ("encoder/sourceKeys", "encoder/memory")
    step = lambda names: [f"decoder/{'cross/' if name in (*ATTENTION, 'sourceQuery') else ''}{name}/word/{WORD}" for name in names]
    yield from step(["shift"])
    yield from step(before)
    for layer in range(1, layers + 1):
        yield from (f"decoder/{layer}/{name}/word/{WORD}" for name in (CELL if layer > 1 or not is_fed else (*CELL, "cellFed")))
    yield from step([*behind, "choose"])


def open_place(browser, name, place):
    """Opens a stage of the study, which must be shown without an error."""
    open_stage(browser, place)
    expect(not browser.run("document.querySelector('.stage .error') !== null"), f"{name}: {browser.run('document.querySelector(`.stage .error`)?.textContent')}")
    hash = browser.run("location.hash").replace("/head/1", "")
    expect(hash == f"#inside/{place}".replace("/softmax", ""), f"{name}: {hash} is shown")


def choose(browser, index):
    """Chooses one of the gates or maps of a stage."""
    button = f"document.querySelectorAll('.stage .heads button')[{index}]"
    browser.run(f"{button}.click()")
    browser.wait(f"!document.querySelector('.stage').hasAttribute('aria-busy') && {button}.getAttribute('aria-pressed') === 'true'")


def check_formulas(browser, server, kind):
    """Every matrix agrees with its formula, to 1e-4; all gates are gone through."""
    look(browser, server)
    seen = 0
    for place in places(kind):
        name = f"{kind}, {place}"
        open_place(browser, name, place)
        title = browser.run("document.querySelector('.stage h2').textContent + document.querySelector('.stage .explain').textContent")
        expect("stage." not in title and "explain." not in title and "{" not in title, f"{name}: the words are {title!r}")
        shape = browser.run("document.querySelector('.stage .shape').textContent")
        expect("undefined" not in shape and "NaN" not in shape, f"{name}: the shapes are {shape!r}")
        count = check_shown(browser, name)
        seen += count
        if place.split("/")[-1 if "encoder" in place else -3] not in ("tokens", "memory", "shift"):
            expect(count > 0, f"{name}: nothing was computed again")
        if "/cellGates" in place:
            gates = browser.run("document.querySelectorAll('.stage .heads button').length")
            expect(gates == len(KINDS[kind][1]), f"{name}: {gates} gates")
            for index in range(1, gates):
                choose(browser, index)
                seen += check_shown(browser, f"{name}, gate {index}")
        if "/readout" in place:
            expect(READOUTS[kind] in formula(browser), f"{name}: the formula is {formula(browser)!r}")
        if "/cellFed" in place:
            expect("fed" in formula(browser), f"{name}: the formula is {formula(browser)!r}")
    expect(seen > 20, f"{kind}: only {seen} matrices were computed again")


def check_panels(browser, server, kind):
    """Alignment, or the one vector in its place, and the states; the numbers are the server's."""
    look(browser, server)
    browser.wait("document.querySelectorAll('.panels [aria-busy]').length === 0")
    panels = browser.run("[...document.querySelectorAll('.panels h2')].map((node) => node.textContent)")
    first = "The bottleneck: one vector for the whole sentence" if kind == "none" else "The alignment"
    expect(panels == [first, "The state flows"], f"{kind}: the panels are {panels}")
    layers = KINDS[kind][0]
    flows = browser.run("[...document.querySelectorAll('.panels [data-law=movement]')].map((node) => node.shown.result.values)")
    expect(len(flows) == 3 * layers, f"{kind}: {len(flows)} flows for {layers} layers")
    _, answer = server.post("/v1/inspect", {"text": TEXT, "parts": [{"part": "cell", "path": "encoder.layers.0.forward"}, {"part": "first_state", "path": "decoder.layers.0"}]})
    state = rows_of(answer["parts"][0]["state"])
    for row, length in zip(state, flows[0][0::2]):
        expect(abs(math.sqrt(sum(value * value for value in row)) - length) < 1e-4, f"{kind}: a state is {length} long")
    expect(browser.run("document.querySelector('.to-story').checkVisibility()"), f"{kind}: no way leads to the story")
    blocks = browser.run("[...document.querySelectorAll('.machine .block')].map((node) => node.getAttribute('aria-label'))")
    expect("Forward cells" in blocks and "Decoder cells" in blocks and ("Cross-attention" in blocks) == (kind != "none"), f"{kind}: the figure has the blocks {blocks}")
    if kind == "none":
        text = browser.run("document.querySelector('.panels .finding').textContent")
        width = answer["parts"][1]["summary"]["shape"][1]
        expect(f"pass through {width} numbers" in text, f"the bottleneck says {text!r}")
        expect("Bottleneck" in blocks, f"the figure has the blocks {blocks}")


def check_comparison(browser, server, kind):
    last = f"encoder.layers.{KINDS[kind][0] - 1}"
    compare_flows.check_states(browser, server, f"recurrent {kind}", {way: ({"part": "cell", "path": f"{last}.{way}"}, "state") for way in ("forward", "backward")}, kind != "none")


def walk(browser, server, words):
    """The player goes from word to word, into the translation."""
    look(browser, server)
    place = lambda: browser.run("document.querySelector('.place').textContent")
    for _ in range(words):
        before = place()
        browser.run("[...document.querySelectorAll('.player button')].find((node) => node.getAttribute('aria-label') === 'One word on').click()")
        browser.wait(f"document.querySelector('.place').textContent !== {quoted(before)} && !document.querySelector('.stage').hasAttribute('aria-busy')")
    expect("piece" in place(), f"the steps go to {place()!r}")


def check_block(browser, block, hash):
    """A block of the figure opens its stage."""
    browser.run(f"[...document.querySelectorAll('.machine .block')].find((node) => node.getAttribute('aria-label') === {quoted(block)}).dispatchEvent(new Event('click'))")
    browser.wait(f"location.hash.startsWith({quoted(hash)})")


def check_steps(browser, server):
    walk(browser, server, 5)
    check_block(browser, "Backward cells", "#inside/encoder/1/backward/")


def check_places(browser, server, output, name, places):
    """Stages in both themes, each in another language, on a desk and on a phone."""
    for theme, language in (("light", "en"), ("dark", "zh")):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            look(browser, server)
            if browser.run("document.documentElement.lang").startswith("zh") != (language == "zh"):
                browser.run("document.getElementById('language').click()")
            for place in places:
                open_stage(browser, place)
                browser.wait("document.querySelectorAll('.panels [aria-busy]').length === 0")
                browser.wait_until_still()
                of_place = f"{name}-{place.replace('/', '-')}-{width}-{theme}"
                browser.picture(os.path.join(output, f"{of_place}.png"))
                rules.check_page(browser, of_place)
                rules.check_text_size(browser, of_place)
                if (theme, width, place) == ("light", 1280, places[0]):
                    rules.check_focus_order(browser, of_place)
    browser.run("document.getElementById('language').click()")
    browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    browser.size(1280, 900)


def check_looks(browser, server, output, kind):
    check_places(browser, server, output, f"recurrent-{kind}", ("encoder/1/forward/cellNew", "encoder/summary", f"decoder/1/cellGates/word/{WORD}"))


def checks(browser, program, output):
    serve = Servers(lambda kind: Server(program, make_recurrent_model(program, output, kind)))
    for kind in KINDS:
        yield f"recurrent, {kind}: formulas", lambda kind=kind: check_formulas(browser, serve(kind), kind)
        yield f"recurrent, {kind}: panels", lambda kind=kind: check_panels(browser, serve(kind), kind)
        yield f"recurrent, {kind}: two sentences", lambda kind=kind: check_comparison(browser, serve(kind), kind)
        story_kind = "none" if kind == "none" else "recurrent"
        yield f"recurrent, {kind}: story", lambda kind=kind, story_kind=story_kind: aligned_story.check_story(browser, serve(kind), f"recurrent {kind}", story_kind, KINDS[kind][0])
        yield f"recurrent, {kind}: strips of the story", lambda kind=kind, story_kind=story_kind: aligned_story.check_strips(browser, serve(kind), f"recurrent {kind}", story_kind, KINDS[kind][0])
        yield f"recurrent, {kind}: drawing of the story", lambda kind=kind, story_kind=story_kind: aligned_story.check_drawing(browser, serve(kind), f"recurrent {kind}", story_kind)
    yield "recurrent: length of the story", lambda: aligned_story.check_length(browser)
    yield "recurrent: looks of the story", lambda: aligned_story.check_looks(browser, serve("bahdanau"), output, "recurrent")
    yield "recurrent: steps", lambda: check_steps(browser, serve("bahdanau"))
    yield "recurrent: names, contrast, width", lambda: [check_looks(browser, serve(kind), output, kind) for kind in ("bahdanau", "none")]
    serve.close()
