"""Times llm.c's trainer of GPT-2 (train_gpt2.c, Karpathy 2024) on the CPU: a peer of compare_language_models.py.

The trainer reads a checkpoint of 124 million weights, a tokenizer and two files of tokens from its working folder. They
are made here with random content, since the time of an update does not depend on it. It trains on 4 windows of 64
tokens, which its source fixes.
"""

import array
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

WINDOWS, LENGTH = 4, 64
LAYERS, HEADS, WIDTH, CONTEXT, VOCABULARY, PADDED_VOCABULARY = 12, 12, 768, 1024, 50257, 50304
WARMUP, MEASURED = 2, 8  # updates; the trainer makes 41, with samples between them


def header(*values):
    return array.array("i", [*values, *[0] * (256 - len(values))]).tobytes()


def write_checkpoint(path):
    layer = 12 * WIDTH * WIDTH + 13 * WIDTH
    weights = (PADDED_VOCABULARY + CONTEXT) * WIDTH + LAYERS * layer + 2 * WIDTH
    source = random.Random(1)
    part = array.array("f", [source.gauss(0, 0.02) for _ in range(100_003)])  # repeated: no row equals another
    with open(path, "wb") as file:
        file.write(header(20240326, 3, CONTEXT, VOCABULARY, LAYERS, HEADS, WIDTH, PADDED_VOCABULARY))
        for begin in range(0, weights, len(part)):
            file.write(part[: weights - begin].tobytes())


def write_tokens(path, count):
    path.parent.mkdir(parents=True, exist_ok=True)
    source = random.Random(2)
    tokens = array.array("H", [source.randrange(VOCABULARY) for _ in range(count)])
    path.write_bytes(header(20240520, 1, count) + tokens.tobytes())


def tokens_per_second(checkout, threads):
    """The median over the updates after the warm-up.

    checkout: folder of llm.c in which `make train_gpt2` was run. Raises RuntimeError when the trainer fails.
    """
    program = pathlib.Path(checkout).resolve() / "train_gpt2"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_checkpoint(folder / "gpt2_124M.bin")
        for part in ("train", "val"):
            write_tokens(folder / f"dev/data/tinyshakespeare/tiny_shakespeare_{part}.bin", 100 * WINDOWS * LENGTH + 1)
        command = ["stdbuf", "-oL", program]  # each line when it is written
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, errors="replace",
                              env={**os.environ, "OMP_NUM_THREADS": str(threads)}) as trainer:
            lines, milliseconds = [], []
            for line in trainer.stdout:
                lines.append(line)
                milliseconds += [float(found) for found in re.findall(r"^step \d+: .*took ([\d.]+) ms", line)]
                if len(milliseconds) == WARMUP + MEASURED:
                    trainer.kill()
                    break
    if len(milliseconds) < WARMUP + MEASURED:
        raise RuntimeError(f"{program}: status {trainer.returncode}: {''.join(lines).strip()[-500:]}")
    return WINDOWS * LENGTH * 1000 / statistics.median(milliseconds[WARMUP:])
