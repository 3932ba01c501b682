"""Look inside of convolutional models: the study is recomputed from what it shows, its numbers are the server's, and the words that
a state is said to have seen are those that change it."""
import re

import aligned_story
import compare_flows
import formulas
from flows import expect, open_stage, quoted
from formulas import check_shown, rows_of
from recurrent_flows import TEXT, WORD, by_element, check_block, check_places, choose, look, open_place, sigmoid, walk
from server import Server, Servers, make_convolutional_model

KINDS = {"odd": (3, 2, 2), "even": (4, 1, 2)}  # width of the kernels, layers of the encoder, of the decoder
CONVOLUTION = ("window", "convolve", "glu")
ATTENTION = ("scores", "softmax", "context")
HALF = 0.5 ** 0.5


def windows(shown):
    rows = rows_of(shown["input"])
    none = [0.0] * len(rows[0])
    at = lambda place: rows[place] if 0 <= place < len(rows) else none
    return [[value for place in range(row - shown["before"], row + shown["after"] + 1) for value in at(place)] for row in range(len(rows))]


def kernel_of(width, side):
    """The rows that a kernel sees before and behind a row."""
    before = width - 1 if side == "decoder" else (width - 1) // 2
    return before, width - 1 - before


def reach(shown):
    """From the highest layer down: what a state has seen is what the states below it, in its window, have seen."""
    lines, count = shown["result"]["shape"]
    before, after = kernel_of(shown["kernel"], shown["side"])
    seen, found = {shown["row"]}, []
    for _ in range(lines):
        found.append([1.0 if place in seen else 0.0 for place in range(count)])
        seen = {place for row in seen for place in range(row - before, row + after + 1) if 0 <= place < count}
    return found


formulas.LAWS.update({
    "windows": windows, "reach": reach,
    "gate_of": by_element(sigmoid, "input"),
    "glu": by_element(lambda value, gate: value * sigmoid(gate), "value", "gate"),
    "scaled_sum": lambda shown: [[shown["factor"] * (a + b) for a, b in zip(*pair)] for pair in zip(rows_of(shown["left"]), rows_of(shown["right"]))],
})
# How many matrices each stage must show that can be computed again.
LEAST = {"tokens": 0, "memory": 0, "shift": 1, "glu": 2, "convQuery": 2, "convFound": 2, "scores": 2}


def places(kind):
    _, encoder_layers, decoder_layers = KINDS[kind]
    yield from (f"encoder/{name}" for name in ("tokens", "embed", "position", "convIn"))
    for layer in range(1, encoder_layers + 1):
        yield from (f"encoder/{layer}/{name}" for name in (*CONVOLUTION, "convAdd", "reach"))
    yield from (f"encoder/{name}" for name in ("convKeys", "convValues", "memory"))
    yield from (f"decoder/{name}/word/{WORD}" for name in ("shift", "convIn"))
    for layer in range(1, decoder_layers + 1):
        yield from (f"decoder/{layer}/{'cross/' if name in ATTENTION else ''}{name}/word/{WORD}" for name in (*CONVOLUTION, "convQuery", *ATTENTION, "convFound", "convAdd", "reach"))
    yield from (f"decoder/{name}/word/{WORD}" for name in ("convOut", "choose"))


def check_equation(browser, name, place):
    """The formula with the numbers of one cell put in is right to the digits shown, and its result is that of the matrix."""
    line = browser.run("document.querySelector('.stage .numbers-in')?.textContent ?? ''").replace("\u2212", "-")
    summed, gated = re.fullmatch(r".*: (?:√(\d+) · )?√½ · \((\S+) \+ (\S+)\) = (\S+)", line), re.fullmatch(r".*: (\S+) · σ\((\S+)\) = (\S+) · (\S+) = (\S+)", line)
    has_line = any(part in place for part in ("/convAdd", "/convQuery", "/convFound", "/convValues", "/glu"))
    expect(bool(summed or gated) == has_line, f"{name}: the numbers put in are {line!r}")
    if summed:
        root, left, right, total = (float(text) if text else 1.0 for text in summed.groups())
        expect(abs(root ** 0.5 * HALF * (left + right) - total) < 0.001 * (1 + root), f"{name}: {line!r} is wrong")
    if gated:
        value, gate, again, opened, total = map(float, gated.groups())
        expect(value == again and abs(sigmoid(gate) - opened) < 0.001 and abs(value * sigmoid(gate) - total) < 0.001 * (1 + abs(value)), f"{name}: {line!r} is wrong")
    if has_line:
        law = "glu" if gated else "scaled_sum"
        row = browser.run(f"document.querySelector('.stage [data-law={law}]').shown.result")
        first = row["values"][(WORD - 1) * row["shape"][1]]
        expect(abs(total - first) < 0.0006, f"{name}: {line!r}, but the matrix has {first}")


def check_formulas(browser, server, kind):
    """Every matrix agrees with its formula, to 1e-4; value and gate of a convolution are both gone through."""
    look(browser, server)
    seen = 0
    for place in places(kind):
        name = f"convolutional {kind}, {place}"
        open_place(browser, name, place)
        words = browser.run("['h2', '.explain', '.shape', '.stage-body'].map((part) => document.querySelector(`.stage ${part}`).textContent).join(' ')")
        bad = [word for word in ("stage.", "explain.", "reach.", "window.", "convolve.", "{", "undefined", "NaN") if word in words]
        expect(not bad, f"{name}: {bad} in {words[:400]!r}")
        count = check_shown(browser, name)
        check_equation(browser, name, place)
        kind_of_stage = next(part for part in place.split("/")[1:] if part.isalpha() and part != "cross")
        expect(count >= LEAST.get(kind_of_stage, 1), f"{name}: {count} matrices were computed again")
        seen += count
        if kind_of_stage == "convolve":
            choose(browser, 1)
            seen += check_shown(browser, f"{name}, gate")
            choose(browser, 0)
    expect(seen > 30, f"{kind}: only {seen} matrices were computed again")


def shown_result(browser, law):
    return browser.run(f"document.querySelector('.stage [data-law={law}]').shown.result.values")


def check_numbers(browser, server, kind):
    """What the stages show is what the server answers; the rows of the decoder end with the word that is read."""
    look(browser, server)
    _, encoder_layers, decoder_layers = KINDS[kind]
    layers = [f"encoder/{layer + 1}" for layer in range(encoder_layers)] + [f"decoder/{layer + 1}" for layer in range(decoder_layers)]
    paths = [place.split("/")[0] + f".layers.{int(place.split('/')[1]) - 1}" for place in layers]
    _, answer = server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": [{"part": "convolution", "path": path} for path in paths] + [{"part": "attention", "path": "decoder.layers.0.attention"}]})
    for place, part in zip(layers, answer["parts"]):
        suffix = f"/word/{WORD}" if place.startswith("decoder") else ""
        for stage, law, name in (("window", "windows", "input"), ("convolve", "linear", "value"), ("glu", "glu", "gated"), ("convAdd", "scaled_sum", "result")):
            open_stage(browser, f"{place}/{stage}{suffix}")
            shown, expected = shown_result(browser, law), part[name]["values"]
            if stage == "window":
                before, after = kernel_of(KINDS[kind][0], place.split("/")[0])
                width = part[name]["shape"][1]
                shown = [value for row in range(len(shown) // ((before + 1 + after) * width)) for value in shown[(row * (before + 1 + after) + before) * width:][:width]]
            count = WORD * part[name]["shape"][1] if suffix else len(expected)
            expect(len(shown) == count and all(abs(a - b) < 1e-5 for a, b in zip(shown, expected)), f"{kind}, {place}/{stage}: the numbers are not the server's {name}")
    open_stage(browser, "encoder/convValues")
    expect(shown_result(browser, "scaled_sum") == answer["parts"][-1]["value"]["values"], f"{kind}: the values of the source are not the server's")
    alignments = browser.run("[...document.querySelectorAll('.panels .panel')][0].querySelectorAll('canvas[tabindex]').length")
    expect(alignments == decoder_layers, f"{kind}: {alignments} alignments for {decoder_layers} layers")
    open_stage(browser, f"decoder/2/cross/word/{WORD}")
    weights = next(entry for entry in server.post("/v1/inspect", {"text": TEXT, "beam_size": 4, "parts": [{"part": "weights"}]})[1]["parts"][0]["attentions"] if entry["path"] == "decoder.layers.1.attention")
    expect(shown_result(browser, "softmax") == weights["values"], f"{kind}: the alignment of layer 2 is not the server's")


def one_piece_apart(server):
    """(place, pieces, other text): a text that differs from TEXT in this piece alone."""
    pieces = lambda text: server.post("/v1/inspect", {"text": text, "parts": []})[1]["source"]["pieces"]
    ours = pieces(TEXT)
    for other in ("The cat was tired.", "The horse was tired.", "The dog is tired.", "The dog was hungry.", "The dog was old.", "The dog was tired?"):
        theirs = pieces(other)
        places = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        if len(theirs) == len(ours) and len(places) == 1:
            yield places[0], ours, other


def check_reach(browser, server, kind):
    """A state of the encoder has seen a word if, and only if, another word in its place changes the state."""
    look(browser, server)
    _, layers, _ = KINDS[kind]
    parts = [{"part": "convolution", "path": f"encoder.layers.{layer}"} for layer in range(layers)]
    results = lambda text: [rows_of(part["result"]) for part in server.post("/v1/inspect", {"text": text, "parts": parts})[1]["parts"]]
    own, others = results(TEXT), [(place, pieces, results(text)) for place, pieces, text in one_piece_apart(server)]
    expect(len({place for place, _, _ in others}) >= 2, f"only {len(others)} texts differ in one piece")
    seen, count = set(), len(others[0][1])
    for layer in range(layers):
        for row in range(count):
            open_stage(browser, "encoder/tokens")
            browser.run(f"document.querySelectorAll('.stage .pieces button')[{row}].click()")
            browser.wait(f"!document.querySelector('.stage').hasAttribute('aria-busy') && document.querySelectorAll('.stage .pieces button')[{row}].getAttribute('aria-pressed') === 'true'")
            open_stage(browser, f"encoder/{layer + 1}/reach")
            words = shown_result(browser, "reach")[-count:]
            for place, pieces, other in others:
                moves = max(abs(a - b) for a, b in zip(own[layer][row], other[layer][row])) > 1e-6
                seen.add(moves)
                expect(moves == (words[place] == 1), f"{kind}, layer {layer + 1}: {pieces[row]!r} {'depends' if moves else 'does not depend'} on {pieces[place]!r}, drawn is {words[place]}")
    expect(seen == {True, False}, f"{kind}: the windows are not tried")


def check_panels(browser, server, kind):
    """The words that the last states have seen; a word is chosen by pointer and keys."""
    look(browser, server)
    width, encoder_layers, decoder_layers = KINDS[kind]
    panels = browser.run("[...document.querySelectorAll('.panels h2')].map((node) => node.textContent)")
    expect(panels == ["The alignment", "What a state can see"], f"{kind}: the panels are {panels}")
    maps = lambda: browser.run("[...document.querySelectorAll('.panels [data-law=reach]')].map(({ shown }) => shown)")
    expect([shown["result"]["shape"][0] for shown in maps()] == [encoder_layers + 1, decoder_layers + 1], f"{kind}: a line for each layer, and the words")
    browser.run("document.querySelector('.panels .reach .word-picker button').click()")
    expect(maps()[0]["row"] == 0, f"{kind}: the first word is not followed")
    browser.run("document.querySelector('.panels .reach canvas[tabindex]').focus()")
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        browser.key(key)
    for shown, row in zip(maps(), (2, None)):
        expect(row is None or shown["row"] == row, f"{kind}: the keys lead to word {shown['row']}")
        expect(shown["kernel"] == width, f"{kind}: the kernels are {shown['kernel']} wide")
        expect(rows_of(shown["result"]) == reach(shown), f"{kind}, {shown['side']}: what {shown['row']} has seen is {rows_of(shown['result'])}")
    expect(browser.run("document.activeElement?.closest('.reach') !== null"), f"{kind}: the focus is lost")
    expect(browser.run("document.querySelector('.to-story').checkVisibility()"), f"{kind}: no way leads to the story")
    blocks = browser.run("[...document.querySelectorAll('.machine .block')].map((node) => node.getAttribute('aria-label'))")
    expect(blocks.count("Convolution, gate") == 2 and blocks.count("Cross-attention") == 1 and blocks.count("Add, × √½") == 2, f"{kind}: the figure has the blocks {blocks}")
    expect(browser.run("document.querySelectorAll('.machine .wire.thin').length") == 2, f"{kind}: a way around a layer is missing")


def check_steps(browser, server):
    walk(browser, server, 4)
    for block, hash in (("Convolution, gate", "#inside/encoder/1/window"), ("Keys and values", "#inside/encoder/convKeys"), ("Cross-attention", "#inside/decoder/1/cross/")):
        check_block(browser, block, hash)


def check_looks(browser, server, output):
    check_places(browser, server, output, "convolutional", ("encoder/1/window", "encoder/2/reach", f"decoder/1/glu/word/{WORD}", f"decoder/1/convQuery/word/{WORD}",
                                                            f"decoder/2/cross/word/{WORD}", f"decoder/2/reach/word/{WORD}"))


def checks(browser, program, output):
    serve = Servers(lambda kind: Server(program, make_convolutional_model(program, output, kind)))
    for kind in KINDS:
        yield f"convolutional, {kind}: formulas", lambda kind=kind: check_formulas(browser, serve(kind), kind)
        yield f"convolutional, {kind}: numbers", lambda kind=kind: check_numbers(browser, serve(kind), kind)
        yield f"convolutional, {kind}: reach", lambda kind=kind: check_reach(browser, serve(kind), kind)
        yield f"convolutional, {kind}: panels", lambda kind=kind: check_panels(browser, serve(kind), kind)
        yield f"convolutional, {kind}: two sentences", lambda kind=kind: compare_flows.check_states(
            browser, serve(kind), f"convolutional {kind}", {"states": ({"part": "convolution", "path": f"encoder.layers.{KINDS[kind][1] - 1}"}, "result")}, True)
        yield f"convolutional, {kind}: story", lambda kind=kind: aligned_story.check_story(browser, serve(kind), f"convolutional {kind}", "convolutional", KINDS[kind][1])
        yield f"convolutional, {kind}: strips of the story", lambda kind=kind: aligned_story.check_strips(browser, serve(kind), f"convolutional {kind}", "convolutional", KINDS[kind][1])
        yield f"convolutional, {kind}: drawing of the story", lambda kind=kind: aligned_story.check_drawing(browser, serve(kind), f"convolutional {kind}", "convolutional")
    yield "convolutional: looks of the story", lambda: aligned_story.check_looks(browser, serve("odd"), output, "convolutional")
    yield "convolutional: steps", lambda: check_steps(browser, serve("odd"))
    yield "convolutional: names, contrast, width", lambda: check_looks(browser, serve("odd"), output)
    serve.close()
