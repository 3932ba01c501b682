#!/usr/bin/env python3
"""Frames of the story in "Look inside", joined to a WebP. See scripts/make_pictures.sh."""
import argparse
import base64
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "serving", "page"))
from devtools import Browser, find_chromium  # noqa: E402
from server import Server  # noqa: E402

WIDTH, HEIGHT = 1000, 900
SENTENCE = "The animal didn't cross the street because it was too tired."
LARGEST = 1_500_000  # bytes
MILLISECONDS = 160  # a frame
STORY = "document.querySelector('#view-inside .story')"
SCRUB = f"{STORY}.querySelector('input[type=range]')"


def open_story(browser, address, language, sentence):
    browser.size(WIDTH, HEIGHT)
    browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    browser.open(address + "/")
    if language == "zh":
        browser.click("#language")
    browser.click("#tab-inside")
    browser.wait("document.querySelector('#view-inside textarea, #view-inside input[type=text]') !== null")
    browser.run(f"""(() => {{
        const text = document.querySelector('#view-inside textarea, #view-inside input[type=text]');
        text.value = {sentence!r};
        text.dispatchEvent(new Event('input', {{bubbles: true}}));
        text.form ? text.form.requestSubmit() : text.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true}}));
    }})()""")
    try:
        browser.wait(f"{STORY} !== null && {SCRUB} !== null && Number({SCRUB}.max) > 1 && !{STORY}.hasAttribute('aria-busy')", 60)
    except RuntimeError as error:
        raise SystemExit(f"make_pictures: the page shows no story of the sentence: {error}")
    return float(browser.run(f"Number({SCRUB}.max)"))


def go_to(browser, seconds):
    browser.run(f"""new Promise((done) => {{
        const scrub = {SCRUB};
        scrub.value = {seconds};
        scrub.dispatchEvent(new Event('input', {{bubbles: true}}));
        requestAnimationFrame(() => requestAnimationFrame(done));
    }})""")


def box_of_story(browser):
    """Left, top, width and height of the story on the page, from its stage to the end of its caption."""
    return browser.run(f"(() => {{ const b = {STORY}.getBoundingClientRect(), c = {STORY}.querySelector('.explain').getBoundingClientRect();"
                       " return [b.x + scrollX, b.y + scrollY, b.width, c.bottom + 12 - b.y]; })()")


def take_frames(browser, seconds, count, folder):
    times = [seconds * i / (count - 1) for i in range(count)]
    tallest = 0
    for time in times[::8]:  # captions differ in height, and all frames need the same
        go_to(browser, time)
        tallest = max(tallest, box_of_story(browser)[3])
    files = []
    for number, time in enumerate(times):
        go_to(browser, time)
        x, y, width, _ = box_of_story(browser)
        clip = {"x": x, "y": y, "width": width, "height": tallest, "scale": 1}
        data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        files.append(os.path.join(folder, f"{number:04}.png"))
        with open(files[-1], "wb") as file:
            file.write(base64.b64decode(data))
    return files


def join(files, output):
    """The best quality that fits into LARGEST; then fewer frames."""
    for step in (1, 2, 3):
        for quality in (80, 65, 50, 35):
            chosen = files[::step]
            subprocess.run(["img2webp", "-loop", "0", "-lossy", "-q", str(quality), "-m", "4", "-d", str(MILLISECONDS * step),
                            *chosen, "-o", output + ".tmp"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            size = os.path.getsize(output + ".tmp")
            if size <= LARGEST:
                os.replace(output + ".tmp", output)
                print(f"{output}: {len(chosen)} frames, quality {quality}, {size:,} bytes")
                return
    os.remove(output + ".tmp")
    raise SystemExit(f"make_pictures: {output} would take {size:,} bytes, more than {LARGEST:,}; try --frames {len(files) // 2}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "dragoman"))
    parser.add_argument("--model", default=os.path.join(ROOT, "quickstart", "model"))
    parser.add_argument("--output", default=os.path.join(ROOT, "docs", "pictures"))
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--sentence", default=SENTENCE)
    arguments = parser.parse_args()
    if arguments.frames < 2:
        raise SystemExit(f"make_pictures: --frames is {arguments.frames}, must be at least 2")
    os.makedirs(arguments.output, exist_ok=True)
    server = Server(arguments.program, arguments.model)
    browser = Browser(find_chromium())
    try:
        seconds = open_story(browser, server.address, arguments.language, arguments.sentence)
        with tempfile.TemporaryDirectory(prefix="dragoman-pictures-") as folder:
            files = take_frames(browser, seconds, arguments.frames, folder)
            name = "story.webp" if arguments.language == "en" else f"story_{arguments.language}.webp"
            join(files, os.path.join(arguments.output, name))
    finally:
        browser.close()
        server.close()


if __name__ == "__main__":
    main()
