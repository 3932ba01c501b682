"""The pages that are written to files, report.html of a training and attention.html of a sentence, in both languages."""
import os
import subprocess

import rules
from flows import SENTENCE, expect

VISIBLE = "document.querySelector('main').innerText"


def check_both_languages(browser, place, words):
    """The switch changes all that is seen; it can be used with the keyboard."""
    browser.run("document.getElementById('speak-en').click(); 0")
    english = browser.run(VISIBLE)
    for word in words[0]:
        expect(word in english, f"{place}: {word!r} is not in the English page")
    expect(not any("\u4e00" <= letter <= "\u9fff" for letter in english), f"{place}: Chinese is left in the English page")
    browser.run("document.getElementById('speak-en').focus()")
    browser.key("ArrowRight")
    expect(browser.run("document.getElementById('speak-zh').checked"), f"{place}: the arrow key does not switch the language")
    chinese = browser.run(VISIBLE)
    for word in words[1]:
        expect(word in chinese, f"{place}: {word!r} is not in the Chinese page")
    for word in words[0]:
        expect(word not in chinese, f"{place}: {word!r} is left in the Chinese page")


def check_sizes(browser, place, output):
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme)
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            name = f"{place}-{width}-{theme}"
            rules.check_names(browser, name)
            rules.check_contrast(browser, name)
            rules.check_width(browser, name)
            rules.check_text_size(browser, name)
            browser.picture(os.path.join(output, f"{name}.png"))
    browser.size(1280, 900)
    browser.prefer(prefers_color_scheme="light")


def check_report(browser, model, output):
    browser.open(f"file://{os.path.abspath(model)}/report.html", "document.querySelector('main') !== null")
    check_both_languages(browser, "report", (["Curves", "Learning rate", "Sample translations", "What happened"], ["曲线", "学习率", "翻译样例", "大事记"]))
    check_sizes(browser, "report", output)


def check_attention(browser, program, model, output):
    path = os.path.join(output, "attention.html")
    for word in ("it", "because", "street"):
        subprocess.run([program, "attention", "--model", model, "--text", SENTENCE, "--from", word, "--output", path], check=True, stdout=subprocess.DEVNULL)
        browser.open(f"file://{path}", "document.querySelector('#map svg') !== null")
        expect(word in browser.run("document.querySelector('.from-word h2').innerText"), f"the page is not of {word!r}")
        chosen = browser.run("[...document.querySelectorAll('#overview button')].find((button) => button.getAttribute('aria-pressed') === 'true').getAttribute('aria-label')")
        finding = browser.run("document.querySelector('.finding').innerText")
        expect(chosen in finding, f"the page opens at {chosen!r}, but {finding!r}")
        expect(browser.run("document.querySelectorAll('#links [aria-pressed=true]').length") == 1, "the word is not chosen")
    check_both_languages(browser, "attention", (["Heat map", "Who looks at whom", "head 1", "Encoder self-attention"], ["热图", "谁在看谁", "第 1 头", "编码器自注意力"]))
    check_sizes(browser, "attention", output)
