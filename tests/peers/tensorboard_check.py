"""Opens dragoman's event files with the real TensorBoard and compares what it reads.

    python tensorboard_check.py build/dragoman [CORPORA] [--model DIR]

1. The files of a run that stopped after step 10 and went on from step 6 (tests/training/tensorboard_sample.cpp):
   one curve, no step twice, the second run's values from step 7 on.
2. With --model DIR: each curve of a trained model folder against its metrics.jsonl.
Needs tensorboard. Ends with status 1 if anything differs.
"""

import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util import tensor_util

CURVES = {
    "train": ["loss", "learning_rate", "tokens_per_second", "grad_norm"],
    "validation": ["loss", "perplexity", "bleu", "chrf"],
}


def scalars(folder, tag):
    """(step, value) of a curve as programs read it."""
    reader = event_accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    reader.Reload()
    return [(event.step, event.value) for event in reader.Scalars(tag)] if tag in reader.Tags()["scalars"] else None


def shown(folder, tag):
    """(step, value) of a curve or text as the pages of TensorBoard read it."""
    reader = plugin_event_accumulator.EventAccumulator(str(folder), size_guidance={"tensors": 0})
    reader.Reload()
    values = [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in reader.Tensors(tag)]
    return [(step, value.item() if value.ndim == 0 else value[0].decode()) for step, value in values]


def check(name, seen, expected):
    is_equal = seen == expected
    print(f"{'same' if is_equal else 'DIFFERENT'}  {name}: {len(expected)} values")
    if not is_equal:
        print(f"  seen     {seen}\n  expected {expected}")
    return is_equal


def check_sample(program):
    writer = pathlib.Path(program).resolve().parent / "tests" / "report" / "report_tensorboard_sample"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder], check=True)
        values = [(step, (100.0 if step <= 6 else 200.0) + step) for step in range(1, 13)]
        texts = [(step, "first run" if step <= 6 else "second run: die Straße") for step in range(1, 13)]
        return all(
            [
                check("curve of a resumed run", scalars(folder, "train/loss"), values),
                check("curve of a resumed run as shown", shown(folder, "train/loss"), values),
                check("texts of a resumed run as shown", shown(folder, "validation/sample"), texts),
            ]
        )


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def comparable(points):
    """NaN as None, so that equal lists compare equal."""
    return [(step, None if not math.isfinite(value) else value) for step, value in points or []]


def check_model(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    is_equal = True
    for kind, keys in CURVES.items():
        for key in keys:
            mine = [row for row in rows if row["kind"] == kind]
            points = [(row["step"], math.nan if row[key] is None else float32(row[key])) for row in mine]
            if points:
                tag = f"{kind}/{key}"
                is_equal = check(tag, comparable(scalars(folder, tag)), comparable(points)) and is_equal
    return is_equal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?", help="not used; every peer check takes the same arguments")
    parser.add_argument("--model", type=pathlib.Path)
    options = parser.parse_args()
    is_equal = check_sample(options.program)
    if options.model:
        is_equal = check_model(options.model) and is_equal
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
