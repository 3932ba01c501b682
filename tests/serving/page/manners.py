"""How the page treats people: what they typed survives everything, and what it says is true."""
import json
import os
import time

import rules
from fakes import asked, fake, faked, inspection, languages, translation
from flows import expect, quoted, show_tab

BUSY = {"status": 503, "body": {"error": "The server is busy, try again"}, "headers": {"Retry-After": "1"}}
BOTH_WAYS = {"/languages": languages(("en", "de"), ("de", "en"))}
SOURCE, OUTPUT, ERROR = (f"document.querySelector('#view-translate {name}')" for name in ("#source", "#output", ".error"))


def clear(browser):
    browser.run(f"{SOURCE}.focus(); {SOURCE}.select(); document.execCommand('delete'); 0")
    browser.wait(f"{OUTPUT}.textContent === ''")


def wait_for_output(browser, text):
    browser.wait(f"{OUTPUT}.textContent === {quoted(text)} && !{OUTPUT}.classList.contains('waiting')")


def typed(browser):
    return browser.run(f"{SOURCE}.value")


def type_and_wait(browser, text, output):
    clear(browser)
    browser.type(text)
    wait_for_output(browser, output)


def press(browser, selector):
    browser.run(f"document.querySelector({quoted(selector)}).click()")


def check_swap(browser, server):
    """Swap takes a translation over only if it is one of the text that stands there; undo brings the text back."""
    with faked(browser, server.address + "/", {**BOTH_WAYS, "/translate": translation("Ein Mann schläft.")}):
        type_and_wait(browser, "A man sleeps.", "Ein Mann schläft.")
        browser.type(" Two dogs play.")
        press(browser, ".pair button")
        expect(typed(browser) == "A man sleeps. Two dogs play.", f"the typed text is gone: {typed(browser)!r}")
        expect(browser.run("document.getElementById('from').value") == "de", "the languages are swapped")
        fake(browser, "/translate", translation("A man."))
        type_and_wait(browser, "Ein Mann.", "A man.")
        press(browser, ".pair button")
        expect(typed(browser) == "A man.", f"the translation becomes the source, seen {typed(browser)!r}")
        browser.run(f"{SOURCE}.focus()")
        browser.undo()
        expect(typed(browser) == "Ein Mann.", f"undo after swap gives {typed(browser)!r}")


def check_undo_after_clear(browser, server):
    with faked(browser, server.address + "/", {"/translate": translation("x")}):
        type_and_wait(browser, "A man sleeps.", "x")
        browser.run("[...document.querySelectorAll('.box button')].find((button) => button.dataset.t === 'translate.clear').click()")
        expect(typed(browser) == "", "Clear empties the text")
        press(browser, "#theme")
        press(browser, "#theme")
        browser.undo()
        expect(typed(browser) == "A man sleeps.", f"undo after Clear and theme gives {typed(browser)!r}")


def check_theme_and_language_leave_the_text_alone(browser, server):
    """The caret, the text and an error survive the theme of the system, the theme and the language of the page."""
    browser.prefer(prefers_color_scheme="light")
    with faked(browser, server.address + "/", {"/translate": translation("Ein Mann schläft.")}):
        type_and_wait(browser, "A man sleeps.", "Ein Mann schläft.")
        browser.run(f"{SOURCE}.setSelectionRange(2, 2)")
        browser.prefer(prefers_color_scheme="dark")
        browser.wait("document.documentElement.dataset.theme === 'dark'")
        browser.type("big ")
        expect(typed(browser) == "A big man sleeps.", f"the caret is lost: {typed(browser)!r}")
        browser.prefer(prefers_color_scheme="light")
        fake(browser, "/translate", {"status": 400, "body": {"error": "Invalid request: request (5001) exceeds text limit (5000)"}})
        browser.type("x")
        browser.wait(f"{ERROR}.textContent.includes('5001')")
        press(browser, "#theme")
        press(browser, "#theme")
        expect("5001" in browser.run(f"{ERROR}.textContent"), "the error is wiped by the theme")
        press(browser, "#language")
        text = browser.run(f"{ERROR}.textContent")
        press(browser, "#language")
        expect("5001" in text and "字符" in text, f"the error is not Chinese: {text!r}")
        expect(typed(browser) == "A big xman sleeps.", f"the text is lost: {typed(browser)!r}")


def check_languages_that_come_late(browser, server):
    """A server that is busy when the page is opened is asked again, and the message stays until it answers."""
    with faked(browser, server.address + "/", {"/languages": [BUSY, BUSY, languages(("en", "de"))], "/translate": translation("da")},
               f"{ERROR}?.textContent.includes('busy')"):
        browser.run(f"{SOURCE}.focus()")
        browser.type("A man.")
        expect("busy" in browser.run(f"{ERROR}.textContent"), "the message is gone though nothing has changed")
        browser.wait("document.querySelector('#from option') !== null", 15)
        wait_for_output(browser, "da")
        expect(browser.run(f"{ERROR}.textContent") == "", "the message is gone when the server answers")


def check_errors(browser, server):
    """An old translation never stands beside a new error; passing errors are tried again; all are in both languages."""
    with faked(browser, server.address + "/", {"/translate": translation("Ein Mann.")}):
        type_and_wait(browser, "A man.", "Ein Mann.")
        fake(browser, "/translate", {"status": 500, "body": {"error": "internal error"}})
        browser.type(" x")
        browser.wait(f"{ERROR}.textContent !== ''")
        expect(browser.run(f"{OUTPUT}.textContent") == "", "the old translation stands beside the error")
        rules.check_page(browser, "an error")
        expect(browser.run("[...document.querySelectorAll('.box:last-child .bar button')].every((button) => button.disabled)"), "an old translation can be copied")
        fake(browser, "/translate", [BUSY, translation("Ein Mann x")])
        browser.type(" y")
        wait_for_output(browser, "Ein Mann x")  # after Retry-After, by itself
        fake(browser, "/translate", {"fails": True})
        browser.type(" z")
        browser.wait(f"{ERROR}.textContent.includes('reached')")
        press(browser, "#language")
        text = browser.run(f"{ERROR}.textContent")
        press(browser, "#language")
        expect("服务器" in text, f"offline is not said in Chinese: {text!r}")
        fake(browser, "/translate", translation("wieder da"))
        browser.run("window.dispatchEvent(new Event('online'))")
        wait_for_output(browser, "wieder da")
        expect(browser.run(f"{ERROR}.textContent") == "", "the error stays after it has passed")


def check_server_sentences(browser):
    """Every error that the server can answer to the page has a Chinese sentence."""
    texts = ["Invalid request: request (6000) exceeds text limit (5000)", "The server is busy, try again", "too many connections",
             "too many such requests are waiting; try again soon", "Slowdown: too many requests or characters in this minute",
             "Invalid API key", "Please contact the server operator to get an API key", "xx is not supported", "the translation took too long",
             "French (fr) is not available as a target language from German (de)", 'no model from "a" to "b" is served', "internal error",
             "Invalid request: missing source parameter", "inspect: the text has 130 tokens, at most 128 can be looked into; give a shorter one"]
    press(browser, "#language")
    seen = browser.run(f"import('/assets/errors.js').then(({{ ServerError }}) => {quoted(texts)}.map((text) => new ServerError({{ status: 400, text }}).message))"
                       .replace(quoted(texts), json.dumps(texts)))
    press(browser, "#language")
    for text, sentence in zip(texts, seen):
        expect(any("\u4e00" <= letter <= "\u9fff" for letter in sentence) and text not in sentence, f"{text!r} becomes {sentence!r}")


def check_copy(browser, server):
    """"Copied" is said only if it was, and the focus stays where it was."""
    with faked(browser, server.address + "/", {"/translate": translation("Ein Mann.")}):
        type_and_wait(browser, "A man.", "Ein Mann.")
        browser.run("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }); 0")
        browser.run("document.execCommand = new Proxy(document.execCommand, { apply: (real, self, words) => words[0] === 'copy' ? window.copies : Reflect.apply(real, document, words) }); 0")
        copy = "document.querySelector('.box:last-child .bar button')"
        for copies in (True, False):
            browser.run(f"window.copies = {str(copies).lower()}; document.querySelector('#announcer').textContent = ''; {copy}.focus()")
            browser.key("Enter")
            browser.wait(f"{copy}.textContent === 'Copied'" if copies else f"{ERROR}.textContent.includes('copy')")
            expect(browser.run(f"document.activeElement === {copy}"), "copying loses the focus")
            expect((browser.run("document.querySelector('#announcer').textContent") == "Copied") == copies, "what is announced is not true")
            browser.run(f"{copy}.textContent = ''")
        expect(browser.run(f"{copy}.textContent") != "Copied", "it says Copied, and it was not")
        expect(browser.run("String(document.getSelection())") == "Ein Mann.", "the translation is selected, to be copied by hand")


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def check_files(browser, server, folder):
    """Files of any size are sent in parts; one that is not UTF-8 is named, and the text stays."""
    line = "Der Hund schläft, und \U0001F431 spielt. "
    with faked(browser, server.address + "/", {"/translate": {"echo": True}}):
        browser.run(f"{SOURCE}.focus()")
        browser.type("A man.")
        wait_for_output(browser, "A man.")
        browser.choose_file("input[type=file]", write(folder, "latin.txt", "Über die Straße.".encode("latin-1")))
        browser.wait(f"{ERROR}.textContent.includes('latin.txt')")
        expect("UTF-8" in browser.run(f"{ERROR}.textContent") and typed(browser) == "A man.", "a Latin-1 file is refused, and the text stays")
        for name, data in (("utf8.txt", "\ufeffÜber die Straße.".encode()), ("utf16.txt", "Über die Straße.".encode("utf-16"))):
            clear(browser)
            browser.choose_file("input[type=file]", write(folder, name, data))
            wait_for_output(browser, "Über die Straße.")
        expect(browser.run(f"{ERROR}.textContent") == "", "the error is gone")
        text = (line * 3 + "\n") * 60
        browser.choose_file("input[type=file]", write(folder, "long.txt", text.encode()))
        wait_for_output(browser, text)
        sizes = [len(body["q"]) for body in asked(browser, "/translate")]
        expect(1000 < max(sizes) <= 2000, f"parts have {sizes} characters")

        large = text * 10
        browser.choose_file("input[type=file]", write(folder, "large.txt", large.encode()))
        browser.wait("document.querySelector('.job .primary:enabled') !== null")
        expect(typed(browser) == text, "a large file leaves the text alone")
        rules.check_page(browser, "a job")
        browser.run("URL.createObjectURL = (blob) => { window.saved = blob; return ''; }; HTMLAnchorElement.prototype.click = () => {}; document.querySelector('.job .primary').click()")
        expect(browser.run("window.saved.text()") == large, "the translation of a large file is not all of it")
        press(browser, ".job .bar button:last-child")
        expect(browser.run("document.querySelector('.job') === null"), "a job can be closed")


def check_long_texts(browser, server, folder):
    """With the real server: a text longer than it takes at once, and parts that are late are halved."""
    lines = ["The dog was tired.", "A man sleeps."] * 130
    with faked(browser, server.address + "/"):
        browser.choose_file("input[type=file]", write(folder, "lines.txt", "\n".join(lines).encode()))
        browser.wait(f"{OUTPUT}.textContent.split('\\n').length === {len(lines)} && !{OUTPUT}.classList.contains('waiting')", 120)
        expect(browser.run(f"{ERROR}.textContent") == "", "no error")
        expect(browser.run(f"new Set({OUTPUT}.textContent.split('\\n')).size") <= 2, "each line is translated as alone")
        fake(browser, "/translate", [{"status": 504, "body": {"error": "the translation took too long"}}, {"echo": True}])
        text = "\n".join(lines[:200])
        browser.run(f"{SOURCE}.value = {quoted(text)}; {SOURCE}.dispatchEvent(new Event('input'))")
        wait_for_output(browser, text)


def check_parts(browser):
    """The parts of a text are the text, none is longer than the limit, and no surrogate pair is cut."""
    faults = browser.run("""import("/assets/text_parts.js").then(({ partsOf }) => {
      const letters = ["a", "b ", ". ", "\\n", "。", "\\u{1F431}", "word", "  ", "?\\" ", "ü"];
      let state = 1; const random = (n) => (state = (state * 48271) % 2147483647) % n;
      const faults = [];
      for (let round = 0; round < 2000; ++round) {
        const text = Array.from({ length: random(80) }, () => letters[random(letters.length)]).join(""), limit = 2 + random(40);
        const parts = partsOf(text, limit);
        if (parts.join("") !== text || parts.some((part) => !part || part.length > limit || !part.isWellFormed())) faults.push([text, limit, parts]);
      }
      return faults.slice(0, 3);
    })""")
    expect(not faults, f"parts that are wrong: {faults}")


def check_words(browser):
    """Words stand in the order of the text, none overlaps another, and no piece is in two; whatever the pieces are."""
    faults = browser.run("""import("/assets/words.js").then(({ wordsOf, withWords }) => {
      const letters = ["a", "b", "猫", "½", "e\u0301", " ", ".", "\\u{1F319}", "ß", "İ"];
      const forms = ["▁", "▁a", "b", "<unk>", "<0xF0>", "猫", "1", "⁄2", "</s>", "é", "."];
      let state = 1; const random = (n) => (state = (state * 48271) % 2147483647) % n;
      const faults = [];
      for (let round = 0; round < 3000; ++round) {
        const text = Array.from({ length: random(12) }, () => letters[random(letters.length)]).join("");
        const pieces = Array.from({ length: random(12) }, () => forms[random(forms.length)]);
        const words = wordsOf(pieces, text), used = words.flatMap((word) => word.pieces);
        const areOrdered = words.every((word, i) => word.begin >= (words[i - 1]?.end ?? 0) && word.end > word.begin && word.end <= text.length);
        if (!areOrdered || new Set(used).size !== used.length || withWords(text, words, (word) => word).join("") !== text) faults.push([text, pieces, words]);
      }
      return faults.slice(0, 3);
    })""")
    expect(not faults, f"words that are wrong: {faults}")


def check_directions(browser, server):
    with faked(browser, server.address + "/", {"/languages": languages(("en", "ar"), ("ar", "en"), ("he", "en")), "/translate": translation("مرحبا بالعالم.", ["أهلا."])}):
        type_and_wait(browser, "Hello.", "مرحبا بالعالم.")
        state = "[...document.querySelectorAll('#source, #output, .alternatives button')].map((node) => [node.lang, getComputedStyle(node).direction].join(' ')).join()"
        expect(browser.run(state) == "en ltr,ar rtl,ar rtl", browser.run(state))
        press(browser, ".pair button")
        expect(browser.run(state).startswith("ar rtl,en ltr"), browser.run(state))
        expect(browser.run("[...document.querySelectorAll('#output, .alternatives button')].every((node) => node.translate === false)"), "a page translator would translate the translation")


def check_pieces(browser, server):
    """Bytes and unknown pieces never show; the texts stay what they are; a script without spaces has a word a piece."""
    moon = ["▁du", "▁willst", "▁", "<0xF0>", "<0x9F>", "<0x8C>", "<0x99>", "▁.", "</s>"]
    cases = [
        ("you want the moon .", "du willst \U0001F319 .", ["▁you", "▁want", "▁the", "▁moon", "▁.", "</s>"], moon, "", ["du", "willst", "\U0001F319", "."]),
        ("A 猫 sleeps.", "Ein Tier schläft.", ["▁A", "▁", "<unk>", "▁sleep", "s", ".", "</s>"], ["▁Ein", "▁Tier", "▁schlä", "ft", ".", "</s>"], "猫", ["Ein", "Tier", "schläft."]),
        ("he sleeps", "他在睡觉。", ["▁he", "▁sleeps", "</s>"], ["▁他", "在", "睡觉", "。", "</s>"], "", ["他", "在", "睡觉", "。"]),
    ]
    for text, output, source, target, unknown, words in cases:
        with faked(browser, server.address + "/", {"/translate": translation(output), "/v1/inspect": inspection(source, target, output)}):
            type_and_wait(browser, text, output)
            browser.wait("document.querySelectorAll('#output .word').length > 0")
            expect(browser.run(f"{OUTPUT}.textContent") == output, f"pieces change the translation to {browser.run(f'{OUTPUT}.textContent')!r}")
            expect(browser.run("document.querySelector('.aligned').textContent") == text, "pieces change the source")
            seen = browser.run("[...document.querySelectorAll('#output .word')].map((word) => word.textContent)")
            expect(seen == words, f"words are {seen}, expected {words}")
            warning = browser.run("document.querySelector('.warning').textContent")
            rules.check_contrast(browser, "a warning")
            expect(unknown in warning if unknown else warning == "", f"the warning is {warning!r}")
            browser.run("document.querySelector('#output .word').focus()")
            expect(browser.run("document.querySelectorAll('.aligned .word.linked').length") == 1, "a word lights up what it looked at")


def check_selection_and_live_regions(browser, server):
    """What is selected stays so when the alignment comes; readers are told once; the alternatives keep the focus."""
    answer = inspection(["▁A", "▁man", ".", "</s>"], ["▁Ein", "▁Mann", ".", "</s>"], "Ein Mann.")
    with faked(browser, server.address + "/", {"/translate": translation("Ein Mann.", ["Der Mann."]), "/v1/inspect": {**answer, "delay": 400}}):
        browser.run("window.told = []; new MutationObserver(() => window.told.push(document.querySelector('#announcer').textContent))"
                    ".observe(document.querySelector('#announcer'), { childList: true, characterData: true, subtree: true }); 0")
        type_and_wait(browser, "A man.", "Ein Mann.")
        browser.run(f"document.getSelection().setBaseAndExtent({OUTPUT}.firstChild, 4, {OUTPUT}.firstChild, 8)")
        browser.wait("document.querySelectorAll('#output .word').length > 0")
        expect(browser.run("String(document.getSelection())") == "Mann", f"selected is {browser.run('String(document.getSelection())')!r}")
        browser.run(f"document.getSelection().selectAllChildren({OUTPUT})")
        expect(browser.run("String(document.getSelection())") == "Ein Mann.", "all that is selected is the translation")
        expect(browser.run("window.told.filter((text) => text === 'Ein Mann.').length") == 1, f"told {browser.run('window.told')}")
        expect(browser.run(f"{OUTPUT}.getAttribute('aria-live')") is None, "the translation would be read twice")
        browser.run("document.querySelector('.alternatives button').focus()")
        browser.key("Enter")
        wait_for_output(browser, "Der Mann.")
        expect(browser.run("document.activeElement.textContent") == "Ein Mann.", "the focus leaves the alternatives")


def check_composition(browser, server):
    """What is being composed is not sent."""
    with faked(browser, server.address + "/", {"/translate": {"echo": True}}):
        browser.run(f"{SOURCE}.focus()")
        for text in ("n", "ni", "ni h", "ni hao"):
            browser.call("Input.imeSetComposition", text=text, selectionStart=len(text), selectionEnd=len(text))
            time.sleep(0.45)
        expect(asked(browser, "/translate") == [], f"sent while composing: {asked(browser, '/translate')}")
        browser.type("你好")
        wait_for_output(browser, "你好")
        expect([body["q"] for body in asked(browser, "/translate")] == ["你好"], "the composed text is sent once")


def check_reload(browser, server):
    with faked(browser, server.address + "/", {**BOTH_WAYS, "/translate": {"echo": True}}):
        browser.run("document.getElementById('from').value = 'de'; document.getElementById('from').dispatchEvent(new Event('change'))")
        type_and_wait(browser, "Ein Mann.", "Ein Mann.")
        browser.reload()
        wait_for_output(browser, "Ein Mann.")
        expect(typed(browser) == "Ein Mann." and browser.run("document.getElementById('from').value") == "de", "a reload loses what was typed")
    browser.open(server.address + "/")
    expect(typed(browser) == "", "another tab begins empty")


def check_long_words(browser, server):
    with faked(browser, server.address + "/", {"/translate": translation("x" * 300, ["y" * 1083, "z" * 1344])}):
        browser.size(390, 700)
        type_and_wait(browser, "x" * 300, "x" * 300)
        wide = browser.run("document.documentElement.scrollWidth")
        browser.size(1280, 900)
        expect(wide <= 390, f"a long word makes the page {wide} pixels wide in a window of 390")


def check_first_screen(browser, server):
    """An empty page says what the model knows, and offers sentences of its own validation text."""
    card = server.get("/v1/model?source=en&target=de")
    browser.open(server.address + "/")
    browser.wait("document.querySelector('.start') !== null")
    seen = browser.run("[...document.querySelectorAll('.tries button')].map((button) => button.textContent)")
    expect(seen == card["examples"] and len(seen) >= 3, f"offered are {seen}")
    text = browser.run("document.querySelector('.start').textContent")
    for fact in ("English", "German", "120", "BLEU"):
        expect(fact in text, f"{fact} is not in {text!r}")
    press(browser, ".tries button")
    browser.wait(f"{OUTPUT}.textContent !== '' && document.querySelector('.start') === null")
    expect(typed(browser) == card["examples"][0], "the sentence is taken over")
    press(browser, "#language")
    clear(browser)
    browser.wait("document.querySelector('.start') !== null")
    text = browser.run("document.querySelector('.start').textContent")
    press(browser, "#language")
    expect("这个模型从英语译到德语" in text, text)


def check_theme_without_flash(browser, server):
    """A dark system gets a dark page before the modules have run, and also without any script; print is light."""
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.prefer(prefers_color_scheme="dark")
    browser.call("Network.setBlockedURLs", urls=["*/assets/main.js"])
    browser.open(server.address + "/", "true")
    dark = browser.run(ground)
    browser.call("Network.setBlockedURLs", urls=["*/assets/main.js", "*/assets/theme.js"])
    browser.open(server.address + "/", "true")
    expect(browser.run(ground) == dark == "rgb(20, 23, 26)", f"the page is {dark}, then {browser.run(ground)}")
    browser.call("Network.setBlockedURLs", urls=[])
    browser.errors[:] = [error for error in browser.errors if "ERR_BLOCKED_BY_CLIENT" not in error]
    browser.open(server.address + "/")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    printed = browser.run("[getComputedStyle(document.documentElement).colorScheme, getComputedStyle(document.querySelector('.tabs')).display].join()")
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.prefer(prefers_color_scheme="light")
    expect(printed == "light,none", f"print: {printed}")


def check_type(browser, server):
    """Quotation marks are of a font for Latin; a wide window is used; ticks are round; Chinese has no leftovers."""
    browser.size(1920, 1000)
    browser.open(server.address + "/")
    width = browser.run("document.querySelector('.boxes').getBoundingClientRect().width")
    expect(width > 0.85 * 1920, f"the boxes are {width} pixels wide in a window of 1920")
    browser.size(1280, 900)
    fonts = browser.run("getComputedStyle(document.documentElement).getPropertyValue('--serif').split(',').map((name) => name.trim())")
    first_cjk = next(i for i, name in enumerate(fonts) if "CJK" in name or "Songti" in name)
    expect(any("Serif" in name or "Times" in name for name in fonts[:first_cjk]) and "Georgia" in fonts[:first_cjk], f"{fonts}")
    ticks = browser.run("""import("/assets/loss_chart.js").then(({ roundTicks }) => [roundTicks(0, 7.1, 5), roundTicks(0, 1050, 6), roundTicks(0, 0.9, 5), roundTicks(0, 120, 3)])""")
    expect(ticks == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 200, 400, 600, 800, 1000], [0, 0.2, 0.4, 0.6, 0.8], [0, 50, 100]], f"{ticks}")
    press(browser, "#language")
    show_tab(browser, "card")
    browser.wait("document.querySelector('.facts') !== null")
    text = browser.run("document.getElementById('view-card').innerText")
    names = browser.run("[...document.querySelectorAll('.facts dt')].map((name) => name.textContent)")
    browser.size(390, 844)
    for view in ("translate", "card"):
        show_tab(browser, view)
        rules.check_width(browser, f"{view} in Chinese")
        rules.check_text_size(browser, f"{view} in Chinese")
    browser.size(1280, 900)
    press(browser, "#language")
    expect("en → de" not in text and " min " not in text, f"English is left in {text[:200]!r}")
    bare = [name for name in names if not any("\u4e00" <= letter <= "\u9fff" for letter in name) and "dropout" not in name]
    expect(not bare, f"settings without a Chinese name: {bare}")


def checks(browser, server, folder):
    """(name, action) of every check of this file."""
    with_server = [check_swap, check_undo_after_clear, check_theme_and_language_leave_the_text_alone, check_languages_that_come_late,
                   check_errors, check_copy, check_directions, check_pieces, check_selection_and_live_regions, check_composition,
                   check_reload, check_long_words, check_first_screen, check_theme_without_flash, check_type]
    named = [(check, (browser, server)) for check in with_server]
    named += [(check, (browser, server, folder)) for check in (check_files, check_long_texts)]
    named += [(check, (browser,)) for check in (check_parts, check_words, check_server_sentences)]
    return [(check.__name__.removeprefix("check_").replace("_", " "), lambda check=check, given=given: check(*given)) for check, given in named]
