#!/usr/bin/env python3
"""Uses the web page as people do, in a headless Chromium, against a real server.
  page_check.py --program build/dragoman --output build/page [--model DIR] [--pictures]
With --pictures it leaves pictures of every view in OUTPUT, at 390 and 1280 pixels, light and dark. Exit status 77 when there is
no Chromium. Without --model it trains one on the sample corpus for some seconds, once.
"""
import argparse
import os
import sys
import time
import traceback

import alone_flows
import attacks
import compare_flows
import convolutional_flows
import encoder_flows
import flows
import formulas
import lab_flows
import manners
import read_flows
import recurrent_flows
import rules
import story
import watch_flows
import write_flows
import written_pages
from devtools import Browser, find_chromium
from server import Server, make_language_model, make_model

VIEWS = ("translate", "inside", "card")
STAGES = ("Soft-max turns scores into weights",)


def pictures(browser, server, output):
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
        for width, height in ((1280, 900), (390, 844)):
            browser.size(width, height)
            browser.open(server.address + "/")
            browser.wait("document.querySelector('.start') !== null")
            browser.wait_until_still()
            browser.picture(os.path.join(output, f"start-{width}-{theme}.png"))
            rules.check_page(browser, f"start-{width}-{theme}")
            rules.check_text_size(browser, f"start-{width}-{theme}")
            flows.translate(browser, flows.SENTENCE)
            browser.wait("document.querySelectorAll('#output .word').length > 0")
            for view in VIEWS:
                flows.show_tab(browser, view)
                if view == "inside":
                    story_pictures(browser, output, f"{width}-{theme}")
                    flows.look_inside(browser)
                    flows.go_to(browser, STAGES[0])
                if view == "card":
                    browser.wait("document.querySelector('.part-bars') !== null")
                browser.wait_until_still()
                place = f"{view}-{width}-{theme}"
                browser.picture(os.path.join(output, f"{place}.png"))
                rules.check_page(browser, place)
                rules.check_text_size(browser, place)
                if theme == "light" and width == 1280:
                    rules.check_focus_order(browser, place)


def story_pictures(browser, output, place):
    story.open_story(browser)
    for name, seconds in story.stills(browser)[:11] + story.stills(browser)[-1:]:
        story.scrub(browser, seconds)
        browser.picture(os.path.join(output, f"story-{place}-{name}.png"))
    rules.check_page(browser, f"story {place}")
    rules.check_text_size(browser, f"story {place}")


def another_model(browser, arguments, output, kind):
    """The formulas of a model with the norms of the paper, untied tables, GELU, learned positions and narrow keys, with batch norms, or
    with other positions."""
    positions = {"post": "learned", "rope": "rope", "t5": "relative"}.get(kind, "sinusoidal")
    with Server(arguments.program, make_model(arguments.program, output, kind)) as server:
        browser.open(server.address + "/")
        formulas.check_formulas(browser, "post" if kind in ("post", "rope") else "pre", is_batch=kind == "batch", positions=positions, is_scaled=kind != "t5", has_biases=kind != "t5")
        formulas.check_ask(browser, positions, is_scaled=kind != "t5")
        if kind == "post":
            formulas.check_narrow_keys(browser)


def undrawn_model(browser, arguments, output):
    with Server(arguments.program, make_model(arguments.program, output, "ssru")) as server:
        compare_flows.check_not_offered(browser, server)


def hostile_name(browser, arguments, output):
    """The name of a model's folder is text too."""
    folder = os.path.join(output, "<img src=x onerror=window.ran=1>")
    if not os.path.islink(folder):
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(arguments.model):
            target = os.path.join(folder, name)
            if os.path.isfile(os.path.join(arguments.model, name)) and not os.path.exists(target):
                os.link(os.path.join(arguments.model, name), target)
    with Server(arguments.program, folder) as server:
        browser.open(server.address + "/#card")
        flows.show_tab(browser, "card")
        browser.wait("document.querySelector('.card-title') !== null")
        flows.expect("onerror" in browser.run("document.querySelector('.card-title').textContent"), "the name is not shown")
        attacks.check_nothing_ran(browser, folder, "the model's name")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--model")
    parser.add_argument("--only", default="", help="checks whose name holds this")
    parser.add_argument("--pictures", action="store_true", help="leave pictures of all views in the folder of the output")
    arguments = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        print("skipped: there is no Chromium; scripts/install_dependencies.sh --browser installs it")
        return 77
    os.makedirs(arguments.output, exist_ok=True)
    arguments.output = os.path.abspath(arguments.output)
    arguments.model = arguments.model or make_model(arguments.program, arguments.output)
    server = Server(arguments.program, arguments.model)
    browser = Browser(chromium, arguments.pictures)
    failed = 0

    def check(name, action):
        nonlocal failed
        if arguments.only not in name:
            return
        began = time.time()
        try:
            browser.errors.clear()
            action()
            flows.expect(not browser.errors, f"the page reports {browser.errors[:5]}")
            print(f"ok      {name} ({time.time() - began:.1f} s)", flush=True)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
            traceback.print_exc(limit=4)

    try:
        browser.size(1280, 900)
        browser.open(server.address + "/")
        check("translate", lambda: flows.check_translate(browser, server, arguments.output))
        check("blank alternatives", lambda: flows.check_blank_alternatives(browser))
        check("story length", lambda: story.check_length(browser, server))
        check("story controls", lambda: story.check_controls(browser))
        check("story sentences", lambda: story.check_both_sentences(browser, server))
        check("story numbers", lambda: story.check_numbers(browser, server))
        check("story study", lambda: story.check_study_from_every_scene(browser))
        check("story links", lambda: story.check_links(browser, server))
        check("story phone", lambda: story.check_phone(browser, server))
        check("story calm", lambda: story.check_calm(browser, server))
        check("story of a large model", lambda: story.check_large_model(browser))
        check("story frames", lambda: story.check_frames(browser))
        check("formulas pre", lambda: formulas.check_formulas(browser, "pre"))
        check("formulas product", lambda: formulas.check_product(browser))
        check("formulas shapes", lambda: formulas.check_shapes(browser))
        check("formulas post", lambda: another_model(browser, arguments, arguments.output, "post"))
        check("formulas batch norm", lambda: another_model(browser, arguments, arguments.output, "batch"))
        check("formulas rotary", lambda: another_model(browser, arguments, arguments.output, "rope"))
        check("formulas relative", lambda: another_model(browser, arguments, arguments.output, "t5"))
        browser.open(server.address + "/")
        check("steps", lambda: flows.check_steps(browser))
        check("study of long sentences", lambda: flows.check_study_of_long_sentences(browser))
        check("attention", lambda: flows.check_attention(browser, server))
        check("output", lambda: flows.check_output(browser, server))
        check("card", lambda: flows.check_card(browser, server))
        check("languages", lambda: flows.check_languages(browser))
        browser.open(server.address + "/")
        for name, action in manners.checks(browser, server, arguments.output):
            check(name, action)
        check("report", lambda: written_pages.check_report(browser, arguments.model, arguments.output))
        check("attention page", lambda: written_pages.check_attention(browser, arguments.program, arguments.model, arguments.output))
        browser.open(server.address + "/")
        check("pictures, names, contrast, width, focus", lambda: pictures(browser, server, arguments.output))
        check("laboratory", lambda: lab_flows.check_laboratory(browser))
        check("laboratory: names, contrast, width, focus", lambda: lab_flows.check_looks(browser, server, arguments.output))
        check("two sentences", lambda: compare_flows.check_comparison(browser, server))
        check("two sentences: names, contrast, width, focus", lambda: compare_flows.check_looks(browser, server, arguments.output))
        check("a decoder that is not drawn", lambda: undrawn_model(browser, arguments, arguments.output))
        browser.open(server.address + "/")
        check("a run is watched", lambda: watch_flows.check_watch(browser, arguments.program, arguments.output))
        check("a run is replayed", lambda: watch_flows.check_real_run(browser, arguments.program, arguments.model))
        browser.open(server.address + "/")
        language_model = make_language_model(arguments.program, arguments.output)
        for name, action in write_flows.checks(browser, arguments.program, arguments.output, arguments.model, language_model):
            check(name, action)
        for name, action in alone_flows.checks(browser, arguments.program, arguments.output):
            check(name, action)
        for name, action in encoder_flows.checks(browser, arguments.program, arguments.output):
            check(name, action)
        for name, action in read_flows.checks(browser, arguments.program, arguments.output, arguments.model):
            check(name, action)
        for flow in (recurrent_flows, convolutional_flows):
            for name, action in flow.checks(browser, arguments.program, arguments.output):
                check(name, action)
        browser.open(server.address + "/")
        check("a hostile model name", lambda: hostile_name(browser, arguments, arguments.output))
        browser.open(server.address + "/")

        def hostile():
            flows.expect(attacks.check_payloads(browser, server) >= 50, "fewer than 50 payloads")
            # The server refused what was hostile, and Chromium says so; anything else would be an error.
            browser.errors[:] = [error for error in browser.errors if "400 (Bad Request)" not in error and "404" not in error]
        check("50 hostile texts", hostile)
    finally:
        browser.close()
        server.close()
    if arguments.pictures:
        print(f"pictures are in {arguments.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
