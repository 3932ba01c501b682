#!/usr/bin/env python3
"""Compares imported T5 models with transformers on many texts: ids, logits, greedy and beam search of 4.

Makes the folders of tests/golden/make_hf_t5.py with COUNT texts each (200 unless given), new random weights included,
and runs the test of the stored folders on them.
Needs torch, transformers, sentencepiece, safetensors:  python3 hf_t5_check.py PROGRAM CORPORA [COUNT]
CORPORA is not used; every peer check takes the same arguments. PROGRAM is build/dragoman; its tests must be built.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    build, count = pathlib.Path(sys.argv[1]).resolve().parent, sys.argv[3] if len(sys.argv) > 3 else "200"
    test = build / "tests" / "interop" / "interop_hf_t5_test"
    maker = pathlib.Path(__file__).parent.parent / "golden" / "make_hf_t5.py"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(maker), folder, count], check=True)
        done = subprocess.run([test, "--gtest_filter=*StoredT5*"], env=os.environ | {"DRAGOMAN_T5_FOLDERS": folder})
    print(f"{count} texts of each folder: {'equal' if done.returncode == 0 else 'DIFFERENT'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
