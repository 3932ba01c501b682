"""Look inside of a language model: its study is recomputed from what it shows, and its story plays."""
import math
import os

import rules
import story
from flows import expect, open_stage, quoted
from formulas import check_shown, formula
from server import Server, make_language_model

PROMPT = "The dog was"
READY = "document.querySelector('#write-model option') !== null"
STORY_IS_THERE = ("document.querySelector('.story') !== null && !document.querySelector('.story').hidden && !document.querySelector('.story').hasAttribute('aria-busy')"
                  " && !document.getElementById('view-inside').hasAttribute('aria-busy')")


def tell(browser, server, prompt=PROMPT, count=8):
    browser.open(server.address + "/#inside", READY)
    browser.wait(STORY_IS_THERE)
    browser.run(f"document.getElementById('inside-text').value = {quoted(prompt)}; document.getElementById('inside-beam').value = '{count}';"
                "document.querySelector('.ask').requestSubmit()")
    browser.wait(STORY_IS_THERE)


def answer_of(server, parts, prompt=PROMPT, count=8):
    status, answer = server.post("/v1/inspect", {"text": prompt, "max_tokens": count, "temperature": 0, "parts": parts})
    expect(status == 200, f"inspect: {answer}")
    return answer


def places(kind, layers, word):
    yield from ("prompt/tokens", "prompt/embed")
    if kind == "gpt":
        yield "prompt/position"
    yield f"decoder/shift/word/{word}"
    for name in ("norm", "qkv", "turn", "cache", "scores", "scale", "mask", "softmax", "context", "heads", "add", "feedNorm", "feed", "feedAdd"):
        if name != "turn" or kind == "llama":
            yield f"decoder/{layers}/{name}/word/{word}"
    yield from (f"decoder/finalNorm/word/{word}", f"decoder/choose/word/{word}")


def check_formulas(browser, server, kind):
    """Every matrix of the study agrees with its formula, to 1e-4; the formulas are those of the model."""
    tell(browser, server)
    seen, word = 0, len(PROMPT) + 3
    for place in places(kind, 2, word):
        open_stage(browser, place)
        expect(not browser.run("document.querySelector('.stage .error') !== null"), f"{kind}, {place}: {browser.run('document.querySelector(`.stage .error`)?.textContent')}")
        seen += check_shown(browser, f"{kind}, {place}")
        written = formula(browser)
        if "/qkv" in place:
            expect(("+" in written) == (kind == "gpt"), f"{kind}: biases in {written!r}")
            for role in (1, 2):
                browser.run(f"document.querySelectorAll('.stage .heads')[1].querySelectorAll('button')[{role}].click()")
                browser.wait("!document.querySelector('.stage').hasAttribute('aria-busy') && document.querySelectorAll('.stage .heads')[1]"
                             f".querySelectorAll('button')[{role}].getAttribute('aria-pressed') === 'true'")
                seen += check_shown(browser, f"{kind}, {place}, role {role}")
        if "/norm/" in place or "finalNorm" in place:
            expect(("RMSNorm" in written) == (kind == "llama"), f"{kind}, {place}: the norm is {written!r}")
        if "/feed/" in place:
            expect(("\u2299" in written) == (kind == "llama"), f"{kind}: the gate in {written!r}")
    expect(seen > (20 if kind == "gpt" else 24), f"{kind}: only {seen} matrices were computed again")
    blocks = browser.run("[...document.querySelectorAll('.machine .block')].map((node) => node.getAttribute('aria-label'))")
    expect("Cache of keys, values" in blocks and "Cross-attention" not in blocks and "Memory" not in blocks, f"the figure has the blocks {blocks}")
    expect(("+ position" in blocks) == (kind == "gpt"), f"the figure has the blocks {blocks}")
    check_cache(browser, word)


def check_cache(browser, word):
    """The cache holds what was read, and grows by a row."""
    counts = []
    for at in (word, word + 1):
        open_stage(browser, f"decoder/1/cache/word/{at}")
        counts.append(browser.run("[document.querySelectorAll('.growing li:not(.later)').length, document.querySelectorAll('.growing .newest').length]"))
    expect(counts == [[word, 1], [word + 1, 1]], f"rows of the cache and new ones: {counts}")
    open_stage(browser, f"decoder/1/cache/word/{len(PROMPT)}")
    expect(browser.run("document.querySelectorAll('.growing .newest').length") == len(PROMPT), "the prompt enters at once")


def check_study(browser, server):
    """The likeliest pieces are the server's; the steps go on word by word; panels below show every head."""
    tell(browser, server)
    answer = answer_of(server, [{"part": "candidates", "count": 12}, {"part": "logits", "step": len(PROMPT) - 1}])
    candidates = answer["parts"][0]["steps"][len(PROMPT) - 1]
    open_stage(browser, f"decoder/choose/word/{len(PROMPT)}")
    total = sum(math.exp(z) for z in answer["parts"][1]["logits"]["values"])
    shown = browser.run("[...document.querySelectorAll('.candidates:not(.heads-row) .number:not(.note)')].map((node) => node.textContent)")
    for text, z in zip(shown, candidates["logits"]):
        share = 0.05 if text.startswith("<") else float(text.replace("%", ""))
        expect(abs(share - 100 * math.exp(z) / total) < 0.06, f"{text} shown for {100 * math.exp(z) / total}")
    expect(browser.run("document.querySelectorAll('.thumb').length") == 8, "2 layers of 4 heads at a glance")
    browser.run("document.querySelectorAll('.thumb')[5].click()")
    browser.wait("document.querySelector('.crumbs').textContent.includes('layer 2') && document.querySelector('.crumbs').textContent.includes('Head 2')")
    browser.run("[...document.querySelectorAll('.player button')].find((node) => node.getAttribute('aria-label') === 'To the start').click()")
    browser.wait("document.querySelector('.stage h2').textContent === 'The text becomes pieces'")
    for _ in range(6):
        before = browser.run("document.querySelector('.place').textContent")
        browser.run("[...document.querySelectorAll('.player button')].find((node) => node.getAttribute('aria-label') === 'One word on').click()")
        browser.wait(f"document.querySelector('.place').textContent !== {quoted(before)} && !document.querySelector('.stage').hasAttribute('aria-busy')")
    expect("piece" in browser.run("document.querySelector('.place').textContent"), "the steps go from piece to piece")


def check_from_write(browser, server):
    """A text that was drawn is looked into as it was drawn."""
    browser.open(server.address + "/", READY)
    browser.run(f"(() => {{ const field = document.getElementById('prompt'); field.value = {quoted(PROMPT)}; field.dispatchEvent(new Event('input'));"
                " const seed = document.getElementById('write-seed'); seed.value = 9; seed.dispatchEvent(new Event('input')); })()")
    browser.run("[...document.querySelectorAll('#view-write button')].find((node) => node.dataset.t === 'write.go').click()")
    browser.wait("document.querySelectorAll('#written .piece').length > 8 && document.getElementById('written').getAttribute('aria-busy') === 'false'")
    text = browser.run("[...document.querySelectorAll('#written .piece')].map((node) => node.textContent).join('')")
    browser.run("[...document.querySelectorAll('#view-write button')].find((node) => node.dataset.t === 'write.inside').click()")
    browser.wait(STORY_IS_THERE)
    expect(browser.run("document.getElementById('inside-text').value") == PROMPT, "the prompt is taken over")
    expect("seed 9" in browser.run("document.getElementById('view-inside').textContent"), "the seed is told")
    browser.run("location.hash = '#inside/story/end'")
    browser.wait("document.querySelector('.story h2').textContent === 'What was written'")
    caption = browser.run("document.querySelector('.story .explain').textContent")
    expect(" ".join(text[:12].split()) in " ".join(caption.split()), f"{text!r} was drawn, the story ends with {caption!r}")


def check_story(browser, server, smallest=11):
    """Its length, its pieces on the stage, its numbers, the way to the study, still pictures."""
    tell(browser, server)
    expect(45 <= story.clock(browser)[1] <= 90, f"the story takes {story.clock(browser)[1]} s")
    story.watch_text(browser)
    answer = answer_of(server, [{"part": "candidates", "count": 5}])
    stills = story_stills(browser)
    for name, seconds in stills:
        seen = story.texts_at(browser, seconds)
        expect(any(text.startswith(PROMPT) or text.endswith(PROMPT[-4:]) for text, _ in seen), f"{name}: the prompt is not on the stage: {seen[:8]}")
        small = [text for text, size in seen if size < smallest]
        expect(not small, f"{name}: written smaller than {smallest} pixels: {small[:5]}")
    end = [text for text, _ in story.texts_at(browser, stills[-1][1])]
    written = answer["target"]["text"].strip()
    expect(any(written[-6:] in text.strip() for text in end), f"at the end {written!r} is not on the stage: {end[:6]}")
    story.scrub(browser, dict(reversed(stills))["first"])
    candidates = answer["parts"][0]["steps"][len(PROMPT) - 1]
    for (piece, share), probability in zip(story.table(browser)[1:6], candidates["probabilities"]):
        value = 0.05 if share.startswith("<") else float(share.replace("%", ""))
        expect(abs(value - 100 * probability) < 0.06, f"{piece} has {share}, expected {probability}")
    check_study_from_scenes(browser, stills)


def story_stills(browser):
    """(name, seconds) of every scene's still picture, from the track of the player."""
    return browser.run("""import('/assets/story_timeline.js').then(({ makeTimeline, stillOf }) => {
      const names = [...document.querySelectorAll('.story-scenes > *')].map((node) => node.className.replace('scene-', ''));
      const steps = names.filter((name) => name === 'first' || name === 'word').length;
      return makeTimeline({ steps, layers: names.includes('layers') ? 2 : 1, positions: names.includes('positions') }).scenes.map((scene) => [scene.name, stillOf(scene)]);
    })""")


def check_study_from_scenes(browser, stills):
    for name, seconds in stills[:11] + stills[-1:]:
        browser.run("location.hash = '#inside/story/words'")
        browser.wait(STORY_IS_THERE)
        story.scrub(browser, seconds)
        browser.run("document.querySelector('.story-head button').click()")
        browser.wait("!document.querySelector('.workshop').hidden && document.querySelector('.stage h2') !== null && !document.querySelector('.stage').hasAttribute('aria-busy')")
        expect(not browser.run("document.querySelector('.stage .error') !== null"), f"{name}: {browser.run('document.querySelector(`.stage .error`)?.textContent')}")
    browser.run("document.querySelector('.to-story').click()")
    browser.wait(STORY_IS_THERE)


def check_frames(browser, server):
    """Script and layout of a frame take at most 8 ms of processor time at the 95th percentile."""
    tell(browser, server, count=24)
    times = []
    for begin in (8, 16, 27, 36, 45):
        story.scrub(browser, begin)
        events = browser.trace(lambda: (story.press(browser, "Play the story"), browser.run("new Promise((done) => setTimeout(done, 2500))"), story.press(browser, "Pause")))
        times += story.frame_times(events)
    times.sort()
    percentile = times[math.ceil(0.95 * len(times)) - 1]
    print(f"        {len(times)} frames: median {times[len(times) // 2]:.2f} ms, 95th percentile {percentile:.2f} ms, longest {times[-1]:.2f} ms", flush=True)
    expect(len(times) > 60, f"only {len(times)} frames were drawn")
    expect(percentile <= story.MOST_MS, f"the 95th percentile of script and layout is {percentile:.2f} ms")


def check_calm(browser, server):
    browser.prefer(prefers_reduced_motion="reduce")
    try:
        tell(browser, server)
        title = "document.querySelector('.story h2').textContent"
        seen = [browser.run(title)]
        for _ in range(4):
            story.press(browser, "Next picture")
            seen.append(browser.run(title))
        expect(len(set(seen)) == 5, f"the pictures are {seen}")
    finally:
        browser.prefer(prefers_reduced_motion="no-preference")


def in_each_look(browser, open_page, check):
    """Calls check(look, theme, language) in both themes and languages, on a desk and on a phone; `look` names the three."""
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for language, width, height in (("en", 1280, 900), ("en", 390, 844), ("zh", 1280, 900), ("zh", 390, 844)):
            browser.size(width, height)
            open_page()
            if language == "zh":
                browser.run("document.getElementById('language').click()")
            check(f"{width}-{theme}-{language}", theme, language)
            if language == "zh":
                browser.run("document.getElementById('language').click()")
    browser.size(1280, 900)
    browser.prefer(prefers_color_scheme="light")


def check_story_look(browser, output, place, stills):
    """Pictures of a story and the rules that it keeps."""
    for name, seconds in stills:
        story.scrub(browser, seconds)
        browser.picture(os.path.join(output, f"{place}-{name}.png"))
    rules.check_page(browser, f"{place}, story")
    rules.check_text_size(browser, f"{place}, story")


def check_looks(browser, server, output):
    """Story and study in each look."""
    def check(look, theme, language):
        place = f"alone-{look}"
        stills = story_stills(browser)
        check_story_look(browser, output, place, stills[:11] + stills[-2:] if language == "en" else stills[9:11])
        open_stage(browser, f"decoder/1/cache/word/{len(PROMPT) + 2}")
        browser.wait_until_still()
        browser.picture(os.path.join(output, f"{place}-study.png"))
        rules.check_page(browser, f"{place}, study")
        rules.check_text_size(browser, f"{place}, study")

    in_each_look(browser, lambda: tell(browser, server), check)


def checks(browser, program, output):
    """(name, action) of every check of this file, each against a server of its own."""
    def against(action, kind="gpt"):
        with Server(program, None, [make_language_model(program, output, kind)]) as server:
            action(server)

    return [("language model: formulas of GPT", lambda: against(lambda server: check_formulas(browser, server, "gpt"))),
            ("language model: formulas of Llama", lambda: against(lambda server: check_formulas(browser, server, "llama"), "llama")),
            ("language model: study", lambda: against(lambda server: check_study(browser, server))),
            ("language model: from Write", lambda: against(lambda server: check_from_write(browser, server))),
            ("language model: story", lambda: against(lambda server: check_story(browser, server))),
            ("language model: story of Llama", lambda: against(lambda server: check_story(browser, server), "llama")),
            ("language model: frames", lambda: against(lambda server: check_frames(browser, server))),
            ("language model: calm", lambda: against(lambda server: check_calm(browser, server))),
            ("language model: names, contrast, width", lambda: against(lambda server: check_looks(browser, server, output)))]
