#!/usr/bin/env python3
"""Trains and runs the same language models with dragoman and with its peers, in turn on the same cores.

    benchmarks/compare_language_models.py train [--only gpt-mini] [--bf16] [--rounds 3] [--llm-c DIR] [--json FILE]
    benchmarks/compare_language_models.py generate [--rounds 3] [--json FILE]

train: tokens a second of one update (forward, backward, clipping, AdamW) on windows of random tokens. The peer is
PyTorch (benchmarks/torch_gpt.py), eager and compiled; the faster of both counts. --llm-c names a checkout of llm.c in which
`make train_gpt2` was run; then its trainer is timed beside gpt2-small with 4 windows of 64 tokens.

generate: the shape of GPT-2 with 124 million parameters and random weights, prompts of 128 tokens, 128 new ones, greedy;
1 and 32 prompts; float32, bfloat16 and int8. The peers are CTranslate2's Generator, with weights that are converted from a
folder of transformers, and llama.cpp (f16 beside bfloat16, q8_0 beside int8), with a GGUF file that `dragoman export`
writes from the same folder; without the package llama-cpp-python its column is empty. The bandwidth of memory is measured
beside it: a step must read all weights once.

Python packages (torch, transformers, ctranslate2) come from the interpreter that --python or DRAGOMAN_BENCHMARK_PYTHON
names, or from the one that runs this script; llama-cpp-python from that of --llama-python.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import llm_c
import peer_python

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
    columns = "".join(f"{peers[peer]:>16.0f}" if peer in peers else f"{'':>16}" for peer in ("eager", "compiled", "llm.c"))
    print(f"{name:<34}{mine:>10.0f}{columns}{mine / peers[best]:>9.2f}", flush=True)


def training_row(arguments, threads, case, precision):
    """Medians of the rates of dragoman and of its peers, and all rates."""
    shape, windows, length, steps = case
    name = {"f32": "float32", "bf16": "bfloat16"}[precision]
    with_llm_c = arguments.llm_c and precision == "f32" and (shape, windows, length) == ("gpt2-small", llm_c.WINDOWS, llm_c.LENGTH)
    rates = {"dragoman": [], "eager": [], "compiled": []} | ({"llm.c": []} if with_llm_c else {})
    for _ in range(arguments.rounds):
        rates["dragoman"].append(ours(arguments.program, shape, windows, length, steps, name)["tokens_per_second"])
        for peer in ("eager", "compiled"):
            row = theirs(arguments.python, shape, windows, length, steps, precision, threads, peer == "compiled")
            rates[peer].append(row["tokens_per_second"])
        if with_llm_c:
            rates["llm.c"].append(llm_c.tokens_per_second(arguments.llm_c, threads))
    medians = {who: statistics.median(values) for who, values in rates.items()}
    label = f"{shape} {windows} x {length} {name}"
    print_row(label, medians.pop("dragoman"), medians)
    return {"row": label, **rates}


def train(arguments, threads):
    print(f"{'training, tokens a second':<34}{'dragoman':>10}{'torch':>16}{'torch compiled':>16}{'llm.c':>16}{'ratio':>9}")
    rows = []
    for case in TRAININGS:
        if arguments.only and arguments.only != case[0]:
            continue
        rows += [training_row(arguments, threads, case, precision) for precision in (["f32", "bf16"] if arguments.bf16 else ["f32"])]
    return rows


def bandwidth(python, threads):
    """Bytes a second that so many threads read together: numpy's sum of 256 MiB each, the best of five."""
    def run(code):
        done = subprocess.run([python, "-c", code], capture_output=True, text=True)
        return float(done.stdout) if done.returncode == 0 else float("nan")

    return run(
        "import numpy as np, time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        f"parts = [np.ones(1 << 26, dtype=np.float32) for _ in range({threads})]\n"
        f"pool = ThreadPoolExecutor({threads})\n"
        "best = min((lambda t: (list(pool.map(np.sum, parts)), time.perf_counter() - t)[1])(time.perf_counter()) for _ in range(5))\n"
        "print(sum(part.nbytes for part in parts) / best)\n"
    )


def convert(arguments, folder):
    """Makes a GPT-2 of random weights as CTranslate2 and, if it is there, llama.cpp read it. Whether llama.cpp is there."""
    done = subprocess.run([arguments.python, "-c", CONVERT, folder], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare_language_models.py: converting: {done.stderr.strip()[-2000:]}")
    if not peer_python.has_packages(arguments.llama_python, ["llama_cpp", "numpy"]):
        return False
    program = [arguments.program]
    subprocess.run([*program, "import", "--quiet", "--from", "hf-gpt2", f"{folder}/hf", "--model", f"{folder}/model"], check=True)
    for kind in ("f16", "q8_0"):
        subprocess.run([*program, "export", "--quiet", "--to", "gguf", f"{folder}/{kind}.gguf", "--model", f"{folder}/model"]
                       + ["--gguf-type", kind], check=True)
    return True


def generation_row(arguments, threads, folder, case):
    """Rates of new tokens of dragoman and its peers, and the bytes a second that dragoman's steps read."""
    precision, compute_type, gguf, prompts = case
    rates = {"dragoman": [], "gigabytes_read": []}
    for _ in range(arguments.rounds):
        row = last_json(
            [arguments.program, "benchmark", "--generate", "--json", "--shape", "gpt2-small"]
            + ["--sentences", str(prompts), "--source-length", "128", "--target-length", "128"]
            + ["--precision", precision, "--steps", "2", "--warmup", "1"]
        )
        seconds = statistics.median(row["run_seconds"])
        rates["dragoman"].append(row["new_tokens"] / seconds)
        steps = seconds - statistics.median(row["prompt_seconds"])
        rates["gigabytes_read"].append(127 * row["read_bytes"] / steps * 1e-9)
        if compute_type:
            row = last_json([arguments.python, "-c", GENERATE, f"{folder}/ct2", compute_type, str(prompts), "2", str(threads)])
            rates.setdefault("CTranslate2", []).append(prompts * 128 / statistics.median(row["run_seconds"]))
        if gguf:
            job = {"file": f"{folder}/{gguf}.gguf", "prompts": prompts, "prompt_length": 128, "new": 128, "runs": 2, "threads": threads}
            row = last_json([arguments.llama_python, HERE / "llama_cpp_decoding.py", json.dumps(job)])
            rates.setdefault("llama.cpp", []).append(prompts * 128 / statistics.median(row["run_seconds"]))
    return rates


def generate(arguments, threads):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        with_llama = convert(arguments, folder)
        print(f"{'new tokens a second':<26}{'dragoman':>10}{'CTranslate2':>14}{'llama.cpp':>14}{'ratio':>9}{'GB/s read':>12}")
        for precision, compute_type, gguf in (("float32", "float32", None), ("bfloat16", None, "f16"), ("int8", "int8", "q8_0")):
            for prompts in (1, 32):
                case = (precision, compute_type, gguf if with_llama else None, prompts)
                rates = generation_row(arguments, threads, folder, case)
                medians = {who: statistics.median(values) for who, values in rates.items()}
                peers = {who: medians[who] for who in ("CTranslate2", "llama.cpp") if who in medians}
                columns = "".join(f"{peers[who]:>14.1f}" if who in peers else f"{'':>14}" for who in ("CTranslate2", "llama.cpp"))
                ratio = f"{medians['dragoman'] / max(peers.values()):>9.2f}" if peers else f"{'':>9}"
                label = f"{precision}, {prompts} prompts"
                print(f"{label:<26}{medians['dragoman']:>10.1f}{columns}{ratio}{medians['gigabytes_read']:>12.2f}", flush=True)
                rows.append({"row": label, **rates})
    print("numpy reads " + ", ".join(f"{bandwidth(arguments.python, n) * 1e-9:.1f} GB/s with {n}" for n in sorted({1, threads})) + " threads")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["train", "generate"])
    parser.add_argument("--program", default=HERE.parent / "build/dragoman")
    parser.add_argument("--python", default=os.environ.get("DRAGOMAN_BENCHMARK_PYTHON", sys.executable))
    parser.add_argument("--llama-python", default=sys.executable)
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
