"""Speaks to `dragoman serve` with the clients of LibreTranslate and DeepL, unchanged but for the address.

    python serving_clients_check.py build/dragoman [CORPORA] [--model DIR]

Trains a small model for some steps (or takes DIR, from English to German), serves it without and with API keys, and
lets libretranslatepy and deepl translate, detect, list languages, ask for usage, and fail. What they give back is
compared with `dragoman translate`.
Needs libretranslatepy and deepl. Ends with status 1 if anything differs.
"""

import argparse
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import urllib.error

import deepl
from libretranslatepy import LibreTranslateAPI

from served_model import Server, train

TEXTS = ["The animal didn't cross the street because it was too tired.", "The red car is new.", "Two dogs sleep."]
failures = []


def check(name, seen, expected):
    is_equal = seen == expected
    print(f"{'same' if is_equal else 'DIFFERENT'}  {name}")
    if not is_equal:
        print(f"  seen     {seen!r}\n  expected {expected!r}")
        failures.append(name)


def offline(program, model):
    text = "\n".join(TEXTS) + "\n"
    done = subprocess.run([program, "translate", "--model", model], input=text, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def check_libretranslate(address, expected, key=None):
    client = LibreTranslateAPI(address + "/", api_key=key)
    check("libretranslatepy: translate", [client.translate(text, "en", "de") for text in TEXTS], expected)
    check("libretranslatepy: translate from auto", client.translate(TEXTS[0], "auto", "de"), expected[0])
    check("libretranslatepy: languages", [one["code"] for one in client.languages()], ["en", "de"])
    check("libretranslatepy: detect", client.detect("Das ist ein deutscher Satz.")[0]["language"], "de")
    try:
        client.translate("a", "en", "zz")
        check("libretranslatepy: unknown language", "no error", "HTTPError 400")
    except urllib.error.HTTPError as error:
        check("libretranslatepy: unknown language", (error.code, error.read()), (400, b'{"error":"zz is not supported"}\n'))


def check_deepl(address, expected, key):
    client = deepl.DeepLClient(key, server_url=address)
    results = client.translate_text(TEXTS, source_lang="EN", target_lang="DE")
    check("deepl: translate a batch", [one.text for one in results], expected)
    check("deepl: billed characters", [one.billed_characters for one in results], [len(text) for text in TEXTS])
    one = client.translate_text(TEXTS[0], target_lang="DE")
    check("deepl: translate one, language detected", (one.text, one.detected_source_lang), (expected[0], "EN"))
    check("deepl: source languages", [one.code for one in client.get_source_languages()], ["EN"])
    check("deepl: target languages", [one.name for one in client.get_target_languages()], ["German"])
    check("deepl: glossary languages", client.get_glossary_languages(), [])
    check("deepl: glossaries", client.list_glossaries(), [])
    usage = client.get_usage()
    check("deepl: usage", (usage.character.count > 0, usage.any_limit_reached), (True, False))
    try:
        client.translate_text("a", target_lang="XX")
        check("deepl: unknown language", "no error", "DeepLException")
    except deepl.DeepLException as error:
        check("deepl: unknown language", "Value for 'target_lang' not supported." in str(error), True)


def check_keys(address):
    try:
        LibreTranslateAPI(address + "/", api_key="wrong").translate("a", "en", "de")
        check("libretranslatepy: wrong key", "no error", "HTTPError 403")
    except urllib.error.HTTPError as error:
        check("libretranslatepy: wrong key", error.code, 403)
    try:
        deepl.DeepLClient("wrong", server_url=address).translate_text("a", target_lang="DE")
        check("deepl: wrong key", "no error", "AuthorizationException")
    except deepl.AuthorizationException:
        check("deepl: wrong key", True, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = arguments.model or train(program, folder)
        expected = offline(program, model)
        with Server(program, model) as server:
            check_libretranslate(server.address, expected)
            check_deepl(server.address, expected, "any")
        check("the server ends in status", server.status, 0)
        (folder / "keys").write_text(hashlib.sha256(b"secret").hexdigest() + " someone\n", encoding="utf-8")
        with Server(program, model, "--api-keys", folder / "keys") as server:
            check_libretranslate(server.address, expected, "secret")
            check_deepl(server.address, expected, "secret")
            check_keys(server.address)
    print(f"clients: {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
