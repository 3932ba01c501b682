"""Compares the package with the command line, and measures the import. Run it on an idle machine; it is no part of CI.

    python python/checks/speed_check.py [--lines 40000] [--pairs 7] [--folder FOLDER]

Both translate the same lines with the same options, from the start of the process to its end, one after the other in turn.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bulk

SCRIPT = """
import sys, dragoman
model, source, target, beam = sys.argv[1:]
lines = open(source, encoding="utf-8").read().splitlines()
translations = dragoman.load(model).translate(lines, beam_size=int(beam))
open(target, "w", encoding="utf-8").write("".join(line + "\\n" for line in translations))
"""


def seconds_of(*command: object) -> tuple[float, float]:
    """Returns the seconds of a process, and its seconds of processor time."""
    began = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"{command[0]} ended with {status}"
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime


def median(pairs: list[tuple[float, float]], which: int) -> float:
    return statistics.median(pair[which] for pair in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=40_000)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keeps corpus and model for another time")
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.2f} of {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as work:
        model, _, texts = bulk.make(arguments.folder or Path(work) / "kept", arguments.lines)
        source, ours, theirs = Path(work) / "source", Path(work) / "python", Path(work) / "program"
        source.write_text("".join(line + "\n" for line in texts))
        for beam in (1, 4):
            python = (sys.executable, "-c", SCRIPT, model, source, ours, beam)
            program = (bulk.program(), "translate", "--model", model, "--input", source, "--output", theirs, "--beam-size", beam)
            pairs = [(seconds_of(*python), seconds_of(*program)) for _ in range(arguments.pairs + 1)][1:]  # the first warms up
            assert ours.read_bytes() == theirs.read_bytes(), "the package and the program translate differently"
            for which, name in ((0, "seconds"), (1, "seconds of processor time")):
                ratios = sorted(there[which] / here[which] for here, there in pairs)
                print(f"beam {beam}, {name}: package {statistics.median(here[which] for here, _ in pairs):.2f}, program "
                      f"{statistics.median(there[which] for _, there in pairs):.2f}; speed of the package "
                      f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) of that of the program")
    times = {code: [seconds_of(sys.executable, "-c", code) for _ in range(11)] for code in ("pass", "import numpy", "import dragoman")}
    for which, name in ((0, "seconds"), (1, "seconds of processor time")):
        empty = median(times["pass"], which)
        print(f"import dragoman, {name}: {median(times['import dragoman'], which) - empty:.3f}, of which NumPy takes "
              f"{median(times['import numpy'], which) - empty:.3f}")


if __name__ == "__main__":
    main()
