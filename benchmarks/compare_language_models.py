#!/usr/bin/env python3
"""Trains and runs the same language models with dragoman and with its peers, in turn on the same cores.

    benchmarks/compare_language_models.py train [--only gpt-mini] [--bf16] [--rounds 3] [--llm-c DIR] [--json FILE]
    benchmarks/compare_language_models.py generate [--rounds 3] [--json FILE]

train: tokens a second of one update (forward, backward, clipping, AdamW) on windows of random tokens. The peer is
PyTorch (benchmarks/torch_gpt.py), eager and compiled; the faster of both counts. --llm-c names a checkout of llm.c whose
`train_gpt2` was built and has its files; then its own lines are printed beside gpt2-small with 4 windows of 64 tokens.

generate: the shape of GPT-2 with 124 million parameters and random weights, prompts of 128 tokens, 128 new ones, greedy;
1 and 32 prompts; float32 and int8. The peer is CTranslate2's Generator, with weights that are converted from a folder of
transformers. The bandwidth of memory is measured beside it: a step must read all weights once.

Python packages (torch, transformers, ctranslate2) come from the interpreter that --python or DRAGOMAN_BENCHMARK_PYTHON
names, or from the one that runs this script.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = {
    "gpt-mini": {"layers": 4, "d_model": 128, "n_heads": 4, "context": 64, "vocab_size": 65},
    "gpt-char": {"layers": 6, "d_model": 384, "n_heads": 6, "context": 256, "vocab_size": 65},
    "gpt2-small": {"layers": 12, "d_model": 768, "n_heads": 12, "context": 1024, "vocab_size": 50257},
}
# shape, windows of an update, tokens of a window, updates measured
TRAININGS = [
    ("gpt-mini", 12, 64, 30),
    ("gpt-char", 64, 256, 3),
    ("gpt2-small", 4, 64, 4),
    ("gpt2-small", 8, 512, 2),
]

GENERATE = """
import json, sys, time
import ctranslate2
folder, compute_type, prompts, runs, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
import random
random.seed(1)
generator = ctranslate2.Generator(folder, compute_type=compute_type, inter_threads=1, intra_threads=threads)
words = json.load(open(folder + "/vocabulary.json"))
starts = [[random.choice(words) for _ in range(128)] for _ in range(prompts)]
def run(new):
    begin = time.perf_counter()
    results = generator.generate_batch(starts, max_length=new, min_length=new, sampling_topk=1, beam_size=1,
                                       include_prompt_in_result=False, max_batch_size=prompts)
    assert all(len(result.sequences_ids[0]) == new for result in results)
    return time.perf_counter() - begin
run(8)
print(json.dumps({"run_seconds": [run(128) for _ in range(runs)]}))
"""

CONVERT = """
import sys
import transformers, torch, ctranslate2
folder = sys.argv[1]
torch.manual_seed(1)
config = transformers.GPT2Config()
model = transformers.GPT2LMHeadModel(config)
model.save_pretrained(folder + "/hf")
import json
vocabulary = {chr(0x4E00 + i) if i < 20000 else f"t{i}": i for i in range(50256)}
vocabulary["<|endoftext|>"] = 50256
json.dump(vocabulary, open(folder + "/hf/vocab.json", "w"))
open(folder + "/hf/merges.txt", "w").write("#version: 0.2\\n")
json.dump({"tokenizer_class": "GPT2Tokenizer"}, open(folder + "/hf/tokenizer_config.json", "w"))
converter = ctranslate2.converters.TransformersConverter(folder + "/hf")
converter.convert(folder + "/ct2", force=True)
"""


def last_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare_language_models.py: {' '.join(map(str, command[:4]))} ...: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def ours(program, shape, windows, length, steps, precision):
    return last_json(
        [program, "benchmark", "--train", "--json", "--shape", shape, "--sentences", str(windows)]
        + ["--target-length", str(length), "--steps", str(steps), "--precision", precision]
    )


def theirs(python, shape, windows, length, steps, precision, threads, compiled):
    job = {**SHAPES[shape], "windows": windows, "length": length, "steps": steps, "warmup": 2, "threads": threads}
    job |= {"precision": precision, "compiled": compiled}
    return last_json([python, HERE / "torch_gpt.py", json.dumps(job)])


def print_row(name, mine, peers):
    best = max(peers, key=peers.get)
    print(f"{name:<34}{mine:>10.0f}" + "".join(f"{peers[peer]:>14.0f}" for peer in peers) + f"{mine / peers[best]:>9.2f}")


def train(arguments, threads):
    print(f"{'training, tokens a second':<34}{'dragoman':>10}{'torch':>14}{'torch compiled':>14}{'ratio':>9}")
    rows = []
    for shape, windows, length, steps in TRAININGS:
        if arguments.only and arguments.only != shape:
            continue
        for precision, name in (("f32", "float32"), ("bf16", "bfloat16")):
            if precision == "bf16" and not arguments.bf16:
                continue
            mine, peers = [], {"eager": [], "compiled": []}
            for _ in range(arguments.rounds):
                mine.append(ours(arguments.program, shape, windows, length, steps, name)["tokens_per_second"])
                for peer in peers:
                    row = theirs(arguments.python, shape, windows, length, steps, precision, threads, peer == "compiled")
                    peers[peer].append(row["tokens_per_second"])
            medians = {peer: statistics.median(values) for peer, values in peers.items()}
            label = f"{shape} {windows} x {length} {name}"
            print_row(label, statistics.median(mine), medians)
            rows.append({"row": label, "dragoman": mine, **peers})
    if arguments.llm_c:
        done = subprocess.run(["./train_gpt2"], cwd=arguments.llm_c, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        print(done.stdout[-1500:])
    return rows


def bandwidth():
    """Bytes a second that a copy reads and writes, by one core and by all."""
    code = (
        "import numpy as np, time\n"
        "a = np.ones(1 << 27, dtype=np.float32)\n"
        "best = min((lambda t: (a.sum(), time.perf_counter() - t)[1])(time.perf_counter()) for _ in range(5))\n"
        "print(a.nbytes / best)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else float("nan")


def generate(arguments, threads):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([arguments.python, "-c", CONVERT, folder], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"compare_language_models.py: converting: {done.stderr.strip()[-2000:]}")
        print(f"{'new tokens a second':<34}{'dragoman':>10}{'CTranslate2':>14}{'ratio':>9}{'GB/s read':>12}")
        for precision, compute_type in (("float32", "float32"), ("int8", "int8")):
            for prompts in (1, 32):
                mine, peer, read = [], [], []
                for _ in range(arguments.rounds):
                    row = last_json(
                        [arguments.program, "benchmark", "--generate", "--json", "--shape", "gpt2-small"]
                        + ["--sentences", str(prompts), "--source-length", "128", "--target-length", "128"]
                        + ["--precision", precision, "--steps", "2", "--warmup", "1"]
                    )
                    seconds = statistics.median(row["run_seconds"])
                    mine.append(row["new_tokens"] / seconds)
                    steps = seconds - statistics.median(row["prompt_seconds"])
                    read.append(127 * row["read_bytes"] / steps * 1e-9)
                    row = last_json([arguments.python, "-c", GENERATE, f"{folder}/ct2", compute_type, str(prompts), "2", str(threads)])
                    peer.append(prompts * 128 / statistics.median(row["run_seconds"]))
                ratio = statistics.median(mine) / statistics.median(peer)
                label = f"{precision}, {prompts} prompts"
                print(f"{label:<34}{statistics.median(mine):>10.1f}{statistics.median(peer):>14.1f}{ratio:>9.2f}{statistics.median(read):>12.2f}")
                rows.append({"row": label, "dragoman": mine, "ctranslate2": peer, "gigabytes_read": read})
    print(f"one core reads {bandwidth() * 1e-9:.1f} GB/s (numpy, sum of 512 MiB)")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["train", "generate"])
    parser.add_argument("--program", default=HERE.parent / "build/dragoman")
    parser.add_argument("--python", default=os.environ.get("DRAGOMAN_BENCHMARK_PYTHON", sys.executable))
    parser.add_argument("--only", choices=list(SHAPES))
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--llm-c", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    rows = (train if arguments.what == "train" else generate)(arguments, threads)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
