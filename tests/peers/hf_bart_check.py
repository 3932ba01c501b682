#!/usr/bin/env python3
"""Compares imported models of the family of BART with transformers on many lines: ids, logits, greedy and beam search of 4.

Makes the folders of tests/golden/make_hf_m2m100.py (M2M-100, NLLB-200, mBART-50) and make_hf_bart.py with COUNT lines each (200
unless given), random weights included, and runs the tests of the stored folders on them.
Needs torch, transformers, sentencepiece, tokenizers, safetensors:  python3 hf_bart_check.py build/tests/interop [COUNT]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

KINDS = [("make_hf_m2m100.py", "interop_hf_m2m100_test", "*StoredM2m100*", "DRAGOMAN_M2M100_FOLDERS"),
         ("make_hf_bart.py", "interop_hf_bart_test", "*StoredBart*", "DRAGOMAN_BART_FOLDERS")]


def main():
    programs, count = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "200"
    golden = pathlib.Path(__file__).parent.parent / "golden"
    status = 0
    for maker, program, tests, variable in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(golden / maker), folder, count], check=True)
            done = subprocess.run([str(programs / program), f"--gtest_filter={tests}"], env=os.environ | {variable: folder})
        print(f"{maker}: {count} lines of each folder: {'equal' if done.returncode == 0 else 'DIFFERENT'}")
        status = status or done.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
