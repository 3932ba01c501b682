#!/usr/bin/env python3
"""Checks that dragoman and the reference `safetensors` package read each other's files.

    python safetensors_check.py build/dragoman [CORPORA]

Beside the program stands the test tool build/tests/tensor/safetensors_tool: `write SEED FILE` makes a file of random
tensors and prints one line a tensor (name, dtype, shape, SHA-256 of its bytes, separated by tabs), `read FILE` prints
the same lines for any file. 200 random files go each way. Needs safetensors and torch. Exit status 1 when any differs.
"""

import hashlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "int8": torch.int8,
    "int32": torch.int32,
    "bool": torch.bool,
    "float64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FILES = 200


def describe(tensors):
    """The lines that the tool prints for these tensors."""
    lines = []
    for name in sorted(tensors, key=lambda text: text.encode()):
        tensor = tensors[name].contiguous()
        # A view as bytes works for every dtype, also for those numpy lacks.
        data = bytes(tensor.reshape(-1).view(torch.uint8).tolist())
        shape = ",".join(str(size) for size in tensor.shape)
        lines.append(f"{name}\t{NAMES[tensor.dtype]}\t[{shape}]\t{hashlib.sha256(data).hexdigest()}")
    return lines


def random_tensors(generator):
    tensors = {}
    for index in range(generator.randrange(1, 8)):
        dtype = generator.choice(list(DTYPES.values()))
        shape = [generator.randrange(1, 6) for _ in range(generator.randrange(0, 5))]
        values = torch.randint(0, 2 if dtype == torch.bool else 100, shape)
        tensors[f"layer.{index}.wéight"] = values.to(dtype)
    return tensors


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, encoding="utf-8").stdout.splitlines()


def compare(what, expected, seen):
    if expected != seen:
        sys.exit(f"{what}: expected\n" + "\n".join(expected) + "\nseen\n" + "\n".join(seen))


def main():
    program = str(Path(sys.argv[1]).resolve().parent / "tests" / "tensor" / "safetensors_tool")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tensors.safetensors")
        for seed in range(FILES):
            written = run(program, "write", str(seed), path)
            compare(f"file {seed} of dragoman, read by safetensors", written, describe(load_file(path)))
            with safe_open(path, framework="pt") as opened:
                compare("metadata", ["dragoman"], [opened.metadata()["format"]])
            generator = random.Random(seed)
            torch.manual_seed(seed)
            tensors = random_tensors(generator)
            save_file(tensors, path, metadata={"format": "pt"} if seed % 2 else None)
            compare(f"file {seed} of safetensors, read by dragoman", describe(tensors), run(program, "read", path))
    print(f"safetensors: {FILES} files each way agree")


if __name__ == "__main__":
    main()
