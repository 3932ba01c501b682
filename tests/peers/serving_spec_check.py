"""Lets schemathesis look for requests whose answers are not what /spec says.

    python serving_spec_check.py build/dragoman [CORPORA] [--model DIR] [--examples 50]

Needs schemathesis. Ends with status 1 if it finds anything.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from served_model import Server, train


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
        with Server(program, model) as server:
            command = [tool, "run", f"{server.address}/spec", "--continue-on-failure", "--seed", "1"]
            command += ["--max-examples", str(arguments.examples), "--request-timeout", "60"]
            found = subprocess.run([*command, "--exclude-path", "/translate_file"], cwd=folder).returncode
            # OpenAPI cannot say that a file's name must end in .txt, so that other names are refused here.
            refused = ["--include-path", "/translate_file", "--exclude-checks", "positive_data_acceptance"]
            found_in_files = subprocess.run([*command, *refused], cwd=folder).returncode
    print(f"schemathesis: status {found} and {found_in_files}; the server ended in status {server.status}")
    return 1 if found or found_in_files or server.status else 0


if __name__ == "__main__":
    sys.exit(main())
