"""Two sentences compared in "Look inside": the numbers are the server's, and the finding is that of the difference."""
import math

from flows import expect, number, quoted
import rules

SENTENCES = ("The animal didn't cross the street because it was too tired.", "The animal didn't cross the street because it was too wide.")


def open_comparison(browser):
    browser.run("location.hash = 'compare'")
    browser.wait("document.querySelector('.compare-finding') !== null && !document.querySelector('.compare').hasAttribute('aria-busy')")
    browser.wait_until_still()


def pieces_of(pieces, word):
    """The places of a word's pieces."""
    places, text = [], ""
    for place, piece in enumerate(pieces):
        if piece.startswith("\u2581"):
            places, text = [], ""
        places.append(place)
        text += piece.removeprefix("\u2581")
        if text == word:
            return places
    raise AssertionError(f"{word!r} is not in {pieces}")


def weight(answer, kind, layer, head, row, word):
    """Of a word of the source, in one row of one head."""
    path = f"encoder.layers.{layer}.self_attention" if kind == "encoder" else f"decoder.layers.{layer}.cross_attention"
    entry = next(entry for entry in answer["parts"][0]["attentions"] if entry["path"] == path)
    _, rows, columns = entry["shape"]
    row_places = pieces_of(answer["source"]["pieces"], row) if kind == "encoder" else [row]
    values = [entry["values"][(head * rows + r) * columns + c] for r in row_places for c in pieces_of(answer["source"]["pieces"], word)]
    return sum(values) / len(row_places)


def check_comparison(browser, server):
    open_comparison(browser)
    expect(browser.run("document.getElementById('compare-0').value") == SENTENCES[0] and browser.run("document.getElementById('compare-1').value") == SENTENCES[1],
           "the two sentences of the example are there")
    answers = [server.post("/v1/inspect", {"text": text, "source": "en", "target": "de", "parts": [{"part": "weights"}]})[1] for text in SENTENCES]
    found = browser.run("""Promise.all([import('/assets/compare.js'), import('/assets/sentence.js')]).then(async ([compare, sentence]) => {
      const both = await Promise.all(%s.map((text) => sentence.Sentence.load({ source: 'en', target: 'de', text })));
      const pair = new compare.Pair(...both);
      return pair.movements().slice(0, 40).map((one) => ({ ...one, words: [one.gain, one.loss].map((slot) => pair.texts('source')[pair.slots.source[slot].left[0]]),
        rowWord: one.kind === 'encoder' ? pair.texts('source')[pair.slots.source[one.row].left[0]] : null, step: pair.step, left: [one.weights[0][one.gain], one.weights[0][one.loss]], right: [one.weights[1][one.gain], one.weights[1][one.loss]] }));
    })""" % quoted(list(SENTENCES)))
    expect(found, "no head moves at all")
    checked = 0
    for one in found:
        if one["kind"] == "encoder" and not one["rowWord"].isalpha():
            continue
        row = one["rowWord"] if one["kind"] == "encoder" else one["step"]
        for side, seen in ((0, one["left"]), (1, one["right"])):
            expected = [weight(answers[side], one["kind"], one["layer"], one["head"], row, word) for word in one["words"]]
            expect(all(abs(a - b) < 1e-5 for a, b in zip(seen, expected)), f"{one}: expected {expected}")
        expect(abs(one["strength"] - min(one["left"][0] - one["right"][0], one["right"][1] - one["left"][1])) < 1e-5, f"strength of {one}")
        checked += 1
    expect(checked > 5, f"only {checked} movements were compared")

    # What is shown is the strongest of them.
    shown = browser.run("[...document.querySelectorAll('.compare-ranking tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    first = [number(text) for text in shown[0][2].split(": ")[-1].split(" | ")]
    expect(abs(first[0] - found[0]["left"][0]) < 0.006 and abs(first[1] - found[0]["right"][0]) < 0.006, f"the first row is {shown[0]}, expected {found[0]}")
    # A head is chosen in the ranking, its maps are shown, and the way back leads to one sentence.
    browser.run("document.querySelectorAll('.compare-ranking button')[1].click()")
    browser.wait(f"document.querySelector('.compare-body h3').textContent === {quoted(shown[1][0])}")
    expect(browser.run("document.querySelectorAll('.compare-maps canvas').length") >= 3, "three maps")
    expect(not browser.run("document.querySelector('#view-inside > .ask').getClientRects().length"), "one sentence is hidden meanwhile")
    browser.run("document.querySelector('.compare-bar button').click()")
    browser.wait("location.hash === '#inside' && document.querySelector('#view-inside > .ask').getClientRects().length > 0")


def distance(left, right):
    """Of two vectors, as a share of their mean length."""
    length = lambda values: math.sqrt(sum(value * value for value in values))
    both = length(left) + length(right)
    return 2 * length([a - b for a, b in zip(left, right)]) / both if both else 0.0


def check_states(browser, server, name, parts, attends):
    """Models without self-attention: how far the states of each word lie apart, recomputed from the server's. @param parts  {name of the states: [part, its matrix]}"""
    browser.open(server.address + "/#inside")
    browser.wait("document.querySelector('.stage h2, .story h2') !== null && !document.getElementById('view-inside').hasAttribute('aria-busy')")
    expect(browser.run("document.querySelector('.compare-bar').checkVisibility()"), f"{name}: the comparison is not offered")
    open_comparison(browser)
    shown = browser.run("document.querySelector('.compare-states [data-law=apart]').shown")
    answers = [server.post("/v1/inspect", {"text": text, "parts": [{"part": "weights"}] + [part for part, _ in parts.values()]})[1] for text in SENTENCES]
    words = browser.run("import('/assets/compare_math.js').then(({ wordsOfPieces }) => %s.map(wordsOfPieces))" % quoted([answer["source"]["pieces"] for answer in answers]))
    texts = [[word["text"] for word in side] for side in words]
    expect(shown["names"] == list(parts) and len(texts[0]) == len(texts[1]), f"{name}: the states are {shown['names']}")
    common = [place for place, pair in enumerate(zip(*texts)) if pair[0] == pair[1]]
    changed = next(place for place, pair in enumerate(zip(*texts)) if pair[0] != pair[1])
    expect(shown["words"] == [texts[0][place] for place in common], f"{name}: the words are {shown['words']}")
    for column, (kind, (wanted, matrix)) in enumerate(parts.items()):
        is_first = ".layers.0." in wanted["path"]  # layers above read both directions
        states = [[answer["parts"][1 + column][matrix]["values"][at:at + answer["parts"][1 + column][matrix]["shape"][1]] for at in range(0, len(answer["parts"][1 + column][matrix]["values"]), answer["parts"][1 + column][matrix]["shape"][1])] for answer in answers]
        for place, shares in zip(common, shown["shares"]):
            pieces = [side[place]["pieces"] for side in words]
            expected = sum(distance(states[0][a], states[1][b]) for a, b in zip(*pieces)) / len(pieces[0])
            expect(abs(shares[column] - expected) < 1e-4, f"{name}, {kind}: the states of {texts[0][place]!r} lie {shares[column]} apart, expected {expected}")
            unread = {"forward": is_first and place < changed, "backward": is_first and place > changed, "states": place < 3}[kind]
            expect(not unread or shares[column] == 0, f"{name}, {kind}: {texts[0][place]!r} cannot know what differs")
        expect(any(shares[column] > 0 for shares in shown["shares"]), f"{name}, {kind}: nothing lies apart")
    best = max((max(shares), word) for word, shares in zip(shown["words"], shown["shares"]) if not word.startswith("<"))
    finding = browser.run("document.querySelector('.compare-finding').textContent")
    expect(f"“{best[1]}” lies farthest apart: {100 * best[0]:.1f}" in finding, f"{name}: the finding is {finding!r}, expected {best}")
    maps = browser.run("document.querySelectorAll('.compare-maps canvas[tabindex]').length")
    expect(maps == (3 if attends else 0), f"{name}: {maps} maps of attention")
    if attends:
        seen = browser.run("[...document.querySelectorAll('.small-multiples .thumb')].length")
        expect(seen == len(answers[0]["parts"][0]["attentions"]), f"{name}: {seen} attentions")
    rules.check_page(browser, f"{name}, compared")
    browser.run("document.querySelector('.compare-bar button').click()")
    browser.wait("location.hash.startsWith('#inside') && document.querySelector('#view-inside > .ask').getClientRects().length > 0")


def check_not_offered(browser, server):
    """Of a decoder that the page does not draw, neither a story nor a comparison is offered, and the reason is said."""
    browser.open(server.address + "/#inside")
    browser.wait("document.querySelector('#view-inside > .error')?.textContent.includes('SSRU') && !document.getElementById('view-inside').hasAttribute('aria-busy')")
    for selector in (".story", ".workshop", ".to-story", ".compare-bar", ".panels"):
        expect(not browser.run(f"document.querySelector('{selector}').checkVisibility()"), f"{selector} can be seen")


def check_looks(browser, server, output):
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            browser.open(server.address + "/")
            open_comparison(browser)
            place = f"compare-{width}-{theme}"
            browser.picture(f"{output}/{place}.png")
            rules.check_page(browser, place)
            if theme == "light" and width == 1280:
                rules.check_focus_order(browser, place)
    browser.size(1280, 900)
