"""Speaks to `dragoman serve` with the clients of LibreTranslate and DeepL, unchanged but for the address.

    python serving_clients_check.py build/dragoman [CORPORA] [--model DIR]

Trains a small model for some steps (or takes DIR, from English to German), serves it without and with API keys, and
lets libretranslatepy and deepl translate, detect, list languages, ask for usage, keep glossaries, and fail. What they
give back is compared with `dragoman translate`.
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
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from libretranslatepy import LibreTranslateAPI

from served_model import Server, check, failures, train

TEXTS = ["The animal didn't cross the street because it was too tired.", "The red car is new.", "Two dogs sleep."]
TERMS = {"street": "Gasse", "car": "Wagen", "dogs": "Tiere"}


def offline(program, model, *options):
    text = "\n".join(TEXTS) + "\n"
    command = [program, "translate", "--model", model, *options]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()


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
    pairs = [(one.source_lang, one.target_lang) for one in client.get_glossary_languages()]
    check("deepl: glossary languages", pairs, [("en", "de")])
    usage = client.get_usage()
    check("deepl: usage", (usage.character.count > 0, usage.any_limit_reached), (True, False))
    try:
        client.translate_text("a", target_lang="XX")
        check("deepl: unknown language", "no error", "DeepLException")
    except deepl.DeepLException as error:
        check("deepl: unknown language", "Value for 'target_lang' not supported." in str(error), True)


def error_of(action):
    try:
        action()
    except deepl.DeepLException as error:
        return error
    return None


def check_glossaries_2(client, expected, with_terms):
    made = client.create_glossary("animals", "EN", "DE", TERMS)
    check("deepl: glossary made", (made.name, made.source_lang, made.target_lang, made.entry_count, made.ready),
          ("animals", "EN", "DE", len(TERMS), True))
    check("deepl: glossary entries", client.get_glossary_entries(made), TERMS)
    check("deepl: glossary found", str(client.get_glossary(made.glossary_id).creation_time), str(made.creation_time))
    check("deepl: glossaries", [one.glossary_id for one in client.list_glossaries()], [made.glossary_id])
    results = client.translate_text_with_glossary(TEXTS, made)
    check("deepl: translate with a glossary", [one.text for one in results], with_terms)
    csv = client.create_glossary_from_csv("csv", "EN", "DE", 'car,"Wagen ""x"""\n')
    check("deepl: glossary of a CSV", client.get_glossary_entries(csv), {"car": 'Wagen "x"'})
    for one in (made, csv):
        client.delete_glossary(one)
    gone = error_of(lambda: client.get_glossary(made.glossary_id))
    check("deepl: glossary removed", type(gone), deepl.GlossaryNotFoundException)
    gone = error_of(lambda: client.translate_text(TEXTS[0], source_lang="EN", target_lang="DE", glossary=made))
    check("deepl: translate with a removed glossary", "Glossary not found" in str(gone), True)
    check("deepl: glossary of other languages",
          "Unsupported glossary" in str(error_of(lambda: client.create_glossary("x", "DE", "EN", TERMS))), True)
    check("deepl: no glossaries left", (client.list_glossaries(), expected == with_terms), ([], False))


def check_glossaries_3(client, with_terms):
    entries = MultilingualGlossaryDictionaryEntries
    made = client.create_multilingual_glossary("first", [entries("EN", "DE", {"car": "Auto"})])
    check("deepl 3: glossary made", [(one.source_lang, one.target_lang, one.entry_count) for one in made.dictionaries],
          [("EN", "DE", 1)])
    check("deepl 3: renamed", client.update_multilingual_glossary_name(made, "second").name, "second")
    merged = client.update_multilingual_glossary_dictionary(made, entries("EN", "DE", {"car": "Wagen", "red": "rot"}))
    check("deepl 3: entries merged", merged.dictionaries[0].entry_count, 2)
    put = client.replace_multilingual_glossary_dictionary(made, entries("EN", "DE", TERMS))
    check("deepl 3: dictionary replaced", put.entry_count, len(TERMS))
    seen = client.get_multilingual_glossary_entries(made, "EN", "DE").dictionaries[0]
    check("deepl 3: entries", seen.entries, "".join(f"\n{a}\t{b}" for a, b in TERMS.items())[1:])
    check("deepl 3: listed", [one.name for one in client.list_multilingual_glossaries()], ["second"])
    results = client.translate_text(TEXTS, source_lang="EN", target_lang="DE", glossary=made.glossary_id)
    check("deepl 3: translate with a glossary", [one.text for one in results], with_terms)
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="DE")
    check("deepl 3: dictionary removed", client.get_multilingual_glossary(made.glossary_id).dictionaries, [])
    client.delete_multilingual_glossary(made)
    gone = error_of(lambda: client.get_multilingual_glossary(made.glossary_id))
    check("deepl 3: glossary removed", type(gone), deepl.GlossaryNotFoundException)


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
        (folder / "terms").write_text("".join(f"{a}\t{b}\n" for a, b in TERMS.items()), encoding="utf-8")
        with_terms = offline(program, model, "--terms", folder / "terms")
        kept = ["--glossaries", folder / "glossaries"]
        with Server(program, model, *kept) as server:
            check_libretranslate(server.address, expected)
            check_deepl(server.address, expected, "any")
            client = deepl.DeepLClient("any", server_url=server.address)
            check_glossaries_2(client, expected, with_terms)
            check_glossaries_3(client, with_terms)
            made = client.create_glossary("kept", "EN", "DE", TERMS)
        check("the server ends in status", server.status, 0)
        with Server(program, model, *kept) as server:
            client = deepl.DeepLClient("any", server_url=server.address)
            check("deepl: a glossary survives a restart", client.get_glossary_entries(made), TERMS)
        with Server(program, model) as server:
            client = deepl.DeepLClient("any", server_url=server.address)
            refused = error_of(lambda: client.create_glossary("x", "EN", "DE", TERMS))
            check("deepl: no folder for glossaries", "--glossaries" in str(refused), True)
        (folder / "keys").write_text(hashlib.sha256(b"secret").hexdigest() + " someone\n", encoding="utf-8")
        with Server(program, model, "--api-keys", folder / "keys", *kept) as server:
            check_libretranslate(server.address, expected, "secret")
            check_deepl(server.address, expected, "secret")
            client = deepl.DeepLClient("secret", server_url=server.address)
            check("deepl: a key sees its own glossaries", client.list_glossaries(), [])
            check_glossaries_2(client, expected, with_terms)
            check_keys(server.address)
    print(f"clients: {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
