"""`dragoman watch`: the page of a training run, afterwards and while it grows."""
import json
import os
import re
import shutil
import subprocess
import time

import rules
from flows import expect


class Watcher:
    def __init__(self, program, model):
        self.process = subprocess.Popen([program, "watch", "--model", model, "--port", "0"], stderr=subprocess.PIPE, encoding="utf-8")
        found = re.search(r"http://\S+", self.process.stderr.readline())
        if not found:
            raise RuntimeError("dragoman watch did not start")
        self.address = found[0]

    def close(self):
        self.process.terminate()
        return self.process.wait(30)


def fake_run(folder, steps):
    """A run of some validations, as the trainer writes it."""
    os.makedirs(folder, exist_ok=True)
    rows, samples, maps = [], [], []
    for i in range(1, steps + 1):
        step = 50 * i
        rows.append({"kind": "train", "step": step, "epoch": 0.1 * i, "loss": 7.0 / i, "learning_rate": 1e-4, "tokens_per_second": 1000.0, "grad_norm": 1.0, "seconds": 5.0 * i})
        rows.append({"kind": "validation", "step": step, "epoch": 0.1 * i, "loss": 6.0 / i, "perplexity": 9.0, "bleu": 4.0 * i, "chrf": 5.0, "is_best": True, "seconds": 5.0 * i})
        samples.append({"step": step, "samples": [{"source": "The <b>cat</b>.", "reference": "Die <b>Katze</b>.", "hypothesis": "Die " * (6 - i) + "<b>Katze</b>."}]})
        sharp = 0.5 + i / 12
        maps.append({"step": step, "maps": [{"title": "Cross-attention, last layer", "row_axis": "target", "column_axis": "source", "rows": ["\u2581Die", "end"],
                                             "columns": ["\u2581The", "end"], "weights": [sharp, 1 - sharp, 1 - sharp, sharp]}]})
    for name, text in (("metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), ("samples.json", json.dumps(samples)), ("attention.json", json.dumps(maps))):
        path = os.path.join(folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)


def open_run(browser, address, waiting="document.querySelector('.watch-state')?.textContent !== ''"):
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=address + "/")
    browser.wait("document.readyState === 'complete' && document.querySelector('.watch-state') !== null")
    browser.wait(waiting)


def entropy(browser):
    return [float(text) for text in re.findall(r"(\d+\.\d+)", browser.run("document.querySelector('.watch-entropy').textContent"))]


def check_watch(browser, program, output):
    folder = os.path.join(output, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    watcher = Watcher(program, folder)
    try:
        open_run(browser, watcher.address, "document.querySelector('.watch-state').textContent.includes('first updates')")
        fake_run(folder, 3)
        browser.wait("document.querySelector('.watch-bar output').textContent.startsWith('step 150')", 10)
        hypothesis = "document.querySelector('.watch-samples .hypothesis').textContent.trim()"
        expect(browser.run(hypothesis) == "Die Die Die <b>Katze</b>.", f"the newest sample is {browser.run(hypothesis)!r}")
        fake_run(folder, 6)  # it trains on: the page follows
        browser.wait("document.querySelector('.watch-bar output').textContent.startsWith('step 300')", 10)
        first, now = entropy(browser)
        expect(now < first, f"the map sharpens: {first} to {now}")

        # The replay: from the start to the end, and by hand.
        browser.run("(() => { const slider = document.getElementById('watch-place'); slider.value = 0; slider.dispatchEvent(new Event('input')); })()")
        expect(browser.run(hypothesis).count("Die") == 5, f"the first sample is {browser.run(hypothesis)!r}")
        browser.run("document.querySelector('.watch-bar button').click()")
        browser.wait("document.querySelector('.watch-bar output').textContent.startsWith('step 300')", 15)
        expect(browser.run("document.querySelectorAll('.watch-samples dd b').length") > 0, "words of the reference are bold")

        # A file that is being damaged costs its part alone.
        with open(os.path.join(folder, "attention.json"), "w") as file:
            file.write("[{")
        open_run(browser, watcher.address, "document.querySelector('.watch-samples') !== null")
        fake_run(folder, 6)

        tabs = browser.run("[...document.querySelectorAll('[role=tab]')].filter((tab) => !tab.hidden).map((tab) => tab.textContent)")
        expect(tabs == ["Training", "Laboratory"], f"the tabs are {tabs}")
        for theme in ("light", "dark"):
            browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
            for width, height in ((1280, 900), (390, 844)):
                browser.size(width, height)
                open_run(browser, watcher.address, "document.querySelector('.watch-samples') !== null")
                browser.wait_until_still()
                place = f"watch-{width}-{theme}"
                browser.picture(os.path.join(output, f"{place}.png"))
                rules.check_page(browser, place)
        browser.size(1280, 900)
        browser.run("document.getElementById('language').click()")
        browser.wait("document.querySelector('.watch-state').textContent.includes('步')")
        browser.run("document.getElementById('language').click()")
    finally:
        status = watcher.close()
    expect(status == 0, f"dragoman watch ended with {status}")
    time.sleep(0.1)


def check_real_run(browser, program, model):
    """The model that the check has trained can be replayed."""
    watcher = Watcher(program, model)
    try:
        open_run(browser, watcher.address, "document.querySelector('.watch-samples') !== null")
        expect("finished" in browser.run("document.querySelector('.watch-state').textContent"), "the run has finished")
        expect(browser.run("document.querySelectorAll('#view-watch canvas').length") > 0, "no attention map is shown")
    finally:
        watcher.close()
