"""Every matrix that a stage of the study shows is computed again from what stands beside it, by the formula above it."""
import math
import re

import story
from flows import expect, look_inside, open_stage, places

# What an element with data-law shows, without its functions.
SHOWN = """[...document.querySelectorAll('.stage [data-law]')].map((node) => {
  const plain = (value) => value === null || typeof value !== 'object' ? (typeof value === 'function' ? null : value)
    : Array.isArray(value) ? value : Object.fromEntries(Object.entries(value).filter(([key, inner]) => typeof inner !== 'function' && key !== 'rows' && key !== 'columns').map(([key, inner]) => [key, plain(inner)]));
  return [node.dataset.law, plain(node.shown)];
})"""
ACTIVATIONS = {"relu": lambda x: max(x, 0.0), "tanh": math.tanh, "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), "silu": lambda x: x / (1 + math.exp(-x)),
               "gelu-tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))), "relu-squared": lambda x: max(x, 0.0) ** 2}


def rows_of(part):
    width = part["shape"][-1]
    return [part["values"][begin:begin + width] for begin in range(0, len(part["values"]), width)]


def linear(shown):
    right, bias = list(zip(*rows_of(shown["right"]))), (shown["bias"] or {}).get("values")
    return [[sum(a * b for a, b in zip(row, column)) + (bias[c] if bias else 0.0) for c, column in enumerate(right)]
            for row in rows_of(shown["left"])]


def scores(shown):
    return [[sum(a * b for a, b in zip(query, key)) for key in rows_of(shown["right"])] for query in rows_of(shown["left"])]


def softmax(shown):
    result = []
    for r, row in enumerate(rows_of(shown["scaled"])):
        window = shown.get("window") or len(row)
        seen = [math.exp(value) if not shown["causal"] or r - window < c <= r else 0.0 for c, value in enumerate(row)]
        result.append([value / sum(seen) for value in seen])
    return result


def norm(shown):
    result = []
    if shown.get("kind") == "batch":
        columns = list(zip(shown["mean"]["values"], shown["variance"]["values"], shown["gain"]["values"], shown["bias"]["values"]))
        return [[(value - mean) / math.sqrt(variance + shown["epsilon"]) * gain + bias for value, (mean, variance, gain, bias) in zip(row, columns)]
                for row in rows_of(shown["input"])]
    for row in rows_of(shown["input"]):
        mean = 0.0 if shown.get("kind") == "rms" else sum(row) / len(row)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + shown["epsilon"])
        biases = shown["bias"]["values"] if shown.get("bias") else [0.0] * len(row)
        result.append([(value - mean) / deviation * gain + bias for value, gain, bias in zip(row, shown["gain"]["values"], biases)])
    return result


def rotate(shown):
    """The columns i and i + Dh / 2 of a row are a pair, which is turned by the angle of the row."""
    result = []
    for row, turn in zip(rows_of(shown["input"]), rows_of(shown["rotation"])):
        half = len(row) // 2
        pairs = list(zip(row[:half], row[half:], turn[:half], turn[half:]))
        result.append([a * cos - b * sin for a, b, cos, sin in pairs] + [b * cos + a * sin for a, b, cos, sin in pairs])
    return result


def angles(shown):
    rows, width = shown["result"]["shape"]
    half = width // 2
    angle = lambda place, pair: place * shown["theta"] ** (-2 * pair / width)
    return [[(math.cos if column < half else math.sin)(angle(place, column % half)) for column in range(width)] for place in range(rows)]


def activation(shown):
    made = [[ACTIVATIONS[shown["activation"]](value) for value in row] for row in rows_of(shown["input"])]
    return made if not shown.get("factor") else [[a * b for a, b in zip(*pair)] for pair in zip(made, rows_of(shown["factor"]))]


def sinusoid(shown):
    rows, width = shown["result"]["shape"]
    angle = lambda position, column: position / 10000 ** (2 * (column // 2) / width)
    return [[(math.cos if column % 2 else math.sin)(angle(position, column)) for column in range(width)] for position in range(rows)]


def distance(shown):
    """Raffel et al. 2020: half of the buckets of a side are of one distance each, the others grow up to `reach`."""
    rows, columns = shown["result"]["shape"]
    numbers, half = shown["table"]["values"], shown["count"] // (2 if shown["sees_later"] else 1)

    def bucket(offset):
        far = abs(offset) if shown["sees_later"] else max(-offset, 0)
        grown = half // 2 + int(math.log(far / (half / 2)) / math.log(shown["reach"] / (half / 2)) * (half / 2) + 1e-6) if far >= half // 2 else far
        return min(half - 1, grown) + (half if shown["sees_later"] and offset > 0 else 0)

    return [[numbers[bucket(column - row)] for column in range(columns)] for row in range(rows)]


LAWS = {
    "linear": linear, "distance": distance, "scores": scores, "softmax": softmax, "norm": norm, "sinusoid": sinusoid, "rotate": rotate, "angles": angles, "activation": activation,
    "scale": lambda shown: [[value / math.sqrt(shown["width"]) for value in row] for row in rows_of(shown["scores"])],
    "sum": lambda shown: [[a + b for a, b in zip(*pair)] for pair in zip(rows_of(shown["left"]), rows_of(shown["right"]))],
    "scaled": lambda shown: [[value * shown["factor"] for value in row] for row in rows_of(shown["table"])],
}


def check_shown(browser, place):
    """How many matrices the shown stage computes from what it shows; each must agree to 1e-4."""
    found = browser.run(SHOWN)
    for law, shown in found:
        if law == "probabilities":
            total = math.log(sum(math.exp(value) for value in shown["logits"]))
            expect(abs(total - shown["log_sum_exp"]) < 1e-4, f"{place}: the logits do not give their log-sum-exp")
            continue
        made = [value for row in LAWS[law](shown) for value in row]
        seen = shown["result"]["values"]
        expect(len(made) == len(seen), f"{place}: {law} gives {len(made)} numbers, {len(seen)} are shown")
        worst = max(range(len(made)), key=lambda i: abs(made[i] - seen[i]) / max(1.0, abs(seen[i])))
        expect(abs(made[worst] - seen[worst]) <= 1e-4 * max(1.0, abs(seen[worst])),
               f"{place}: {law} gives {made[worst]} for number {worst}, shown is {seen[worst]}")
    return len(found)


def formula(browser):
    return browser.run("document.querySelector('.stage .formula-row math').textContent")


ATTENTION = ["qkv", "turn", "scores", "scale", "relative", "mask", "softmax", "context", "heads"]
SELF = {"turn", "relative"}  # of self-attention alone


class Kinds:
    """The kinds of stages of a layer, by the order of its norms and what it does with positions and scores."""

    def __init__(self, order, positions="sinusoidal", is_scaled=True):
        there = {"turn": positions == "rope", "relative": positions == "relative", "scale": is_scaled}
        attention = [kind for kind in ATTENTION if there.get(kind, True)]
        before, behind = (["norm"], ["add"]) if order == "pre" else ([], ["norm"])
        self.encoder = before + [kind for kind in attention if kind != "mask"] + behind
        self.decoder = before + attention + behind
        self.cross = before + [kind for kind in attention if kind not in SELF | {"mask"}] + behind
        self.feed = ["feedNorm", "feed", "feedAdd"] if order == "pre" else ["feed", "feedNorm"]
        self.last = ["finalNorm"] if order == "pre" else []
        self.first = ["tokens", "embed"] + (["position"] if positions in ("sinusoidal", "learned") else [])

    def places(self, layers):
        yield from (f"encoder/{kind}" for kind in self.first)
        yield from (f"encoder/{layers}/{kind}" for kind in self.encoder + self.feed)
        yield from (f"encoder/{kind}" for kind in self.last + ["memory"])
        step = lambda prefix, kinds: (f"decoder/{prefix}{kind}/word/3" for kind in kinds)
        yield from step("", ["shift"])
        yield from step(f"{layers}/", self.decoder + self.feed)
        yield from step(f"{layers}/cross/", self.cross)
        yield from step("", self.last + ["choose"])

    def count(self, layers, steps):
        encoder = len(self.first + self.last) + 1 + layers * len(self.encoder + self.feed)
        step = len(self.last) + 2 + layers * len(self.decoder + self.cross + self.feed)
        return encoder + steps * step + 1


def check_formulas(browser, order, layers=2, is_batch=False, positions="sinusoidal", is_scaled=True, has_biases=True):
    look_inside(browser)
    seen, kinds = 0, Kinds(order, positions, is_scaled)
    for place in kinds.places(layers):
        open_stage(browser, place)
        opened = re.sub(r"/head/\d+", "", browser.run("location.hash"))
        expect(opened == f"#inside/{place}".replace("/softmax", ""), f"{order}, {positions}: {place} leads to {opened}")
        expect(not browser.run("document.querySelector('.stage .error') !== null"), f"{positions}, {place}: {browser.run('document.querySelector(`.stage .error`)?.textContent')}")
        seen += check_shown(browser, f"{order}, {positions}, {place}")
        written = formula(browser)
        if (place.split("/")[0], "orm" in place) == ("encoder", True):
            expect(("BatchNorm" in written) == is_batch, f"{order}, {place}: the norm is {written!r}")
        if "/context" in place or "/scale" in place:
            expect(("QKTdk" in written) == is_scaled, f"{place}: scaled is {is_scaled}, the formula is {written!r}")
        if "/context" in place:
            expect(("+B" in written) == (positions == "relative" and "/cross/" not in place), f"{positions}, {place}: the formula is {written!r}")
        if "/qkv" in place:
            hatted = "^" in written.replace("\u02c6", "^").replace("\u0302", "^")
            expect(hatted == (order == "pre"), f"{order}, {place}: the formula is {written!r}")
            expect(("b" in written) == has_biases, f"{place}: biases are {has_biases}, the formula is {written!r}")
            for role in (1, 2):
                browser.run(f"document.querySelectorAll('.stage .heads')[1].querySelectorAll('button')[{role}].click()")
                browser.wait("!document.querySelector('.stage').hasAttribute('aria-busy') && document.querySelectorAll('.stage .heads')[1]"
                             f".querySelectorAll('button')[{role}].getAttribute('aria-pressed') === 'true'")
                seen += check_shown(browser, f"{order}, {place}, role {role}")
    expect(seen > 30, f"{order}: only {seen} matrices were computed again")
    stages = places(browser)[1]
    expect(stages in [kinds.count(layers, steps) for steps in range(3, 100)], f"{order}, {positions}: {stages} stages; with 3 steps there are {kinds.count(layers, 3)}")
    check_figure(browser, order, positions)


def check_figure(browser, order, positions):
    """Figure 1 has norms and positions where the model has them, and a way around each of the five sub-layers."""
    names = browser.run("[...document.querySelectorAll('.machine .block')].map((node) => node.getAttribute('aria-label'))")
    expect(names.count("Norm") == (5 if order == "pre" else 0), f"{order}: the figure has the blocks {names}")
    expect(names.count("Add & norm") == (0 if order == "pre" else 5), f"{order}: the figure has the blocks {names}")
    expect(names.count("Final norm") == (2 if order == "pre" else 0), f"{order}: the figure has the blocks {names}")
    expect(names.count("+ position") == (2 if positions in ("sinusoidal", "learned") else 0), f"{positions}: the figure has the blocks {names}")
    expect(browser.run("document.querySelectorAll('.machine .wire.thin').length") == 5, "a way around a sub-layer is missing")


def check_ask(browser, positions, is_scaled):
    """What the story says that the softmax takes gives the weights that it shows."""
    story.open_story(browser)
    browser.run("location.hash = '#inside/story/ask'")
    browser.wait("document.querySelector('.story h2').textContent.includes('asks')")
    rows = browser.run("[...document.querySelectorAll('.story-words table tr')].map((row) => [...row.cells].map((cell) => cell.textContent.replace('\u2212', '-')))")
    expected = "q·k" + (" / √dₖ" if is_scaled else "") + (" + b" if positions == "relative" else "")
    expect(rows[0][3] == expected, f"{positions}: the softmax takes {rows[0][3]!r}, not {expected!r}")
    taken = [math.exp(float(row[3])) for row in rows[1:]]
    worst = max(abs(value / sum(taken) - float(row[4])) for value, row in zip(taken, rows[1:]))
    expect(worst < 0.01, f"{positions}: the shares are {worst} away from the softmax of {[row[3] for row in rows[1:]]}")
    caption = browser.run("document.querySelector('.story-words').innerText")
    expect(("divided by" in caption) == (is_scaled and positions != "relative"), f"{positions}: the caption is {caption!r}")


def check_narrow_keys(browser):
    """Keys narrower than values have their own letter, and the root is of their width."""
    for place, shape, said in (("encoder/1/qkv/head/1", r"\[S, d_k\] = \[\d+, 16\]", "narrower than values"), ("encoder/1/scale/head/1", r"\[S, S\]", "16"),
                               ("encoder/1/context/head/1", r"\[S, d_v\] = \[\d+, 32\]", "")):
        open_stage(browser, place)
        text = browser.run("document.querySelector('.stage').textContent")
        expect(re.search(shape, text) and said in text, f"{place}: {shape!r} and {said!r} are not in {text!r}")


def check_product(browser):
    """A cell of a product says the sum that it is, and the keys move to the next."""
    open_stage(browser, "encoder/1/qkv/head/1")
    read = "(() => { const { shown } = document.querySelector('.stage .product'); const width = shown.result.shape[1]; return shown.result.values; })()"
    values = browser.run(read)
    browser.run("document.querySelector('.stage .product canvas[tabindex]').focus()")
    total = lambda: float(browser.run("document.querySelector('.product-total').textContent").replace("\u2212", "-"))
    before = total()
    expect(any(abs(before - value) < 0.0006 for value in values), f"{before} is no number of the result")
    browser.key("ArrowRight")
    after = total()
    expect(after != before and any(abs(after - value) < 0.0006 for value in values), f"the next cell shows {after} after {before}")
    heads = browser.run("new Set([...document.querySelectorAll('.stage .heads')[0].querySelectorAll('button')].map((node) => node.style.getPropertyValue('--head'))).size")
    expect(heads == 4, f"4 heads have {heads} colours")


def check_shapes(browser):
    """Each stage prints the ragged shape and the batched one of lecture notes."""
    for place, ragged, batched in (("encoder/1/qkv/head/1", "[S, d_k]", "(B, h, S, d_k)"), ("decoder/1/cross/head/1/word/2", "[T, S]", "(B, h, T, S)"),
                                   ("encoder/1/feed", "[S, d_ff]", "(B, S, d_ff)"), ("decoder/choose/word/2", "[V]", "(B, T, V)")):
        open_stage(browser, place)
        text = browser.run("document.querySelector('.stage .shape').textContent")
        expect(ragged in text and batched in text, f"{place}: the shapes are {text!r}")
