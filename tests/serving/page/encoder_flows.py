"""Look inside of an encoder: its study is recomputed from what it shows and ends with what the server says of the text, and
its story plays."""
import math
import os

import rules
import story
from alone_flows import STORY_IS_THERE, check_story_look, in_each_look
from flows import expect, number, open_stage, quoted, show_tab
from formulas import check_shown
from read_flows import READY, choose, expect_share, type_text, wait_for_answer
from server import Server, make_encoder

TEXTS = {"classify": "the cat sleeps at night", "tag": "the cat sleeps at night", "masked-language-model": "the [MASK] sleeps at night", "embed": "the cat sleeps"}
LAST = {"classify": "labels", "tag": "tagged", "masked-language-model": "filled", "embed": "vector"}
KINDS = ("qkv", "scores", "scale", "softmax", "context", "heads", "norm", "feed", "feedNorm")


def tell(browser, server, task):
    """Looks into a text, from the view Read."""
    browser.open(server.address + "/", READY)
    show_tab(browser, "read")
    type_text(browser, TEXTS[task])
    browser.wait("!document.querySelector('#view-read [data-t=\"read.inside\"]').hidden")
    browser.run("document.querySelector('#view-read [data-t=\"read.inside\"]').click()")
    browser.wait(STORY_IS_THERE)
    expect(browser.run("document.getElementById('inside-text').value") == TEXTS[task], "the text is not taken over")


def places(task):
    yield from ("encoder/tokens", "encoder/embed", "encoder/position", "encoder/embedNorm")
    for layer in (1, 2):
        yield from (f"encoder/{layer}/{kind}" for kind in KINDS)
    if task == "classify":
        yield "encoder/pool"
    yield f"encoder/{LAST[task]}"


def check_formulas(browser, server, task):
    """Every matrix of the study agrees with its formula, to 1e-4; the figure has one stack and a head."""
    tell(browser, server, task)
    seen = 0
    for place in places(task):
        open_stage(browser, place)
        error = browser.run("document.querySelector('.stage .error')?.textContent ?? ''")
        expect(not error, f"{task}, {place}: {error}")
        shown = check_shown(browser, f"{task}, {place}")
        expect(shown > 0 or place in ("encoder/tokens", "encoder/vector"), f"{task}, {place}: nothing is computed again")
        seen += shown
        texts = browser.run("[document.querySelector('.stage h2').textContent, document.querySelector('.stage .explain').textContent, document.querySelector('.stage .shape').textContent]")
        expect(not any("{" in text or "stage." in text or "explain." in text or "undefined" in text for text in texts), f"{task}, {place}: the words are {texts}")
    expect(seen >= 30, f"{task}: only {seen} matrices were computed again")
    blocks = browser.run("[...document.querySelectorAll('.machine .block')].map((node) => node.getAttribute('aria-label'))")
    expect("Head" in blocks and ("Pooler" in blocks) == (task == "classify"), f"the figure has the blocks {blocks}")
    expect(not any(name in blocks for name in ("Memory", "Cross-attention", "Cache of keys, values")), f"the figure has the blocks {blocks}")
    check_answer(browser, server, task)
    check_steps(browser)


def shares_of(browser):
    return browser.run("[...document.querySelectorAll('.stage .bars.shares .piece')].map((node) => [node.textContent, node.nextSibling.nextSibling.textContent])")


def check_answer(browser, server, task):
    """The last stage has the server's probabilities, and the logits beside them give these."""
    open_stage(browser, f"encoder/{LAST[task]}")
    if task == "embed":
        _, answer = server.post("/v1/embeddings", {"input": TEXTS[task]})
        shown = browser.run("[...document.querySelectorAll('.stage .strip .field')].map((node) => node.textContent)")
        expect(len(shown) == 12, f"the vector begins with {shown}")
        for text, value in zip(shown, answer["data"][0]["embedding"]):
            expect(abs(number(text) - value) < 0.006, f"{text} is shown for {value}")
        return
    logits = browser.run("[...document.querySelectorAll('.stage [data-law=linear]')].map((node) => node.shown.result).at(-1).values")
    if task == "tag":
        _, answer = server.post("/v1/tag", {"input": TEXTS[task]})
        words = [word for word in answer["data"][0]["words"] if word["tag"] != "O"]
        shown = browser.run("[...document.querySelectorAll('.stage .tagged-word')].map((node) => [node.firstChild.textContent, node.lastChild.textContent])")
        expect([word for word, _ in shown] == [word["word"] for word in words], f"words {shown}, expected {words}")
        return
    route = "classify" if task == "classify" else "fill-mask"
    _, answer = server.post(f"/v1/{route}", {"input": TEXTS[task], **({} if task == "classify" else {"top": 8})})
    found = answer["data"][0]["labels"] if task == "classify" else answer["data"][0]["masks"][0]
    shown = shares_of(browser)
    expect(len(shown) == len(found), f"{shown} are shown, expected {found}")
    for (name, share), one in zip(shown, found):
        expect(name == one.get("label", one.get("piece", "")).strip(), f"{name} is shown for {one}")
        expect_share(share, one["probability"], name)
    # Differences of logits are logarithms of ratios of probabilities, whatever else is in the vocabulary.
    for z, one in zip(logits, found):
        ratio = math.log(one["probability"] / found[0]["probability"])
        expect(abs(z - logits[0] - ratio) < 2e-3, f"the logits {logits} do not give the probabilities {found}")


def check_steps(browser):
    """The steps go to the last stage, a head is opened from the panels below, and a row is chosen."""
    expect(browser.run("document.querySelectorAll('#view-inside .thumb').length") == 4, "2 layers of 2 heads at a glance")
    browser.run("document.querySelectorAll('#view-inside .thumb')[3].click()")
    browser.wait("document.querySelector('.crumbs').textContent.includes('layer 2') && document.querySelector('.crumbs').textContent.includes('Head 2')")
    expect(browser.run("document.getElementById('inside-beam')") is None, "an encoder has no beam")


def check_story(browser, server, task, smallest=11):
    """Its scenes, its words, what it ends with, and the way to the study."""
    tell(browser, server, task)
    expect(25 <= story.clock(browser)[1] <= 60, f"the story takes {story.clock(browser)[1]} s")
    story.watch_text(browser)
    names = browser.run("[...document.querySelectorAll('.story-scenes > *')].map((node) => node.className.replace('scene-', ''))")
    expect(("pool" in names) == (task in ("classify", "embed")) and names[-1] == "answer" and "memory" not in names, f"the scenes are {names}")
    stills = story_stills(browser)
    expect([name for name, _ in stills] == names, f"the scenes are {names}, the timeline has {stills}")
    for name, seconds in stills:
        seen = story.texts_at(browser, seconds)
        expect(any(text == "cat" or text == "[MASK]" for text, _ in seen), f"{name}: the pieces are not on the stage: {seen[:8]}")
        small = [text for text, size in seen if size < smallest]
        expect(not small, f"{name}: written smaller than {smallest} pixels: {small[:5]}")
        words = browser.run("[document.querySelector('.story h2').textContent, document.querySelector('.story .explain').textContent]")
        expect(not any("{" in text or "story." in text or "undefined" in text for text in words), f"{name}: the words are {words}")
        story.scrub(browser, seconds)
        browser.run("document.querySelector('.story-head button').click()")
        browser.wait("!document.querySelector('.workshop').hidden && document.querySelector('.stage h2') !== null && !document.querySelector('.stage').hasAttribute('aria-busy')")
        expect(not browser.run("document.querySelector('.stage .error') !== null"), f"{name}: {browser.run('document.querySelector(`.stage .error`)?.textContent')}")
        browser.run("document.querySelector('.to-story').click()")
        browser.wait(STORY_IS_THERE)
    check_end(browser, server, task, stills[-1][1])


def check_end(browser, server, task, seconds):
    """The last scene shows on the stage and in its table what the server says."""
    end = [text for text, _ in story.texts_at(browser, seconds)]
    if task == "embed":
        return
    table = story.table(browser)[1:]
    if task == "tag":
        _, answer = server.post("/v1/tag", {"input": TEXTS[task]})
        words = answer["data"][0]["words"]
        expect([row[0] for row in table] == [f"{word['word']}: {word['tag']}" for word in words], f"the table has {table}")
        expect(all(any(text.startswith(word["tag"] + " ") for text in end) for word in words), f"tags of {words} are not on the stage: {end}")
        return
    if task == "classify":
        _, answer = server.post("/v1/classify", {"input": TEXTS[task]})
        found = [(one["label"], one["probability"]) for one in answer["data"][0]["labels"]]
    else:
        _, answer = server.post("/v1/fill-mask", {"input": TEXTS[task], "top": 8})
        found = [(one["piece"].strip(), one["probability"]) for one in answer["data"][0]["masks"][0]]
    expect(found[0][0] in end, f"{found[0]} is not on the stage: {end}")
    for (name, share), (expected, probability) in zip(table, found[:5]):
        expect(name == expected, f"{name} stands where {expected} should")
        expect_share(share, probability, name)


def story_stills(browser):
    return browser.run("""import('/assets/story_timeline.js').then(({ makeTimeline, stillOf }) => {
      const names = [...document.querySelectorAll('.story-scenes > *')].map((node) => node.className.replace('scene-', ''));
      const reading = { pool: names.includes('pool'), answer: names.includes('answer') };
      return makeTimeline({ steps: 0, layers: names.includes('layers') ? 2 : 1, positions: names.includes('positions'), reading }).scenes.map((scene) => [scene.name, stillOf(scene)]);
    })""")


def check_without_mask(browser, server):
    """A text without a mask is looked into, and the page says that nothing is guessed."""
    tell(browser, server, "masked-language-model")
    browser.run("document.getElementById('inside-text').value = 'the cat sleeps'; document.querySelector('.ask').requestSubmit()")
    browser.wait(STORY_IS_THERE)
    expect("[MASK]" in browser.run("document.querySelector('#view-inside .note:not(.examples *)').textContent"), "the page does not ask for a mask")
    names = browser.run("[...document.querySelectorAll('.story-scenes > *')].map((node) => node.className.replace('scene-', ''))")
    expect("answer" not in names, f"the scenes are {names}")


def check_changes(browser, server):
    """Another model and the language change what is looked into; a text that is too long is an error in words."""
    browser.open(server.address + "/", READY)
    for task in ("classify", "tag"):
        show_tab(browser, "read")
        choose(browser, "model", f"encoder-{task}")
        type_text(browser, TEXTS[task])
        wait_for_answer(browser, ".bars" if task == "classify" else ".tagged")
        browser.run("document.querySelector('#view-read [data-t=\"read.inside\"]').click()")
        browser.wait(STORY_IS_THERE)
        open_stage(browser, f"encoder/{LAST[task]}")
    browser.run("document.getElementById('language').click()")
    browser.wait("document.querySelector('.stage h2').textContent === '每个词一个标签'")
    browser.run("document.getElementById('language').click()")
    browser.run("document.getElementById('inside-text').value = 'cat '.repeat(140); document.querySelector('.ask').requestSubmit()")
    browser.wait("document.querySelector('#view-inside .error').textContent !== ''")
    expect(browser.run("document.querySelectorAll('.story:not([hidden])').length") == 0, "an old story stands beside the error")
    browser.errors[:] = [error for error in browser.errors if "400 (Bad Request)" not in error]


def check_looks(browser, server, task, output):
    """Story and study in each look."""
    def check(look, theme, language):
        place = f"encoder-{task}-{look}"
        stills = story_stills(browser)
        check_story_look(browser, output, place, stills if language == "en" and theme == "light" else stills[-2:])
        for kind in ("embedNorm", LAST[task]):
            open_stage(browser, f"encoder/{kind}")
            browser.wait_until_still()
            browser.picture(os.path.join(output, f"{place}-study-{kind}.png"))
            rules.check_page(browser, f"{place}, {kind}")
            rules.check_text_size(browser, f"{place}, {kind}")

    in_each_look(browser, lambda: tell(browser, server, task), check)


def checks(browser, program, output):
    """(name, action) of every check of this file, each against a server of its own."""
    def against(action, *tasks):
        with Server(program, None, [make_encoder(program, output, task) for task in tasks]) as server:
            action(server)

    found = []
    for task in TEXTS:
        found += [(f"encoder: formulas, {task}", lambda task=task: against(lambda server: check_formulas(browser, server, task), task)),
                  (f"encoder: story, {task}", lambda task=task: against(lambda server: check_story(browser, server, task), task)),
                  (f"encoder: names, contrast, width, {task}", lambda task=task: against(lambda server: check_looks(browser, server, task, output), task))]
    return found + [("encoder: without a mask", lambda: against(lambda server: check_without_mask(browser, server), "masked-language-model")),
                    ("encoder: other models", lambda: against(lambda server: check_changes(browser, server), "classify", "tag"))]
