#!/usr/bin/env python3
"""Runs tests/golden/make_golden*.py with the PyTorch at hand and compares the results with the stored golden files.

The C++ tests hold the program to the stored files; this check holds the stored files to PyTorch.
Usage: pytorch_check.py [PROGRAM [CORPORA]]   (both unused: the golden files need neither)
"""

import pathlib
import subprocess
import sys
import tempfile

import torch  # the makers need it; here it only names the version
from safetensors.numpy import load_file

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
TOLERANCE = 1e-5  # relative to the largest value of a tensor; float64 inside, float32 on disk


def compare(stored, made):
    if stored.keys() != made.keys():
        return [f"tensors differ: {sorted(stored.keys() ^ made.keys())}"]
    faults = []
    for name, expected in stored.items():
        seen = made[name]
        if seen.shape != expected.shape:
            faults.append(f"{name}: shape {seen.shape}, stored {expected.shape}")
            continue
        difference = abs(seen.astype("float64") - expected.astype("float64")).max()
        largest = max(abs(expected.astype("float64")).max(), 1e-3)
        if difference > TOLERANCE * largest:
            faults.append(f"{name}: differs by {difference:.3g}, largest value {largest:.3g}")
    return faults


def main():
    with tempfile.TemporaryDirectory() as folder:
        for maker in sorted(GOLDEN.glob("make_golden*.py")):
            subprocess.run([sys.executable, str(maker), folder], check=True, stdout=subprocess.DEVNULL)
        failed = False
        for path in sorted(GOLDEN.glob("*.safetensors")):
            made = pathlib.Path(folder) / path.name
            faults = compare(load_file(path), load_file(made)) if made.exists() else ["no maker makes it"]
            print(f"{path.name}: torch {torch.__version__}: {'same' if not faults else 'DIFFERENT'}")
            for fault in faults:
                print("  " + fault)
            failed = failed or bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
