"""Rules that every view must keep, at every width and in both themes."""
import time

from flows import expect

# The contrast of each visible text with what is behind it (WCAG 2.1, 1.4.3), as [ratio, text, colour, ground].
CONTRAST = """(() => {
  const parse = (text) => { const n = (text.match(/[\\d.]+/g) ?? []).map(Number); return text.startsWith("color(srgb") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  const ground = (node) => { const layers = []; for (let at = node; at; at = at.parentElement) { layers.push(parse(getComputedStyle(at).backgroundColor)); } return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255]); };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement, style = getComputedStyle(parent), box = parent.getBoundingClientRect();
    if (!node.data.trim() || !box.width || style.visibility === "hidden" || parent.closest("[hidden], .hidden, svg, :disabled, .later, .skip, option, math")) continue;
    const behind = ground(parent), front = over(parse(style.color), behind);
    const [a, b] = [light(front), light(behind)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < needed) bad.push(`${ratio.toFixed(2)} "${node.data.trim().slice(0, 30)}" ${style.color} on ${behind.map(Math.round)}`);
  }
  return bad;
})()"""

# Visible text, also in drawings, that is smaller on the screen than 11 pixels.
SMALL_TEXT = """(() => {
  const small = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.getClientRects().length || !parent.checkVisibility() || parent.closest("[hidden], .hidden, option, noscript, math, title")) continue;
    const matrix = parent.ownerSVGElement ? parent.getScreenCTM() : null;
    const size = parseFloat(getComputedStyle(parent).fontSize) * (matrix ? Math.hypot(matrix.b, matrix.a) : 1);
    if (size < 10.95) small.push(`${size.toFixed(1)} "${node.data.trim().slice(0, 30)}"`);
  }
  return small;
})()"""

SHOWS_FOCUS = """(() => {
  const node = document.activeElement;
  const box = node.getBoundingClientRect(), style = getComputedStyle(node);
  const inner = node.querySelector?.("rect") && getComputedStyle(node.querySelector("rect"));
  const visible = parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none" || (inner && parseFloat(inner.strokeWidth) >= 2);
  return { name: node.tagName + "#" + node.id + "." + node.getAttribute("class") + " " + (node.getAttribute("aria-label") || node.textContent).trim().slice(0, 30),
           isBody: node === document.body, visible, sized: box.width > 0 && box.height > 0 };
})()"""

OUTER = "function() { return this.outerHTML.slice(0, 200); }"
NAMED = {"button", "textbox", "combobox", "slider", "tab", "link", "image", "checkbox", "tabpanel"}


def check_names(browser, place):
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in NAMED:
            expect(node.get("name", {}).get("value", "").strip(), f"{place}: a {role} has no name: {browser.run_on(node, OUTER)}")


def check_contrast(browser, place):
    bad = browser.run(CONTRAST)
    expect(not bad, f"{place}: too little contrast: {bad[:8]}")


def check_text_size(browser, place):
    """A chart is drawn anew after its room has changed, so small text has a moment to go."""
    end = time.time() + 5
    while (small := browser.run(SMALL_TEXT)) and time.time() < end:
        time.sleep(0.05)
    expect(not small, f"{place}: text below 11 pixels: {small[:8]}")


def check_width(browser, place):
    wide = browser.run("[document.documentElement.scrollWidth, innerWidth]")
    expect(wide[0] <= wide[1], f"{place}: {wide[0]} pixels wide in a window of {wide[1]}")


def check_focus_order(browser, place):
    """Tab reaches everything that can be used, each once, visibly, in the order of the page."""
    expected = browser.run("""(() => { const nodes = [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")]
      .filter((node) => node.tabIndex >= 0 && !node.disabled && !node.closest("[hidden]") && node.getClientRects().length);
      window.__order = nodes; return nodes.length; })()""")
    expect(not browser.run("document.querySelector('[tabindex]:not([tabindex=\"0\"]):not([tabindex=\"-1\"])')"), "a tabindex above 0")
    browser.run("window.scrollTo(0, 0); window.__order[0].focus(); 0")
    last = 0
    for _ in range(min(expected, 60) - 1):
        browser.key("Tab")
        at = browser.run("window.__order.indexOf(document.activeElement)")
        seen = browser.run(SHOWS_FOCUS)
        if seen["isBody"] or at < 0:
            continue
        expect(at > last, f"{place}: the focus goes back, to {seen['name']}")
        expect(seen["visible"] and seen["sized"], f"{place}: the focus cannot be seen on {seen['name']}")
        last = at
    expect(last >= min(expected, 60) - 3, f"{place}: Tab reached {last + 1} of {expected}")


def check_page(browser, place):
    check_names(browser, place)
    check_contrast(browser, place)
    check_width(browser, place)
    expect(browser.run("document.documentElement.lang") != "", f"{place}: the page names no language")
    twice = browser.run("[...document.querySelectorAll('[id]')].map((n) => n.id).filter((id, i, all) => all.indexOf(id) !== i)")
    expect(not twice, f"{place}: ids stand twice: {twice}")
