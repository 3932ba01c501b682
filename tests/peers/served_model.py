"""A small model, and a server of it on a port of its own: what the checks of `dragoman serve` share."""

import re
import signal
import subprocess
import sys


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


class Server:
    """`dragoman serve`, from English to German, until the block ends. address: where; status: how it ended."""

    def __init__(self, program, model, *more):
        self.command = [program, "serve", "--model", f"en:de={model}", "--port", "0", *more]
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
