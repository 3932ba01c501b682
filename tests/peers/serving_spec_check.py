"""Lets schemathesis look for requests whose answers are not what /spec says.

    python serving_spec_check.py build/dragoman [CORPORA] [--model DIR] [--examples 50]

Needs schemathesis. Ends with status 1 if it finds anything.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from served_model import Server, train, train_classifier, train_language_model


def check_named(model, program, tool, folder, examples):
    """The same with a server of a language model or an encoder: the statuses of schemathesis and of the server."""
    with Server(program, model, languages="") as server:
        command = [tool, "run", f"{server.address}/spec", "--continue-on-failure", "--seed", "1"]
        # OpenAPI cannot say that a prompt has characters of the vocabulary and fits into the context.
        command += ["--max-examples", str(examples), "--request-timeout", "60"]
        found = subprocess.run([*command, "--exclude-checks", "positive_data_acceptance"], cwd=folder).returncode
    return found, server.status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?")
    parser.add_argument("--model")
    parser.add_argument("--examples", type=int, default=50)
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    tool = pathlib.Path(sys.executable).parent / "schemathesis"
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or train(program, pathlib.Path(folder))
        # The limits are long: on a machine with other work a refusal "busy" is right, and says nothing about /spec.
        limits = ["--longest-wait", "60", "--request-time", "60"]
        with Server(program, model, "--glossaries", pathlib.Path(folder) / "glossaries", *limits) as server:
            command = [tool, "run", f"{server.address}/spec", "--continue-on-failure", "--seed", "1"]
            command += ["--max-examples", str(arguments.examples), "--request-timeout", "60"]
            apart = ["/translate_file", "/v1/inspect", "/v2/translate", "/v2/glossaries", "/v3/glossaries"]
            apart += [f"/v3/glossaries/{{glossary_id}}{rest}" for rest in ("", "/entries", "/dictionaries")]
            most = [word for path in apart for word in ("--exclude-path", path)]
            found = subprocess.run([*command, *most], cwd=folder).returncode
            # OpenAPI cannot say that a file's name must end in .txt, that a text must not be blank or have more than
            # 128 tokens, what modules a model has, that a glossary needs a source language, and how entries and their
            # languages are written, so that such requests are refused here.
            refused = [word for path in apart for word in ("--include-path", path)]
            refused += ["--exclude-checks", "positive_data_acceptance"]
            found_apart = subprocess.run([*command, *refused], cwd=folder).returncode
        of_named = {}
        for kind, train_model in (("language model", train_language_model), ("encoder", train_classifier)):
            named = train_model(program, pathlib.Path(folder))
            of_named[kind] = check_named(named, program, tool, folder, arguments.examples)
    print(f"schemathesis: status {found} and {found_apart}; the server ended in status {server.status}")
    for kind, (found_named, status) in of_named.items():
        print(f"schemathesis: status {found_named}; the server of the {kind} ended in {status}")
    return 1 if found or found_apart or server.status or any(map(any, of_named.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
