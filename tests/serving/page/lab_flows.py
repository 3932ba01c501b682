"""The laboratory: what is moved changes what is shown, by the formulas of lab_math.js, which lab_check.mjs compares with the
ops."""
import json

from flows import expect, number, quoted
import rules

PANELS = ("regression", "positions", "scaling", "norms", "masks")
SMALLEST = """[...document.querySelectorAll('#view-lab *')].filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .filter((node) => !node.closest('math, option, .hidden') && parseFloat(getComputedStyle(node).fontSize) < 11).map((node) => node.textContent.slice(0, 30))"""


def open_panel(browser, name):
    browser.run(f"location.hash = 'lab/{name}'")
    browser.wait(f"!document.getElementById('view-lab').hidden && document.getElementById('lab-{name}') !== null")
    browser.wait_until_still()


def slide(browser, name, value):
    browser.run(f"(() => {{ const slider = document.getElementById({quoted(name)}); slider.value = {value}; slider.dispatchEvent(new Event('input')); }})()")


def press(browser, text):
    browser.run(f"[...document.querySelectorAll('#view-lab .lab-panel button')].find((button) => button.textContent === {quoted(text)}).click()")


def finding(browser):
    return browser.run("document.querySelector('#view-lab .finding').textContent")


def lab(browser, expression):
    return browser.run(f"import('/assets/lab_math.js').then((lab) => {expression})")


def check_regression(browser):
    open_panel(browser, "regression")
    points = "[...document.querySelectorAll('.sample')].map((node) => [Number(node.getAttribute('cx')), Number(node.getAttribute('cy'))])"
    before = browser.run(points)
    browser.run("document.querySelectorAll('.sample')[3].focus()")
    browser.key("ArrowUp")
    after = browser.run(points)
    expect(after[3][1] < before[3][1] and after[3][0] == before[3][0], f"arrow up moves {before[3]} to {after[3]}")
    expect(browser.run("document.activeElement === document.querySelectorAll('.sample')[3]"), "the point keeps the focus")

    # A drag with the mouse.
    x, y = browser.run("(() => { const node = document.querySelectorAll('.sample')[5]; node.scrollIntoView({block: 'center'}); const box = node.getBoundingClientRect();"
                       " return [box.x + box.width / 2, box.y + box.height / 2]; })()")
    for kind, to in (("mousePressed", y), ("mouseMoved", y - 20), ("mouseMoved", y - 40), ("mouseReleased", y - 40)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=to, button="left", buttons=1, clickCount=1)
    moved = browser.run(points)
    expect(abs(moved[5][1] - (after[5][1] - 40)) < 3, f"a drag of 40 pixels moves {after[5]} to {moved[5]}")

    # The weights that the points tell sum to 1, for every kernel.
    for kernel in ("Gaussian", "triangle", "box"):
        press(browser, kernel)
        slide(browser, "lab-width", 1)
        total = sum(number(text.rsplit(" ", 1)[1]) for text in
                    browser.run("[...document.querySelectorAll('.sample')].map((node) => node.getAttribute('aria-valuetext'))"))
        expect(abs(total - 1) < 0.05, f"{kernel}: the weights sum to {total}")
    error = lambda: number(finding(browser).rstrip(".").rsplit(" ", 1)[1])
    press(browser, "Gaussian")
    slide(browser, "lab-width", 1.8)
    wide = error()
    browser.run("document.getElementById('lab-learn').click()")
    browser.wait(f"Number(document.querySelector('#view-lab .finding').textContent.replace(/\\.$/, '').split(' ').at(-1)) < {wide}")


def check_positions(browser):
    open_panel(browser, "positions")
    slide(browser, "lab-distance", 6)
    values = browser.run("document.querySelector('#view-lab .finding').textContent.match(/= [−0-9.]+/g).map((text) => text.slice(2))")
    expected = lab(browser, "lab.innerOfDistance(6, 32)")
    expect(len(values) == 3 and all(abs(number(value) - expected) < 0.001 for value in values), f"{values}, expected {expected}")


def check_scaling(browser):
    open_panel(browser, "scaling")
    slide(browser, "lab-dk", 8)
    facts = browser.run("[...document.querySelectorAll('.lab-side [data-fact]')].map((node) => node.textContent)")
    raw, scaled = number(facts[0].split(" ")[0]), number(facts[3].split(" ")[0])
    expect(abs(raw - 256) < 60 and abs(scaled - 1) < 0.25, f"variances {raw} and {scaled}, expected 256 and 1")
    expect(number(facts[5]) > number(facts[2]), f"the gradient does not grow by the division: {facts}")


def check_norms(browser):
    open_panel(browser, "norms")
    for name, count in (("LayerNorm", 6), ("BatchNorm", 12), ("InstanceNorm", 4), ("GroupNorm", 12)):
        press(browser, name)
        expect(f"{count} numbers" in finding(browser), f"{name}: {finding(browser)}")
        shown = browser.run("document.querySelectorAll('.lab-side:first-child .cell.in').length")
        expect(shown == count, f"{name}: {shown} cells are marked, expected {count}")
    table = browser.run("[...document.querySelectorAll('.lab-table tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))")
    expect(table[0] == ["0", "0", "0"], f"LayerNorm depends on its word alone: {table[0]}")
    expect(table[1][1] != "0" and table[2][1] == "0", f"only BatchNorm depends on other sentences: {table}")

    # Moving one value changes the results of its set.
    press(browser, "LayerNorm")
    browser.run("document.querySelector('.lab-cube').focus()")
    browser.key("ArrowRight")
    slide(browser, "lab-value", 5)
    changed = browser.run("document.querySelectorAll('.lab-side:last-child .cell.moved').length")
    expect(changed == 6, f"LayerNorm: {changed} results changed, expected the 6 of one word")
    press(browser, "BatchNorm")
    changed = browser.run("document.querySelectorAll('.lab-side:last-child .cell.moved').length")
    expect(changed == 12, f"BatchNorm: {changed} results changed, expected the 12 of one feature")


def check_masks(browser):
    open_panel(browser, "masks")
    for choice, holds in (("score becomes 0", lambda text: "0.0 % of" not in text), ("weight becomes 0", lambda text: "not to 1" in text),
                          ("score becomes −∞", lambda text: "gives 0.0 %" in text and "sum to 1.000" in text)):
        press(browser, choice)
        expect(holds(finding(browser)), f"{choice}: {finding(browser)}")


def check_derivations(browser):
    """Each panel leads to a section of the derivations, or says that there is none."""
    status = browser.run("fetch('/docs/derivations.md').then((answer) => answer.status)")
    for name in PANELS:
        open_panel(browser, name)
        href = browser.run("document.querySelector('.lab-panel .to-derivation').getAttribute('href')")
        expect(href.startswith("/docs/derivations.md#"), f"{name} links to {href}")
        browser.run("document.querySelector('.lab-panel .to-derivation').click()")
        browser.wait("document.querySelector('.lab-panel .derivation').childElementCount > 0")
        wrong = browser.run("document.querySelector('.lab-panel .derivation .error')?.textContent ?? ''")
        if status == 200:
            expect(not wrong, f"{name}: {wrong}")
            expect(browser.run("document.querySelectorAll('.lab-panel .derivation math').length") > 0, f"{name}: the derivation has no formula")
            unknown = browser.run("[...document.querySelectorAll('.lab-panel .derivation math mtext')].map((node) => node.textContent).filter((text) => /^[a-zA-Z]+$/.test(text) && text.length > 12)")
            expect(not unknown, f"{name}: formulas with commands that tex.js does not know: {unknown}")
        else:
            expect("derivations.md" in wrong, f"{name}: {wrong}")
    if status != 200:
        browser.errors[:] = [error for error in browser.errors if "404" not in error]


def check_sections(browser):
    """The reader of the derivations, on a text of its own."""
    text = ("# Derivations\n\n<a id=\"masks\"></a>\n## Masks and padding\n\nA **mask** adds $m_{tj}$ to `s`.\n\n$$\\alpha = \\frac{e^{s}}{\\sum_k e^{s_k}}$$\n\n"
            "| a | b |\n|---|---|\n| 1 | $x^2$ |\n\n- one\n- two\n\n```cpp\n# no heading\n```\n\n### Causal\n\nMore.\n\n## Next\n\nNo.\n")
    tags = browser.run(f"import('/assets/derivation.js').then((d) => d.blocksOf(d.sectionOf({json.dumps(text)}, 'masks')).map((node) => node.localName))")
    expect(tags == ["h3", "p", "div", "div", "ul", "pre", "h3", "p"], f"blocks: {tags}")
    expect(browser.run(f"import('/assets/derivation.js').then((d) => d.sectionOf({json.dumps(text)}, 'next').join('|'))") == "## Next||No.|", "a section by its title")
    formula = browser.run("import('/assets/tex.js').then((m) => m.tex('\\\\begin{aligned} a &= \\\\left( \\\\frac{x_1^2}{\\\\sqrt{d_k}} \\\\right) \\\\\\\\ b &\\\\in \\\\mathbb{R}^{n \\\\times d} \\\\end{aligned}').outerHTML)")
    for part in ("<mtable", "<mfrac><msubsup>", "<msqrt>", "ℝ", "fence"):
        expect(part in formula, f"{part} is not in {formula}")


def check_laboratory(browser):
    for action in (check_regression, check_positions, check_scaling, check_norms, check_masks, check_sections, check_derivations):
        action(browser)


def check_looks(browser, server, output):
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            browser.open(server.address + "/")
            for name in PANELS:
                open_panel(browser, name)
                place = f"lab-{name}-{width}-{theme}"
                browser.picture(f"{output}/{place}.png")
                rules.check_page(browser, place)
                small = browser.run(SMALLEST)
                expect(not small, f"{place}: text below 11 px: {small}")
                if theme == "light" and width == 1280:
                    rules.check_focus_order(browser, place)
    browser.size(1280, 900)
