"""The Python interpreter that a peer of a benchmark runs in."""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / ".venv-benchmarks"


def has_packages(python, packages):
    imports = "; ".join(f"import {package}" for package in packages)
    return subprocess.run([python, "-c", imports], capture_output=True).returncode == 0


def find(packages, asked, fail):
    """An interpreter that can import the packages, in this order: the one asked for, that of the environment variable
    DRAGOMAN_BENCHMARK_PYTHON, the one that runs this, .venv-benchmarks in the repository, which is made or completed.

    fail: is called with a message when the interpreter that was named cannot.
    """
    asked = asked or os.environ.get("DRAGOMAN_BENCHMARK_PYTHON")
    if asked:
        asked = os.path.abspath(asked) if os.sep in asked else asked  # a link is kept: it is what makes the environment
        if not has_packages(asked, packages):
            fail(f"{asked} cannot import {', '.join(packages)}; name another interpreter with --python")
        return asked
    if has_packages(sys.executable, packages):
        return sys.executable
    python = str(FOLDER / "bin" / "python")
    if not (os.path.exists(python) and has_packages(python, packages)):
        print(f"installing {', '.join(packages)} into {FOLDER}: some minutes", flush=True)
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python
