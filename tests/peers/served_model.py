"""A small model, and a server of it on a port of its own: what the checks of `dragoman serve` share."""

import re
import signal
import subprocess
import sys


failures = []  # names of what differs


def check(name, seen, expected):
    """Says whether what a client gives is what was expected."""
    is_equal = seen == expected
    print(f"{'same' if is_equal else 'DIFFERENT'}  {name}")
    if not is_equal:
        print(f"  seen     {repr(seen)[:300]}\n  expected {repr(expected)[:300]}")
        failures.append(name)


def train(program, folder):
    """A model of the sample corpus that has seen a few batches: what it answers does not matter here."""
    corpus, model = folder / "corpus", folder / "model"
    subprocess.run([program, "sample-corpus", "--pair", "en-de", "--seed", "1", "--output", corpus], check=True)
    subprocess.run(
        [program, "train", "--preset", "tiny", "--model", model, "--vocab-size", "500", "--max-steps", "20"]
        + ["--source", corpus / "train.en", "--target", corpus / "train.de"]
        + ["--valid-source", corpus / "valid.en", "--valid-target", corpus / "valid.de"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return model


LINES = ["the cat runs and the dog sleeps.", "be kind: who are you, why, my system?", "a mouse runs to the house.", "the house is old and the dog is new."]


def train_language_model(program, folder):
    """A character model that has seen a few batches."""
    text, model = folder / "text", folder / "letters"
    text.write_text("".join(line + "\n" for _ in range(300) for line in LINES))
    command = [program, "train", "--preset", "gpt-mini", "--text", text, "--valid-text", text, "--model", model]
    subprocess.run([*command, "--max-steps", "20"], check=True, stderr=subprocess.DEVNULL)
    return model


LABELLED = [("day", "the sun is high at noon"), ("night", "the moon is high at night"), ("day", "a cat runs at noon")]


def train_classifier(program, folder):
    """An encoder that has seen a few batches of labelled texts."""
    text, model = folder / "labelled.tsv", folder / "labels"
    text.write_text("".join(f"{label}\t{line}\n" for _ in range(40) for label, line in LABELLED))
    command = [program, "train", "--preset", "bert-mini", "--task", "classify", "--text", text, "--valid-text", text]
    command += ["--model", model, "--layers", "1", "--d-model", "32", "--d-ff", "64", "--n-heads", "2", "--vocab-size", "100"]
    subprocess.run([*command, "--max-steps", "20"], check=True, stderr=subprocess.DEVNULL)
    return model


class Server:
    """`dragoman serve`, from English to German, until the block ends. address: where; status: how it ended.

    languages: those before the folder; "" for a language model.
    """

    def __init__(self, program, model, *more, languages="en:de="):
        self.command = [program, "serve", "--model", f"{languages}{model}", "--port", "0", *more]
        self.address = self.status = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, encoding="utf-8")
        for line in self.process.stderr:
            if found := re.search(r"serving at (http://\S+)", line):
                self.address = found[1]
                return self
        sys.exit("the server did not start")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(timeout=60)
